#!/usr/bin/env bash
# Everything that must pass, lane by lane (ci/lanes.sh says what each runs).   ci/test.sh [LANE..]   only these lanes
#
# HEDDLE_TEST_LANES lanes (default 2) run beside each other: one compiles or waits while the other computes. A lane whose
# input another lane makes waits for that one. Output goes to build/test/LANE.log; when a lane ends, one line says how it
# went, how long it took and how much processor time. When all have ended, the logs of those that failed are shown, last
# what they say of failures: whoever keeps only the end of the output sees that. A lane that runs longer than
# HEDDLE_TEST_LIMIT seconds (default 2400) is ended with all its processes and has failed. Many lanes run a random sample
# of what they could run (make soak and make verify run everything); HEDDLE_TEST_SEED=N repeats the sample whose seed is
# printed.
# The last line is "N passed, M failed, K skipped", counting lanes.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=build/test
slots=${HEDDLE_TEST_LANES:-2}
limit=${HEDDLE_TEST_LIMIT:-2400}
# A registry that does not answer at once is asked again.
export CARGO_NET_RETRY=${CARGO_NET_RETRY:-10}
# All is built once: without what cargo keeps for the next build of a crate, in one unit of code generation for each, and
# without what only a debugger reads, the tests of the crates take a third less to build. A panic says its file and line
# all the same.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0} CARGO_PROFILE_DEV_CODEGEN_UNITS=${CARGO_PROFILE_DEV_CODEGEN_UNITS:-1}
export CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-false}
export HEDDLE_TEST_SEED=${HEDDLE_TEST_SEED:-$RANDOM}
wanted=("$@")
mkdir -p "$logs"
# In the environment of all that a lane starts: some programs leave their process group.
mark=$$-$(date +%s)
order=()
declare -A what=() after=() pid=()
passed=0 skipped=0 failed=()

# lane NAME AFTER WHAT: AFTER is a lane that has to end before, or -
lane() {
    if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $1 "* ]]; then
        return
    fi
    order+=("$1")
    after[$1]=$2 what[$1]=$3
}

# In this order, as their turn comes: the long ones first. lint and rust share cargo's folder, which takes one at a time.
lane build        -      "the library and the tools, release form"
lane lint         -      "formatting, clippy, documentation"
lane sanitize     build  "ThreadSanitizer and AddressSanitizer"
lane rust         lint   "unit, property and stress tests of the crates"
lane models       build  "C programs under the other models"
lane loom         -      "model checking, short form"
lane mpi4py       build  "mpi4py's own test suite, 1 to 5 ranks"
lane c            build  "C programs: ranks x models x thread levels"
lane py_models    mpi4py "its tests of communication, two other models"
lane rsmpi        build  "examples of rsmpi (the crate mpi), 2 and 4 ranks"
lane settings     build  "settings: each is noticed if it is ignored"
lane mutants      build  "choices that are ignored on purpose are noticed"
lane collective   build  "collectives against a naive oracle"
lane lifetime     build  "early frees, and memory that stays flat"
lane random       build  "random programs with checked payloads, messages and windows"
lane stress       build  "threads: everything at once"
lane graph500     build  "the main job, right and wrong inputs"
lane fuzz         build  "random arguments, settings, info, graph files"
lane abi          build  "the standard ABI against another library's"
lane hydra        abi    "programs that MPICH's launcher starts"
lane prrte        build  "programs that Open MPI's launcher starts"
lane slurm        build  "programs that a Slurm of the test's own starts"
lane machines     abi    "programs on several machines, over libfabric"
lane tools        build  "mpicc, mpifort, pkg-config, install, relocation"
lane sync_c       build  "heddle_sync from C, shared and static"
lane rma_locks_c  build  "heddle_rma_locks from C, on Heddle and MPICH"
lane fortran      abi    "Fortran programs in all three forms, on Heddle, MPICH and Intel MPI"
lane instructions build  "instructions of the hottest calls"
lane lab          build  "the lab's laws, and Heddle's speed with many cores there"
lane papers       build  "the papers' experiments, short form"

for name in ${wanted[@]+"${wanted[@]}"}; do
    if [[ ! -v "after[$name]" ]]; then
        echo "$0: there is no lane $name" >&2
        exit 2
    fi
done

# The summary line of a lane's log.
summary() {
    awk '/^test result: ok/ { tests += $4 }
         /^[0-9]+ passed/ { parts++; total += $1 }
         /^[0-9]+ (passed|runs)/ || / run, [0-9]+ passed/ { line = $0 }
         END { if (tests) line = tests " tests"
               else if (parts > 1) line = total " passed, 0 failed"
               if (line != "") print "- " line }' "$1"
}

# Kills every process of a lane that is still there.
kill_rest() {
    local environment process
    for environment in /proc/[0-9]*/environ; do
        process=${environment#/proc/}
        process=${process%/environ}
        [ "$process" != "$BASHPID" ] || continue
        if grep -qsz "^HEDDLE_CI_LANE=$1-$mark\$" "$environment"; then
            kill -KILL "$process" 2>/dev/null
        fi
    done
}

# Runs a lane in the background; its status comes to LANE.status, its times (elapsed, user, system) to LANE.times.
start() {
    local name=$1
    rm -f "$logs/$name.status"
    (
        TIMEFORMAT='%0R %0U %0S'
        {
            time HEDDLE_CI_LANE=$name-$mark timeout --kill-after=30 "$limit" ci/lanes.sh "$name" \
                >"$logs/$name.log" 2>&1 </dev/null
            status=$?
        } 2>"$logs/$name.times"
        kill_rest "$name"
        echo "$status" >"$logs/$name.status"
    ) &
    pid[$name]=$!
}

# Prints the result of a lane.
report() {
    local name=$1 log=$logs/$1.log status=1 took=0 user=0 system=0
    [ ! -e "$logs/$name.status" ] || status=$(cat "$logs/$name.status")
    read -r took user system <"$logs/$name.times"
    printf '%-12s %s ... ' "$name" "${what[$name]}"
    case $status in
    0)
        passed=$((passed + 1))
        echo "ok (${took} s, processor $((user + system)) s) $(summary "$log")"
        return
        ;;
    77)
        skipped=$((skipped + 1))
        echo "SKIPPED: $(tail -n 1 "$log")"
        return
        ;;
    124 | 137) echo "ENDED after ${took} s, the limit is ${limit} s (HEDDLE_TEST_LIMIT)" ;;
    *) echo "FAILED with status $status (${took} s)" ;;
    esac
    failed+=("$name")
}

# Prints the end of the log of a lane that failed, then its first lines that tell of a failure.
show_failure() {
    local log=$logs/$1.log
    echo "$1 failed, the end of $log:"
    tail -n 40 "$log" | sed 's/^/    | /'
    echo "of failures it says first:"
    grep -E '^FAIL|panicked|error(\[|:)' "$log" | head -n 10 | cut -c 1-200 | sed 's/^/    | /'
}

interrupted() {
    local name
    trap - INT TERM
    for name in "${!pid[@]}"; do
        kill_rest "$name"
    done
    wait
    echo "interrupted"
    exit 130
}
trap interrupted INT TERM

# Whether a lane has to wait for another one.
must_wait() {
    local other=${after[$1]} name
    [ -z "${pid[$other]:-}" ] || return 0
    for name in ${waiting[@]+"${waiting[@]}"}; do
        [ "$name" != "$other" ] || return 0
    done
    return 1
}

waiting=(${order[@]+"${order[@]}"})
while [ ${#waiting[@]} -gt 0 ] || [ ${#pid[@]} -gt 0 ]; do
    for name in ${waiting[@]+"${waiting[@]}"}; do
        [ ${#pid[@]} -lt "$slots" ] || break
        must_wait "$name" && continue
        start "$name"
        remaining=()
        for other in "${waiting[@]}"; do
            [ "$other" = "$name" ] || remaining+=("$other")
        done
        waiting=(${remaining[@]+"${remaining[@]}"})
    done
    wait -n
    for name in "${!pid[@]}"; do
        kill -0 "${pid[$name]}" 2>/dev/null && continue
        unset "pid[$name]"
        report "$name"
    done
done

for name in ${failed[@]+"${failed[@]}"}; do
    show_failure "$name"
done
echo "all lanes together: HEDDLE_TEST_SEED=$HEDDLE_TEST_SEED, $((SECONDS / 60)) min $((SECONDS % 60)) s"
[ ${#failed[@]} -eq 0 ] || echo "failed: ${failed[*]}"
echo "$passed passed, ${#failed[@]} failed, $skipped skipped"
[ ${#failed[@]} -eq 0 ]
