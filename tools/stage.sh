#!/bin/sh
# Lays out what cargo has built as an installation:  tools/stage.sh [RELEASE_DIR [BUILD_DIR]]
#
#   BUILD_DIR/bin       mpiexec, mpirun -> mpiexec, heddle (if it was built), mpicc, mpicxx, mpic++
#   BUILD_DIR/lib       libmpi_abi.so.1, libmpi_abi.so -> libmpi_abi.so.1, pkgconfig/heddle.pc,
#                       and the same as mpi.pc, mpi-c.pc, mpi-cxx.pc, for those who ask for any MPI library
#                       libheddle_sync.so.0, libheddle_sync.so -> libheddle_sync.so.0, libheddle_sync.a,
#                       pkgconfig/heddle_sync.pc (if they were built), and the same of heddle_rma_locks
#   BUILD_DIR/lib/compat  libmpi.so.12 and (if it was built) libmpifort.so.12, for programs that were compiled for MPICH, Intel MPI and
#                       their like, and as libmpich.so.12 and libmpichfort.so.12, Debian's names; libmpicxx.so.12, which is empty;
#                       libmpi.so.40 and (if it was built) libmpi_mpifh.so.40, for those compiled for Open MPI;
#                       libmpi_usempi_ignore_tkr.so.40 and libmpi_usempif08.so.40, which have all they need in libmpi_mpifh.so.40
#   BUILD_DIR/include   mpi.h, heddle_sync.h, heddle_rma_locks.h
#   BUILD_DIR/lib/heddle  libheddle_lab_plugin.so, the plugin of `heddle lab`
#   BUILD_DIR/share     heddle/thread-sanitizer.supp; manual pages and completions for shells (if heddle was built)
#
# For Fortran, if it was built: mpifort, mpif77, mpif90; libheddle_fortran.so.0; mpif.h; lib/heddle-fortran with the sources of the
# modules, and the modules for gfortran if it is there (mpifort makes those for other compilers).
#
# RELEASE_DIR is cargo's folder (target/release) and must hold mpiexec, libmpi_abi.so and generate. Unchanged files are
# not touched, so that nothing is rebuilt because of them.
set -eu

root=$(dirname "$(dirname "$(readlink -f "$0")")")
release=${1:-$root/target/release}
build=${2:-$root/build}

for file in mpiexec libmpi_abi.so generate; do
    if [ ! -f "$release/$file" ]; then
        echo "stage.sh: $release/$file is missing: run 'cargo build --release' first" >&2
        exit 1
    fi
done
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
if [ -z "$version" ]; then
    echo "stage.sh: no version in $root/Cargo.toml" >&2
    exit 1
fi

# put MODE SOURCE TARGET. A new file takes the place of the old one, which running programs may have mapped.
put() {
    if ! cmp -s "$2" "$3"; then
        install -m "$1" "$2" "$3.new"
        mv -f "$3.new" "$3"
    fi
}

mkdir -p "$build/bin" "$build/lib/pkgconfig" "$build/include" "$build/share/heddle"
put 755 "$release/mpiexec" "$build/bin/mpiexec"
ln -sfn mpiexec "$build/bin/mpirun"
if [ -f "$release/heddle" ]; then
    put 755 "$release/heddle" "$build/bin/heddle"
    "$release/heddle" pages "$build/share"
fi
if [ -f "$release/libheddle_lab_plugin.so" ]; then
    mkdir -p "$build/lib/heddle"
    put 755 "$release/libheddle_lab_plugin.so" "$build/lib/heddle/libheddle_lab_plugin.so"
fi
for name in mpicc mpicxx mpic++; do
    put 755 "$root/tools/mpicc" "$build/bin/$name"
done
put 755 "$release/libmpi_abi.so" "$build/lib/libmpi_abi.so.1"
ln -sfn libmpi_abi.so.1 "$build/lib/libmpi_abi.so"
"$release/generate" header "$build/include/mpi.h"
# compat SONAME [ABI [LIBRARY]]: a library whose functions are jumps to Heddle's for programs of another ABI. Without an ABI, or if
# that is empty, it has no functions, and those of LIBRARY if one is named. It finds Heddle's beside its folder, and no linker finds
# it by accident.
compat() {
    made=$build/lib/compat/$1.made
    if [ -n "${2:-}" ]; then "$release/generate" "$2" "$made.s"; else echo '.section .note.GNU-stack,"",%progbits' >"$made.s"; fi
    cc -shared -nostdlib -Wl,-soname,"$1" -Wl,-rpath,"\$ORIGIN/..${3:+:\$ORIGIN}" -Wl,--no-as-needed -o "$made" "$made.s" \
        "${3:-$build/lib/libmpi_abi.so.1}" -Wl,--allow-shlib-undefined
    put 755 "$made" "$build/lib/compat/$1"
    rm -f "$made" "$made.s"
}
mkdir -p "$build/lib/compat"
compat libmpi.so.12 mpich
compat libmpi.so.40 openmpi
ln -sfn libmpi.so.12 "$build/lib/compat/libmpich.so.12"
# What mpicxx links beside libmpi. Programs without the old bindings of C++ use no function of it.
compat libmpicxx.so.12
ln -sfn libmpicxx.so.12 "$build/lib/compat/libmpichcxx.so.12"
if [ -f "$release/libheddle_fortran_mpich.so" ]; then
    put 755 "$release/libheddle_fortran_mpich.so" "$build/lib/compat/libmpifort.so.12"
    ln -sfn libmpifort.so.12 "$build/lib/compat/libmpichfort.so.12"
fi
if [ -f "$release/libheddle_fortran_openmpi.so" ]; then
    put 755 "$release/libheddle_fortran_openmpi.so" "$build/lib/compat/libmpi_mpifh.so.40"
    # Open MPI has the procedures of its modules in libraries of their own.
    for name in libmpi_usempi_ignore_tkr libmpi_usempif08; do
        compat "$name.so.40" "" "$build/lib/compat/libmpi_mpifh.so.40"
    done
fi
put 644 "$root/tools/thread-sanitizer.supp" "$build/share/heddle/thread-sanitizer.supp"
# configure NAME [OTHER..]: the pkg-config file, and the same by other names
configure() {
    source=$1
    for name; do
        sed "s/@VERSION@/$version/; s/^Name: .*/Name: $name/" "$root/tools/$source.pc.in" >"$build/lib/pkgconfig/$name.pc.made"
        put 644 "$build/lib/pkgconfig/$name.pc.made" "$build/lib/pkgconfig/$name.pc"
        rm -f "$build/lib/pkgconfig/$name.pc.made"
    done
}
configure heddle mpi mpi-c mpi-cxx
# interface NAME CRATE: a library for C, shared and static, with its header
interface() {
    built=$release/lib$1_c
    if [ -f "$built.so" ] && [ -f "$built.a" ]; then
        put 755 "$built.so" "$build/lib/lib$1.so.0"
        ln -sfn "lib$1.so.0" "$build/lib/lib$1.so"
        put 644 "$built.a" "$build/lib/lib$1.a"
        put 644 "$root/crates/$2/include/$1.h" "$build/include/$1.h"
        configure "$1"
    fi
}
interface heddle_sync sync-c
interface heddle_rma_locks rma-locks-c

if [ -f "$release/libheddle_fortran.so" ]; then
    for name in mpifort mpif77 mpif90; do
        put 755 "$root/tools/mpicc" "$build/bin/$name"
    done
    put 755 "$release/libheddle_fortran.so" "$build/lib/libheddle_fortran.so.0"
    # The second name is the one of the standard, for linkers (docs/fortran.md).
    ln -sfn libheddle_fortran.so.0 "$build/lib/libheddle_fortran.so"
    ln -sfn libheddle_fortran.so.0 "$build/lib/libmpifort_abi.so"
    configure heddle_fortran mpi-fort
    "$release/generate" mpif "$build/include/mpif.h"
    mkdir -p "$build/lib/heddle-fortran"
    for module in mpi mpi_f08; do
        "$release/generate" "$module" "$build/lib/heddle-fortran/$module.f90"
    done
    for source in mpi_plain probe probe_f08; do
        put 644 "$root/crates/fortran/modules/$source.f90" "$build/lib/heddle-fortran/$source.f90"
    done
    put 755 "$root/tools/fortran-modules" "$build/lib/heddle-fortran/fortran-modules"
    if command -v gfortran >/dev/null 2>&1; then
        "$build/lib/heddle-fortran/fortran-modules" gfortran >/dev/null
    fi
fi
