#!/usr/bin/env bash
# Everything that must pass, lane by lane. Each lane's output goes to build/test/LANE.log; what failed is shown.
#   ci/test.sh [LANE..]      only these lanes
# The last line is "N passed, M failed, K skipped", counting lanes.
set -uo pipefail
cd "$(dirname "$0")/.."
top=$PWD
build=$top/build
logs=$build/test
mpicc=$build/bin/mpicc
mpiexec=$build/bin/mpiexec
models=per-vni-mutex,global-mutex
mkdir -p "$logs"
wanted=("$@")
passed=0 failed=0 skipped=0

# lane NAME WHAT COMMAND..   runs a command as a lane; status 77 means that the machine lacks what it needs
lane() {
    local name=$1 what=$2 log=$logs/$1.log started=$SECONDS status
    shift 2
    if [ ${#wanted[@]} -gt 0 ] && [[ ! " ${wanted[*]} " == *" $name "* ]]; then
        return
    fi
    printf '%-12s %s ... ' "$name" "$what"
    "$@" >"$log" 2>&1 </dev/null
    status=$?
    local took=$((SECONDS - started))
    case $status in
    0) passed=$((passed + 1)); echo "ok (${took} s) $(summary "$log")" ;;
    77) skipped=$((skipped + 1)); echo "SKIPPED: $(tail -n 1 "$log")" ;;
    *)
        failed=$((failed + 1))
        echo "FAILED with status $status (${took} s), the end of ${log#"$top"/}:"
        grep -E '^FAIL|panicked|error(\[|:)' "$log" | head -n 20 | sed 's/^/    | /'
        tail -n 40 "$log" | sed 's/^/    | /'
        ;;
    esac
}

# What a lane's own log says of how much it ran.
summary() {
    awk '/^test result: ok/ { tests += $4 }
         /^[0-9]+ passed/ { parts++; total += $1 }
         /^[0-9]+ (passed|runs)/ || / run, [0-9]+ passed/ { line = $0 }
         END { if (tests) line = tests " tests"
               else if (parts > 1) line = total " passed, 0 failed"
               if (line != "") print "- " line }' "$1"
}

rust_tests() { cargo test --workspace --quiet; }
build_all() { cargo build --release --workspace && tools/stage.sh target/release "$build"; }
c_tests() { python3 tests/c/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --models "$models" --build-dir "$build/tests/c"; }
# The other models: every program once, with the most ranks and threads. And the order of messages where threads hand
# operations over one by one.
other_models() {
    others=$("$build/bin/heddle" models --names | tail -n +3 | paste -sd ,)
    python3 tests/c/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --models "$others" --cover one --build-dir "$build/tests/c" \
        && HEDDLE_COMBINING_LIMIT=1 HEDDLE_POST_TRIES=0 python3 tests/c/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" \
            --models csync,lockq-mcs,lockq-mtx,lock-free --cover one --build-dir "$build/tests/c" -k order
}
# What keeps objects alive: every lifetime, with either pool and either way of counting.
lifetimes() {
    local lifetime pool counts
    for lifetime in naive suppress collect none; do
        for pool in shared thread-local; do
            counts=$([ "$pool" = shared ] && echo locked || echo atomic)
            echo "HEDDLE_LIFETIME=$lifetime HEDDLE_REQUEST_POOL=$pool HEDDLE_REFERENCE_COUNTS=$counts"
            HEDDLE_LIFETIME=$lifetime HEDDLE_REQUEST_POOL=$pool HEDDLE_REFERENCE_COUNTS=$counts \
                python3 tests/c/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --models "$models" --cover one \
                --build-dir "$build/tests/c" -k "$([ "$lifetime" = none ] || echo 'lifetime_flat|no_leaks|')lifetime_early|free|persistent|type_messages" \
                || return
        done
    done
}
random_programs() {
    "$build/bin/heddle" models --pairwise >"$build/test/combinations" || return
    runs=$(wc -l <"$build/test/combinations")
    python3 tests/random/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --models "$models" --runs 20 \
        && python3 tests/random/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" \
            --combinations "$build/test/combinations" --runs "$runs" --ops 150
}
collectives() {
    local model seed=0 operations=500
    for model in $("$build/bin/heddle" models --names); do
        echo "HEDDLE_MODEL=$model"
        seed=$((seed + 1))
        HEDDLE_MODEL=$model OPERATIONS=$operations tests/collective/run.sh "$mpiexec" "$mpicc" "$seed" || return
        [ "$model" != global-mutex ] || operations=100
    done
}
graph500() {
    local model
    make -C examples/graph500 CC="$mpicc" BUILD="$build/examples" || return
    for model in $("$build/bin/heddle" models --names); do
        echo "HEDDLE_MODEL=$model"
        HEDDLE_MODEL=$model examples/graph500/test.sh "$mpiexec" "$build/examples/graph500" || return
    done
}
mpi4py() { tests/mpi4py/run.sh "$build" "$build/mpi4py"; }
instructions() { tests/instructions/run.py --mpicc "$mpicc" --mpiexec "$mpiexec"; }
# Its tests of communication under the other models, with threads (mpi4py asks for MPI_THREAD_MULTIPLE).
mpi4py_models() {
    others=$("$build/bin/heddle" models --names | tail -n +2 | paste -sd ,)
    tests/mpi4py/run.sh "$build" "$build/mpi4py" --ranks 2 --models "$others" \
        -k '^test_(attributes|cco_|comm$|errhandler|op|p2p_|pack|request|threads|util_pkl5)'
}
loom() { ci/loom.sh short; }

lane lint       "formatting, clippy, documentation"               ci/lint.sh
lane rust       "unit, property and stress tests of the crates"   rust_tests
lane loom       "model checking, short form"                      loom
lane build      "the library and the tools, release form"         build_all
lane abi        "the standard ABI against another library's"      tests/abi/run.sh "$build"
lane instructions "instructions of the hottest calls"             instructions
lane tools      "mpicc, pkg-config, install, relocation"          tests/launcher/tools.sh
lane sync_c     "heddle_sync from C, shared and static"           tests/sync_c/run.sh "$build"
lane c          "C programs: ranks x models x thread levels"      c_tests
lane models     "C programs under every other model"              other_models
lane lifetime   "early frees, and memory that stays flat"         lifetimes
lane collective "collectives against a naive oracle"              collectives
lane random     "random programs with checked payloads"           random_programs
lane stress     "threads: everything at once"                     ci/stress.sh "$build"
lane graph500   "the main job, right and wrong inputs"            graph500
lane sanitize   "ThreadSanitizer and AddressSanitizer"            ci/sanitize.sh
lane mpi4py     "mpi4py's own test suite, 1, 2 and 4 ranks"       mpi4py
lane py_models  "its tests of communication, every other model"   mpi4py_models

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
