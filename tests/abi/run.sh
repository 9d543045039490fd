#!/usr/bin/env bash
# Does Heddle have the standard's ABI? Compared with another implementation of it, MPICH 5.0.2 from PyPI.
#
#   tests/abi/run.sh BUILD [STEP..]
#
# BUILD holds include/mpi.h, lib/libmpi_abi.so.1 and bin/mpiexec. The steps, all of them unless some are named:
#   symbols   every function of names.txt is exported, and its PMPI_ form, and nothing else
#   headers   constants, sizes, offsets and prototypes of mpi.h equal those of MPICH's header; it compiles as C and C++; removed names are
#             errors that name the successor
#   preload   a preloaded tool that overrides MPI_Send reaches PMPI_Send
#   exchange  a program compiled with either header runs on either library
#   mpich     libmpi.so.12 has the names of MPICH's, and mpich.table the values of its header; programs that MPICH's mpicc compiles
#             run on Heddle: tests/c, eight of them, drawn by HEDDLE_TEST_SEED, or all (docs/binaries.md)
#   openmpi   the same with libmpi.so.40 and Open MPI
# MPICH and Open MPI are where ci/peer.sh finds or installs them.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
[ $# -ge 1 ] || { sed -n '2,16s/^# \{0,1\}//p' "$0"; exit 2; }
build=$(cd "$1" && pwd)
shift
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(symbols headers preload exchange mpich openmpi)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}

fail() { printf 'abi %s: FAILED: %s\n' "$step" "$*" >&2; exit 1; }
need() { [ -e "$1" ] || fail "$1 does not exist; build Heddle first (make)"; }

peer() {
    "$top/ci/peer.sh" "${1:-mpich}" || fail "${1:-mpich} is missing"
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
    comm -23 "$work/exported" "$work/wanted" | grep -v '^HEDDLE_\|^heddle_mpich_\|^heddle_openmpi_' >"$work/beyond" || true
    [ ! -s "$work/beyond" ] || fail "exported but not in the ABI: $(tr '\n' ' ' <"$work/beyond")"
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
    local dialect dialects=("$cc -std=c90 -xc" "$cc -std=c99 -xc" "$cc -std=c17 -xc" "${CXX:-c++} -std=c++11 -xc++" "${CXX:-c++} -std=c++17 -xc++")
    if command -v clang++ >/dev/null; then dialects+=("clang -std=c90 -xc" "clang -std=c11 -xc" "clang++ -std=c++11 -xc++"); fi
    for dialect in "${dialects[@]}"; do
        echo '#include <mpi.h>' | $dialect -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$build/include" - \
            || fail "mpi.h does not compile with $dialect"
        removed "$dialect"
    done
}

# removed DIALECT: names that MPI 3.0 removed do not compile, and the compiler names the successor; a program may bring its own
removed() {
    local use successor
    while read -r successor use; do
        printf '#include <mpi.h>\nvoid f(MPI_Datatype t, MPI_Aint a, void *p);\nvoid f(MPI_Datatype t, MPI_Aint a, void *p) { %s; }\n' "$use" >"$work/removed"
        if $1 -O1 -c -I"$build/include" -o "$work/removed.o" - <"$work/removed" 2>"$work/output"; then
            fail "$use compiles with $1"
        fi
        grep -q "$successor" "$work/output" || fail "$1 does not name $successor for '$use': $(cat "$work/output")"
    done <<'END'
MPI_Get_address MPI_Address(p, &a)
MPI_Type_create_struct (void)a, (void)p, MPI_Type_struct(0, 0, 0, &t, &t)
MPI_Comm_set_errhandler (void)a, (void)p, (void)t, MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
MPI_Type_get_extent (void)p, MPI_Type_extent(t, &a)
END
    printf '#define MPI_Address MPI_Get_address\n#include <mpi.h>\n#define MPI_UB MPI_DATATYPE_NULL\nint f(void *p, MPI_Aint *a);\nint f(void *p, MPI_Aint *a) { return MPI_Address(p, a) + (MPI_UB != MPI_DATATYPE_NULL); }\n' \
        | $1 -O1 -c -Wall -Wextra -Werror -I"$build/include" -o "$work/removed.o" - || fail "a program's own MPI_Address does not compile with $1"
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

step_mpich() {
    local mpich
    mpich=$(peer)
    foreign mpich libmpi.so.12 "$mpich"
    "$mpich/bin/mpicc" "$here/bounds_marked.c" -o "$work/bounds_marked"
    "$build/bin/mpiexec" -n 2 "$work/bounds_marked" | grep -q '^bounds_marked: good' || fail "MPI_LB and MPI_UB"
}
step_openmpi() { foreign openmpi libmpi.so.40 "$(peer openmpi)"; }

# foreign ABI LIBRARY PEER: programs of another library's ABI
foreign() {
    local abi=$1 library=$2 peer=$3 few=()
    need "$build/lib/compat/$library"
    python3 "$here/compare_foreign.py" "$abi" "$top/crates/spec/$abi.table" "$peer" "$build/lib/compat" "$work" || fail "its ABI is another"
    # Else the programs below may have found the other library, of which each is a world of one process.
    "$peer/bin/mpicc" "$here/version.c" -o "$work/version"
    [ "$("$build/bin/mpiexec" -n 2 "$work/version" | grep -c "^Heddle.*$library")" = 2 ] || fail "mpiexec does not lead programs to $library"
    compile "$here/version.c" "$peer/include" "$peer/lib/$library" "$work/version" -Wl,--disable-new-dtags -Wl,-rpath,"$peer/lib"
    "$build/bin/mpiexec" -n 1 "$work/version" 2>&1 | grep -q "RPATH leads to $peer/lib.*--compat $abi" || fail "mpiexec does not tell of an RPATH"
    "$build/bin/mpiexec" --compat "$abi" -n 1 "$work/version" | grep -q "^Heddle.*$library" || fail "mpiexec --compat $abi does not preload $library"
    [ "${HEDDLE_TEST_SEED:-}" = all ] || few=(--few 8)
    python3 "$top/tests/c/run.py" --mpicc "$peer/bin/mpicc" --mpiexec "$build/bin/mpiexec" --build-dir "$build/tests/c-$abi" \
        --abi "$abi" --cover one --models auto "${few[@]}" || fail "programs that its mpicc has compiled"
}

for step in "${steps[@]}"; do
    declare -F "step_$step" >/dev/null || { echo "run.sh: no step is called $step" >&2; exit 2; }
    "step_$step"
done
