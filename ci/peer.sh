#!/bin/sh
# Prints the folder of another library of the standard ABI:  ci/peer.sh mpich|impi
#
# This is HEDDLE_PEER_MPICH or HEDDLE_PEER_IMPI, or else .peers/mpich or .peers/impi, where PyPI's packages are installed if need be.
set -eu
case ${1:-} in
mpich) variable=HEDDLE_PEER_MPICH given=${HEDDLE_PEER_MPICH:-} packages=mpich==5.0.2 ;;
# Their dependencies are compilers' run-time libraries, which our programs do not need.
impi) variable=HEDDLE_PEER_IMPI given=${HEDDLE_PEER_IMPI:-} packages="--no-deps impi-rt==2021.19.0 impi-devel==2021.19.0" ;;
*)
    echo "usage: $0 mpich|impi" >&2
    exit 2
    ;;
esac
folder=${given:-$(dirname "$(dirname "$(readlink -f "$0")")")/.peers/$1}
if [ ! -e "$folder/include/mpi_abi.h" ]; then
    if [ -n "$given" ]; then
        echo "$variable=$folder has no include/mpi_abi.h" >&2
        exit 1
    fi
    # shellcheck disable=SC2086  # a list
    { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet $packages; } >&2 || {
        echo "$packages could not be installed from PyPI into $folder" >&2
        exit 1
    }
fi
printf '%s\n' "$folder"
