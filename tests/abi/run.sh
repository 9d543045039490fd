#!/usr/bin/env bash
# Does Heddle have the standard's ABI? Compared with another implementation of it, MPICH 5.0.2 from PyPI.
#
#   tests/abi/run.sh BUILD [STEP..]
#
# BUILD holds include/mpi.h, lib/libmpi_abi.so.1 and bin/mpiexec. The steps, all of them unless some are named:
#   symbols   every function of names.txt is exported, and its PMPI_ form, and nothing else
#   headers   constants, sizes, offsets and prototypes of mpi.h equal those of MPICH's header
#   preload   a preloaded tool that overrides MPI_Send reaches PMPI_Send
#   exchange  a program compiled with either header runs on either library
# MPICH is expected in the folder HEDDLE_PEER_MPICH, or else installed into .peers/mpich.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
[ $# -ge 1 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2; }
build=$(cd "$1" && pwd)
shift
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(symbols headers preload exchange)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}

fail() { printf 'abi %s: FAILED: %s\n' "$step" "$*" >&2; exit 1; }
need() { [ -e "$1" ] || fail "$1 does not exist; build Heddle first (make)"; }

peer() {
    local folder=${HEDDLE_PEER_MPICH:-$top/.peers/mpich}
    if [ ! -e "$folder/include/mpi_abi.h" ]; then
        [ -z "${HEDDLE_PEER_MPICH:-}" ] || fail "HEDDLE_PEER_MPICH=$folder has no include/mpi_abi.h"
        { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet mpich==5.0.2; } >&2 \
            || fail "mpich==5.0.2 could not be installed from PyPI into $folder"
    fi
    printf '%s\n' "$folder"
}

# compile SOURCE INCLUDE LIBRARY OUTPUT FLAG..: a program, or with -shared a library, that finds LIBRARY at run time only
compile() {
    local source=$1 include=$2 library=$3 output=$4
    shift 4
    "$cc" -std=c11 -O1 -Wall -Wextra -Werror -I"$include" "$source" -o "$output" "$@" "$library"
}

# run_on LIBRARY_FOLDER MPIEXEC ARG..: with a bound, so that a hang is a failure
run_on() {
    local folder=$1
    shift
    LD_LIBRARY_PATH=$folder timeout 60 "$@"
}

step_symbols() {
    need "$build/lib/libmpi_abi.so.1"
    nm -D --defined-only "$build/lib/libmpi_abi.so.1" | awk '{print $3}' | sort >"$work/exported"
    sed 'p; s/^/P/' "$here/names.txt" | sort >"$work/wanted"
    [ -z "$(comm -13 "$work/exported" "$work/wanted")" ] \
        || fail "not exported: $(comm -13 "$work/exported" "$work/wanted" | tr '\n' ' ')"
    [ -z "$(comm -23 "$work/exported" "$work/wanted" | grep -v '^HEDDLE_')" ] \
        || fail "exported but not in the ABI: $(comm -23 "$work/exported" "$work/wanted" | tr '\n' ' ')"
    readelf -d "$build/lib/libmpi_abi.so.1" | grep -q 'SONAME.*\[libmpi_abi\.so\.1\]' \
        || fail "the soname is not libmpi_abi.so.1"
    echo "abi symbols: $(wc -l <"$work/wanted") names exported"
}

step_headers() {
    need "$build/include/mpi.h"
    local mpich
    mpich=$(peer)
    CC=$cc python3 "$here/compare_headers.py" "$build/include/mpi.h" "$mpich/include/mpi_abi.h" "$work" \
        || fail "mpi.h differs from MPICH's"
    for dialect in "$cc -std=c99 -xc" "${CXX:-c++} -std=c++11 -xc++"; do
        $dialect -pedantic -Wall -Wextra -Werror -fsyntax-only "$build/include/mpi.h" \
            || fail "mpi.h does not compile with $dialect"
    done
}

step_preload() {
    need "$build/bin/mpiexec"
    compile "$here/exchange.c" "$build/include" "$build/lib/libmpi_abi.so.1" "$work/exchange"
    compile "$here/count_sends.c" "$build/include" "$build/lib/libmpi_abi.so.1" "$work/count_sends.so" -shared -fPIC
    run_on "$build/lib" "$build/bin/mpiexec" -n 2 env LD_PRELOAD="$work/count_sends.so" "$work/exchange" \
        >"$work/output" || fail "the program failed: $(cat "$work/output")"
    [ "$(grep -c '^count_sends: 10 sends' "$work/output")" = 2 ] \
        || fail "the tool did not see the 10 sends of each of 2 processes: $(cat "$work/output")"
    echo "abi preload: the tool saw every send"
}

step_exchange() {
    need "$build/bin/mpiexec"
    local mpich header
    mpich=$(peer)
    mkdir -p "$work/with-peer" "$work/with-ours"
    printf '#include <mpi_abi.h>\n' >"$work/with-peer/mpi.h"
    "$cc" -std=c11 -Wall -Wextra -Werror -I"$work/with-peer" -I"$mpich/include" "$here/exchange.c" \
        -o "$work/with-peer/exchange" "$mpich/lib/libmpi_abi.so.1"
    compile "$here/exchange.c" "$build/include" "$build/lib/libmpi_abi.so.1" "$work/with-ours/exchange"
    for header in peer ours; do
        run_on "$build/lib" "$build/bin/mpiexec" -n 2 "$work/with-$header/exchange" >"$work/output" \
            && grep -q '^exchange: good' "$work/output" \
            || fail "compiled with the header of $header, the program fails on Heddle: $(cat "$work/output")"
        run_on "$mpich/lib" "$mpich/bin/mpiexec" -n 2 "$work/with-$header/exchange" >"$work/output" \
            && grep -q '^exchange: good' "$work/output" \
            || fail "compiled with the header of $header, the program fails on MPICH: $(cat "$work/output")"
    done
    echo "abi exchange: either header with either library"
}

for step in "${steps[@]}"; do
    declare -F "step_$step" >/dev/null || { echo "run.sh: no step is called $step" >&2; exit 2; }
    "step_$step"
done
