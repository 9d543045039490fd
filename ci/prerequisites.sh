#!/bin/sh
# Installs what the build and the tests need and the machine lacks (Debian or Ubuntu, as root or with sudo).
set -eu
# Where daemons are; not every user's PATH has it.
PATH=$PATH:/usr/sbin

missing="" optional=""
need() { # need COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
like() { # like COMMAND PACKAGE: a lane that needs root is skipped without it
    [ "$(id -u)" -ne 0 ] || command -v "$1" >/dev/null 2>&1 || optional="$optional $2"
}
need cc gcc
need c++ g++
need make make
need valgrind valgrind
need python3 python3
need pkg-config pkg-config
need nm binutils
need spin spin
need gfortran gfortran
python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || missing="$missing python3-venv"
# The machine's topology: hwloc, loaded at run time.
ldconfig -p 2>/dev/null | grep -q 'libhwloc\.so\.15' || missing="$missing libhwloc-dev"
# The network between machines: libfabric, loaded at run time; a test compares its headers.
[ -e /usr/include/rdma/fabric.h ] || missing="$missing libfabric-dev"
# Launchers that speak PMIx: its library, loaded at run time; a test compares its headers.
pkg-config --exists pmix 2>/dev/null || missing="$missing libpmix-dev"
# Machines are played by network namespaces.
need ip iproute2
# The lab runs programs on a simulated machine.
command -v qemu-x86_64 >/dev/null 2>&1 || optional="$optional qemu-user"
# The lane slurm starts a Slurm of its own.
like slurmctld slurmctld
like slurmd slurmd
like srun slurm-client
like munged munge
# rsmpi reads mpi.h with bindgen.
ldconfig -p | grep -q 'libclang\(-[0-9]*\)\?\.so' || missing="$missing libclang-dev"
# mpi4py is compiled against Python.h.
python3 - <<'PY' >/dev/null 2>&1 || missing="$missing python3-dev"
import os, sysconfig, sys
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
PY

if [ -n "$missing$optional" ] && command -v apt-get >/dev/null 2>&1; then
    sudo=""
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    echo "installing$missing$optional"
    $sudo apt-get update -q || [ -z "$missing" ]
    apt_install() { # apt_install PACKAGE..
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -q -y --no-install-recommends "$@"
    }
    # shellcheck disable=SC2086  # lists of packages
    [ -z "$missing" ] || apt_install $missing
    # shellcheck disable=SC2086
    [ -z "$optional" ] || apt_install $optional || echo "going on without$optional"
elif [ -n "$missing" ]; then
    echo "Heddle needs these packages, please install them:$missing" >&2
    exit 1
fi
command -v cargo >/dev/null 2>&1 || {
    echo "Heddle is written in Rust: install the toolchain first (https://rustup.rs, version 1.95 or newer)" >&2
    exit 1
}
