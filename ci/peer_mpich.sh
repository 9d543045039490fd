#!/bin/sh
# Prints the folder of MPICH 5.0.2: HEDDLE_PEER_MPICH, or else .peers/mpich, where PyPI's package is installed if need be.
set -eu
folder=${HEDDLE_PEER_MPICH:-$(dirname "$(dirname "$(readlink -f "$0")")")/.peers/mpich}
if [ ! -e "$folder/include/mpi_abi.h" ]; then
    if [ -n "${HEDDLE_PEER_MPICH:-}" ]; then
        echo "HEDDLE_PEER_MPICH=$folder has no include/mpi_abi.h" >&2
        exit 1
    fi
    { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet mpich==5.0.2; } >&2 || {
        echo "mpich==5.0.2 could not be installed from PyPI into $folder" >&2
        exit 1
    }
fi
printf '%s\n' "$folder"
