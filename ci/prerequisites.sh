#!/bin/sh
# Installs what the build and the tests need and the machine lacks (Debian or Ubuntu, as root or with sudo).
set -eu

missing=""
need() { # need COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need cc gcc
need c++ g++
need make make
need valgrind valgrind
need python3 python3
need pkg-config pkg-config
need nm binutils
need spin spin
python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || missing="$missing python3-venv"
# The machine's topology: hwloc, loaded at run time.
ldconfig -p 2>/dev/null | grep -q 'libhwloc\.so\.15' || missing="$missing libhwloc-dev"
# The network between machines: libfabric, loaded at run time; a test compares its headers.
[ -e /usr/include/rdma/fabric.h ] || missing="$missing libfabric-dev"
# Launchers that speak PMIx: its library, loaded at run time; a test compares its headers.
pkg-config --exists pmix 2>/dev/null || missing="$missing libpmix-dev"
# Machines are played by network namespaces.
need ip iproute2
# rsmpi reads mpi.h with bindgen.
ldconfig -p | grep -q 'libclang\(-[0-9]*\)\?\.so' || missing="$missing libclang-dev"
# mpi4py is compiled against Python.h.
python3 - <<'PY' >/dev/null 2>&1 || missing="$missing python3-dev"
import os, sysconfig, sys
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
PY

if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "Heddle needs these packages, please install them:$missing" >&2
        exit 1
    fi
    sudo=""
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    echo "installing$missing"
    $sudo apt-get update -q
    # shellcheck disable=SC2086  # a list of packages
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -q -y --no-install-recommends $missing
fi
command -v cargo >/dev/null 2>&1 || {
    echo "Heddle is written in Rust: install the toolchain first (https://rustup.rs, version 1.95 or newer)" >&2
    exit 1
}
