#!/bin/bash
# Compiles the programs of this folder with mpicc and pkg-config, and runs them with 1 to 8 ranks:
#   tests/rma_locks_c/run.sh BUILD_DIR
# The static library has one size, the shared one all. Then the same programs run on MPICH, if it is in the folder
# HEDDLE_PEER_MPICH, or else in .peers/mpich (which `heddle bench` and tests/abi/run.sh fill): the library's MPI is the
# program's. Prints one line a program; the last is "N passed, M failed".
set -u

here=$(dirname "$(readlink -f "$0")")
build=$(readlink -f "$1")
mpich=${HEDDLE_PEER_MPICH:-$(dirname "$(dirname "$here")")/.peers/mpich}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PKG_CONFIG_PATH=$build/lib/pkgconfig
export PKG_CONFIG_PATH
passed=0 failed=0

# outcome NAME STATUS
outcome() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAIL    $1 (status $2)"
        sed 's/^/        /' "$work/output"
    fi
}

# compile SOURCE OUTPUT OPTION..
compile() {
    local source=$1 output=$2
    shift 2
    case $source in
    *.cc) set -- "$build/bin/mpicxx" -std=c++11 "$source" "$@" ;;
    *) set -- "$build/bin/mpicc" -std=c11 "$source" "$@" ;;
    esac
    "$@" -o "$output" -Wall -Wextra -Werror -pedantic -pthread -O1 -g >"$work/output" 2>&1
}

# An archive of its own folder, so that -lheddle_rma_locks cannot mean the shared library.
mkdir "$work/archive" "$work/shared" "$work/static"
ln -s "$build/lib/libheddle_rma_locks.a" "$work/archive/libheddle_rma_locks.a"
names=()
for source in "$here"/*.c "$here"/*.cc; do
    name=$(basename "$source")
    # shellcheck disable=SC2046  # options
    compile "$source" "$work/shared/$name" $(pkg-config --cflags --libs heddle_rma_locks) \
        && compile "$source" "$work/static/$name" $(pkg-config --cflags heddle_rma_locks) "-L$work/archive" \
            $(pkg-config --static --libs heddle_rma_locks)
    status=$?
    [ "$status" -eq 0 ] && names+=("$name") || outcome "$name, compiled" "$status"
done
for name in "${names[@]}"; do
    for ranks in 1 2 3 5 8; do
        timeout 300 "$build/bin/mpiexec" -n "$ranks" "$work/shared/$name" >"$work/output" 2>&1
        outcome "$name, shared, $ranks ranks" $?
    done
    timeout 300 "$build/bin/mpiexec" -n 4 "$work/static/$name" >"$work/output" 2>&1
    outcome "$name, static, 4 ranks" $?
done

# The shared library offers no names but its own, and names no MPI library.
nm -D --defined-only "$build/lib/libheddle_rma_locks.so" | awk '{ print $3 }' | grep -v '^heddle_rma_' >"$work/output"
[ ! -s "$work/output" ]
outcome "exported names" $?
readelf -d "$build/lib/libheddle_rma_locks.so" | grep 'NEEDED.*mpi' >"$work/output"
[ ! -s "$work/output" ]
outcome "no MPI library of its own" $?

if [ -e "$mpich/lib/libmpi_abi.so.1" ]; then
    for name in "${names[@]}"; do
        for ranks in 1 2 4; do
            LD_LIBRARY_PATH=$mpich/lib timeout 300 "$mpich/bin/mpiexec" -n "$ranks" "$work/shared/$name" \
                >"$work/output" 2>&1
            outcome "$name on MPICH, $ranks ranks" $?
        done
    done
else
    echo "skipped: the same programs on MPICH, which is not in $mpich"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
