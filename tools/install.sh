#!/bin/sh
# Installs what tools/stage.sh has laid out:  tools/install.sh BUILD_DIR PREFIX
#
# Nothing that is installed knows PREFIX: the folder can be moved afterwards.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: install.sh BUILD_DIR PREFIX" >&2
    exit 2
fi
build=$1
prefix=$2
if [ ! -f "$build/lib/libmpi_abi.so.1" ]; then
    echo "install.sh: $build/lib/libmpi_abi.so.1 is missing: run 'make' first" >&2
    exit 1
fi

# put MODE FILE: a new file takes the place of the old one, which running programs may have mapped.
put() {
    install -m "$1" "$build/$2" "$prefix/$2.new"
    mv -f "$prefix/$2.new" "$prefix/$2"
}

mkdir -p "$prefix/bin" "$prefix/lib/pkgconfig" "$prefix/lib/compat" "$prefix/include" "$prefix/share/heddle"
for program in mpiexec heddle mpicc mpicxx mpic++; do
    if [ -f "$build/bin/$program" ]; then
        put 755 "bin/$program"
    fi
done
put 755 lib/libmpi_abi.so.1
ln -sfn libmpi_abi.so.1 "$prefix/lib/libmpi_abi.so"
for name in mpi mpifort mpicxx; do
    if [ -f "$build/lib/compat/lib$name.so.12" ]; then
        put 755 "lib/compat/lib$name.so.12"
        # Debian's name
        ln -sfn "lib$name.so.12" "$prefix/lib/compat/libmpich${name#mpi}.so.12"
    fi
done
for name in libmpi libmpi_mpifh libmpi_usempi_ignore_tkr libmpi_usempif08; do
    if [ -f "$build/lib/compat/$name.so.40" ]; then
        put 755 "lib/compat/$name.so.40"
    fi
done
ln -sfn mpiexec "$prefix/bin/mpirun"
for name in heddle mpi mpi-c mpi-cxx; do
    put 644 "lib/pkgconfig/$name.pc"
done
put 644 include/mpi.h
put 644 share/heddle/thread-sanitizer.supp
for folder in man/man1 man/man7 bash-completion/completions zsh/site-functions fish/vendor_completions.d; do
    if [ -d "$build/share/$folder" ]; then
        mkdir -p "$prefix/share/$folder"
        for page in "$build/share/$folder"/*; do
            put 644 "share/$folder/$(basename "$page")"
        done
    fi
done
for name in heddle_sync heddle_rma_locks; do
    if [ -f "$build/lib/lib$name.so.0" ]; then
        put 755 "lib/lib$name.so.0"
        ln -sfn "lib$name.so.0" "$prefix/lib/lib$name.so"
        put 644 "lib/lib$name.a"
        put 644 "lib/pkgconfig/$name.pc"
        put 644 "include/$name.h"
    fi
done
if [ -f "$build/lib/libheddle_fortran.so.0" ]; then
    mkdir -p "$prefix/lib/heddle-fortran"
    for program in mpifort mpif77 mpif90; do
        put 755 "bin/$program"
    done
    put 755 lib/libheddle_fortran.so.0
    ln -sfn libheddle_fortran.so.0 "$prefix/lib/libheddle_fortran.so"
    ln -sfn libheddle_fortran.so.0 "$prefix/lib/libmpifort_abi.so"
    put 644 lib/pkgconfig/heddle_fortran.pc
    put 644 lib/pkgconfig/mpi-fort.pc
    put 644 include/mpif.h
    for source in mpi mpi_f08 mpi_plain probe probe_f08; do
        put 644 "lib/heddle-fortran/$source.f90"
    done
    put 755 lib/heddle-fortran/fortran-modules
    if command -v gfortran >/dev/null 2>&1; then
        "$prefix/lib/heddle-fortran/fortran-modules" gfortran >/dev/null
    fi
fi
