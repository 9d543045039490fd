#!/usr/bin/env bash
# AddressSanitizer (with its search for leaks) and ThreadSanitizer.   ci/sanitize.sh [short|long] [address|thread]
#
# The short form draws one of three parts that take about the same time: the locks under ThreadSanitizer and the rest under
# AddressSanitizer, the process and the locks the other way round, or the library under ThreadSanitizer. With a
# sanitizer's name, and in the long form, each sanitizer has everything.
#
# locks    the stress tests and unit tests of heddle-sync, heddle-locks and heddle-combining; orderings that
#          publish something, weakened, have to be data races (ci/faults.py; in the short form a random few), and a node
#          used too late a report (tests/sanitizers_bite.rs)
# process  the thread stress test of all that moves data: alone and as several processes, under five models, with single
#          copies and without, of which the short form draws; and, under ThreadSanitizer, alone under each model
# library  libmpi_abi.so.1 built with the sanitizer, C programs compiled with the C compiler's: a few of tests/c, under
#          a model each, all drawn at random, and a few random programs with 2 ranks; in the long form all of tests/c
#          (under ThreadSanitizer those with threads) under all five with 1 to 4 ranks, and many random programs
# ranks    in the long form: the tests of heddle-p2p, heddle-collective and heddle-ranks whose ranks are threads
#
# ThreadSanitizer is quiet about right code only if it sees the standard library too, so that is built with it, from
# its sources: the component rust-src. Each checker first has to report faults that a program commits on purpose, for
# the library through its calls: that shows that it looks there.
# TSan does not see what another process does to shared memory; the rings between processes have their own tests.
# Nor does it follow fences, membarrier included, and needs not to: in Heddle they only keep a store before a load
# (flags of sleepers and waiters). Data for another thread is published by Release and Acquire. So nothing is suppressed.
#
# Status 77: the machine lacks what is needed; the last line says what.
set -uo pipefail
cd "$(dirname "$0")/.."

target=$(rustc -vV | sed -n 's/^host: //p')
logs=target/sanitize
# Where mpiexec and generate are: HEDDLE_TOOLS names the folder if they have been built.
tools=${HEDDLE_TOOLS:-target/debug}
models=auto,global-mutex,per-object,lock-free,offload
# Under lock-free a slot of a ring passes from one sender to the next through its reader, another process, which
# ThreadSanitizer does not see, so it would report a race. There it runs the stress test in one process only.
thread_models=auto,global-mutex,per-object,offload
mkdir -p "$logs"
passed=0 failed=0 missing=""
# What the short form draws.
export HEDDLE_TEST_SEED=${HEDDLE_TEST_SEED:-$RANDOM}
echo "drawn with HEDDLE_TEST_SEED=$HEDDLE_TEST_SEED"

# Optimised code costs four times as much to compile with a sanitizer, so for AddressSanitizer the short form optimises
# only the crates that Cargo.toml names: locks and what is below them. Under ThreadSanitizer the programs would then run
# longer than that saves. One unit of code generation for a crate, and nothing kept for a next build: that is the least
# work for a build from nothing.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=1
# The compiler's sanitizers are unstable options, which this lets a stable compiler take.
export RUSTC_BOOTSTRAP=1
# A report ends the process, so that the first one is the last in the log, and mpiexec ends the others.
export TSAN_OPTIONS=halt_on_error=1:exitcode=66:history_size=7:allow_addr2line=1
# Statics lead to all that the library keeps for ever (pools of requests and objects, one process state), so it is no
# leak and needs no exception.
export ASAN_OPTIONS=exitcode=66:detect_leaks=1:detect_stack_use_after_return=1:allow_addr2line=1
export LSAN_OPTIONS=exitcode=66
export RUST_BACKTRACE=1

form=short
case "${1:-}" in
short | long) form=$1; shift ;;
esac
lock_runs=1 address_rounds=4 thread_rounds=3
if [ "$form" = long ]; then
    lock_runs=10 address_rounds=16 thread_rounds=10
    # Here the programs run longer than they compile.
    export CARGO_PROFILE_DEV_OPT_LEVEL=1
fi

# sanitized NAME CARGO_ARGUMENT..: cargo, with the sanitizer. All that is built with one sanitizer has the same flags, so that
# no crate is compiled twice; ci/faults.py has those of ThreadSanitizer, too. For AddressSanitizer queue nodes are not kept
# for their next use, so that it sees a look at one that is gone (--cfg asan).
sanitized() {
    local name=$1 flags="-Zsanitizer=$1 -Cdebuginfo=line-tables-only" std=()
    shift
    case "$name" in
    address) flags+=" --cfg asan" ;;
    thread)
        flags+=" --cfg tsan" std=(-Zbuild-std)
        local -x CARGO_PROFILE_DEV_OPT_LEVEL=1
        ;;
    esac
    RUSTFLAGS=$flags CARGO_TARGET_DIR=target/sanitize-$name cargo "$@" --target "$target" ${std[@]+"${std[@]}"}
}

# build NAME: the thread stress test with a sanitizer; sets $program
build() {
    sanitized "$1" test --no-run -p heddle-process --test thread_stress --message-format=json-render-diagnostics \
        >"$logs/build-$1.json" || return 1
    program=$(sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' "$logs/build-$1.json" | tail -n 1)
    [ -x "$program" ]
}

# build_library NAME: the library with a sanitizer, laid out with the ordinary mpiexec; sets $mpicc, $mpiexec, $cflags
# and $faults. The C programs are not optimised: with a sanitizer that takes the compiler half a minute for some.
build_library() {
    local folder=target/sanitize-$1
    sanitized "$1" build --quiet -p heddle-abi || return 1
    mkdir -p "$folder/parts"
    ln -sf "$PWD/$tools/mpiexec" "$PWD/$tools/generate" "$PWD/$folder/$target/debug/libmpi_abi.so" \
        "$folder/parts/"
    tools/stage.sh "$folder/parts" "$folder/stage" || return 1
    mpicc=$PWD/$folder/stage/bin/mpicc mpiexec=$PWD/$folder/stage/bin/mpiexec cflags="-fsanitize=$1 -O0"
    [ "$1" != thread ] || cflags+=" $PWD/tests/sanitize/llvm_names.c"
    faults=$folder/faults
    # shellcheck disable=SC2086  # several flags
    "$mpicc" -std=gnu11 -g -pthread $cflags tests/sanitize/faults.c -o "$faults"
}

# spent: sets $spent, the processor seconds of all that has ended; of this shell, so it is not asked in a subshell
spent() {
    times >"$logs/times"
    spent=$(awk -F '[ms ]+' 'NR == 2 { print int($1 * 60 + $2 + $3 * 60 + $4) }' "$logs/times")
}

since=0 used=0 spent=0
verdict() { # verdict WHAT LOG STATUS: with the time since the last one, and the processor's
    spent
    if [ "$3" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok: $1 ($((SECONDS - since)) s, processor $((spent - used)) s)"
    else
        failed=$((failed + 1))
        echo "FAIL: $1, the log is $2:"
        grep -v '^ok ' "$2" | head -n 120 | sed 's/^/    | /'
    fi
    since=$SECONDS used=$spent
}

# planted NAME FAULT REPORT: the fault has to be reported in these words
planted() {
    local log=$logs/$1-planted-$2.log status=0
    timeout 120 "$program" planted="$2" >"$log" 2>&1 && status=1
    grep -q "$3" "$log" || status=1
    verdict "$1: the planted fault \"$2\" is reported" "$log" $status
}

# stress NAME RANKS THREADS ROUNDS MODEL SINGLE_COPY
stress() {
    local name=$1 ranks=$2 threads=$3 rounds=$4 model=$5 copy=$6
    local log=$logs/$name-$ranks-$model-$copy.log
    local settings=("HEDDLE_MODEL=$model" "HEDDLE_SINGLE_COPY=$copy")
    # lockq posts at once: that is where threads hand something over.
    case "$model" in lockq-*) settings+=(HEDDLE_POST_TRIES=0) ;; esac
    env "${settings[@]}" timeout 300 "$tools/mpiexec" -n "$ranks" \
        "$program" threads="$threads" rounds="$rounds" >"$log" 2>&1
    verdict "$name: $ranks x $threads threads, $model, single copy $copy" "$log" $?
}

# planted_in_library NAME FAULT REPORT: as planted, by a C program through the library; the fault "none" is none
planted_in_library() {
    local log=$logs/$1-library-$2.log status=0 expected=66
    [ "$2" != none ] || expected=0
    timeout 120 "$faults" "$2" >"$log" 2>&1
    [ $? -eq $expected ] || status=1
    grep -q "$3" "$log" || [ "$2" = none ] || status=1
    verdict "$1: in the library, what the fault \"$2\" brings" "$log" $status
}

# c_programs NAME RANKS COVER PATTERN [ARGUMENT..]: programs of tests/c
c_programs() {
    local log=$logs/$1-programs.log status
    python3 tests/c/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --cflags="$cflags" --models "$models" --ranks "$2" \
        --cover "$3" --timeout 600 -k "$4" "${@:5}" >"$log" 2>&1
    status=$?
    verdict "$1: C programs with $2 ranks: $(tail -n 1 "$log")" "$log" $status
}

# random_programs NAME RUNS
random_programs() {
    local log=$logs/$1-random.log status
    python3 tests/random/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --cflags="$cflags" --models "$models" \
        --runs "$2" --ops 200 --timeout 600 --ranks 2 >"$log" 2>&1
    status=$?
    verdict "$1: random programs: $(tail -n 1 "$log")" "$log" $status
}

# locks NAME RUNS: the tests of heddle-sync, heddle-locks and heddle-combining, that often
locks() {
    local log=$logs/build-locks-$1.json programs crate program test run status more_tests=
    # Threads stopped by a signal at any instruction: ThreadSanitizer delivers signals only at some calls.
    [ "$1" != address ] || more_tests="--test liveness*"
    # shellcheck disable=SC2086  # no test or two words
    if ! sanitized "$1" test --no-run -p heddle-sync -p heddle-locks -p heddle-combining --lib --test 'stress*' \
        --test pool_model --test processes --test sanitizers_bite $more_tests \
        --message-format=json-render-diagnostics \
        >"$log" 2>"$log.errors"; then
        verdict "$1: the build of the locks' tests" "$log.errors" 1
        return
    fi
    # The folder of each program's crate, and the program.
    programs=$(sed -n 's|.*"manifest_path":"[^"]*/\([^/]*\)/Cargo.toml".*"executable":"\([^"]*\)".*|\1 \2|p' \
        "$log")
    if [ -z "$programs" ]; then
        verdict "$1: the locks' tests, of which there are none" "$log" 1
        return
    fi
    while read -r crate program; do
        test=$(basename "$program" | sed 's/-[0-9a-f]*$//') status=0
        log=$logs/$1-$crate-$test.log
        for ((run = 0; run < $2 && status == 0; run++)); do
            timeout 300 "$program" >"$log" 2>&1 </dev/null || status=$?
        done
        verdict "$1: $crate, $test: $(grep -c '^test .* ok$' "$log") tests, $run times" "$log" $status
    done <<<"$programs"
}

# between_ranks NAME: the tests of the middle crates whose ranks are threads, in the long form
between_ranks() {
    local log=$logs/$1-ranks.log status=0
    sanitized "$1" test -p heddle-p2p -p heddle-collective -p heddle-ranks --test between_ranks --test algorithms \
        --test windows >"$log" 2>&1 || status=$?
    verdict "$1: tests between ranks that are threads: $(grep -c '^test .* ok$' "$log")" "$log" $status
}

# planted_in_locks: faults planted in the locks' sources, which ThreadSanitizer has to report
planted_in_locks() {
    local log=$logs/thread-faults.log sample="--sample 2" status
    [ "$form" = short ] || sample=
    # shellcheck disable=SC2086  # none or two words
    ci/faults.py thread $sample >"$log" 2>&1
    status=$?
    verdict "thread: faults planted in the locks: $(tail -n 1 "$log")" "$log" $status
}

# stress_all NAME ROUNDS: each model in one process, and in one of the shapes of several, drawn by the seed; in the long
# form in all
stress_all() {
    local model ranks threads copy drawn=1
    [ "$form" = short ] || drawn=3
    for model in ${models//,/ }; do
        stress "$1" 1 8 "$2" "$model" on
        [ "$1 $model" != "thread lock-free" ] || continue
        while read -r ranks threads copy <&3; do
            stress "$1" "$ranks" "$threads" "$2" "$model" "$copy"
        done 3< <(printf '%s\n' "2 4 on" "2 4 off" "3 2 on" | ci/drawn.py "$drawn" "sanitized shape $model")
    done
}

# every_model NAME: the stress test in one process under each model, in the long form between two as well
every_model() {
    local log=$logs/$1-every-model.log model
    timeout 900 "$program" >"$log" 2>&1
    verdict "$1: 1 x 4 threads under each of $(grep -c '^ok: [a-z]' "$log") models" "$log" $?
    [ "$form" = long ] || return
    for model in $(sed -n 's/^ok: \([a-z-]*\)$/\1/p' "$log"); do
        [ "$1 $model" = "thread lock-free" ] || stress "$1" 2 4 5 "$model" on
    done
}

# Whether the sources of the standard library are here or can be had.
has_library_sources() {
    local there
    there=$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock
    [ -e "$there" ] || { rustup component add rust-src && [ -e "$there" ]; }
}

# Whether the C compiler has the sanitizer too.
has_c_sanitizer() {
    echo 'int main(void) { return 0; }' >"$logs/probe.c"
    "${HEDDLE_CC:-cc}" -fsanitize="$1" "$logs/probe.c" -o "$logs/probe" >"$logs/probe.log" 2>&1 && return
    missing="the C compiler cannot make programs with -fsanitize=$1: $(tail -n 1 "$logs/probe.log")"
    return 1
}

address_locks() { locks address "$lock_runs"; }

address_rest() {
    build address || { verdict "address: the build" "$logs/build-address.json" 1; return; }
    planted address use-after-free "AddressSanitizer: heap-use-after-free"
    planted address overflow "AddressSanitizer: heap-buffer-overflow"
    planted address leak "LeakSanitizer: detected memory leaks"
    stress_all address "$address_rounds"

    has_c_sanitizer address || return
    build_library address || { verdict "address: the library's build" /dev/null 1; return; }
    planted_in_library address none ""
    planted_in_library address overflow "AddressSanitizer: heap-buffer-overflow"
    planted_in_library address freed "AddressSanitizer: heap-use-after-free"
    # no_leaks, win_objects, threads_thousands, partitioned_many and unexpected_bound watch resident memory, which the sanitizer
    # lets grow. error_ programs are ended in the middle. few_addresses and no_memory_for_lists are refused memory, at which the
    # sanitizer ends them. The library of PMIx, which choice_bootstrap loads, leaks. In the children of fork_exit the search cannot
    # stop their parent's threads; in those of offload_fork it takes what these own for lost. refused_calls, whose filter refuses
    # system calls, did not end within ten minutes; why is not known.
    if [ "$form" = long ]; then
        c_programs address 1-4 pairs '^(?!no_leaks|no_memory_for_lists|choice_bootstrap|few_addresses|fork_exit|lifetime_flat|offload_fork|partitioned_many|refused_calls|unexpected_bound|win_objects|threads_thousands|error_fatal|error_abort|error_messages)'
        random_programs address 100
        between_ranks address
    else
        c_programs address 2 one '^(attributes|bad_|buffers|cancel|coll_all|comm_dup|comm_free|comm_vni|completion|error_classes|p2p_modes|hinted_|persistent|probe|threads_(?!thousands)|tool_events|truncate|type_messages|win_(accumulate|random|threads))' --sample 1 --few 25
        random_programs address 4
    fi
}

# can_check_threads: whether ThreadSanitizer works here
can_check_threads() {
    local probe=$logs/race
    if ! has_library_sources >"$logs/rust-src.log" 2>&1; then
        missing="ThreadSanitizer needs the standard library's sources: rustup component add rust-src"
        return 1
    fi
    echo 'fn main() { println!("works"); }' >"$probe.rs"
    rustc -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer -o "$probe" "$probe.rs" >"$probe.log" 2>&1
    timeout 60 "$probe" 2>&1 | grep -q "FATAL: ThreadSanitizer" || return 0
    missing="ThreadSanitizer cannot lay out its memory here: see sysctl vm.mmap_rnd_bits (28 is well)"
    return 1
}

thread_locks() {
    can_check_threads || return
    locks thread "$lock_runs"
    planted_in_locks
}

thread_process() {
    can_check_threads || return
    build thread || { verdict "thread: the build" "$logs/build-thread.json" 1; return; }
    planted thread race "ThreadSanitizer: data race"
    planted thread late-read "ThreadSanitizer: data race"
    stress_all thread "$thread_rounds"
    every_model thread
}

thread_library() {
    local models=$thread_models
    can_check_threads && has_c_sanitizer thread || return
    build_library thread || { verdict "thread: the library's build" /dev/null 1; return; }
    planted_in_library thread none ""
    planted_in_library thread race "ThreadSanitizer: data race"
    if [ "$form" = long ]; then
        c_programs thread 1-4 pairs '^(threads_(?!thousands)|tool_events|comm_vni|hinted_|win_(threads|locks|epochs|random))'
        random_programs thread 60
        between_ranks thread
    else
        c_programs thread 2 one '^(threads_(?!thousands)|tool_events|comm_vni|hinted_|win_(threads|locks|epochs))' --sample 1 --few 15
        random_programs thread 4
    fi
}

case "$target" in
x86_64-*-linux-gnu | aarch64-*-linux-gnu) ;;
*) echo "there are no sanitizers for $target"; exit 77 ;;
esac
if [ -z "${HEDDLE_TOOLS:-}" ]; then
    env -u RUSTC_BOOTSTRAP cargo build --quiet -p heddle-launcher -p heddle-spec || exit 1
fi
parts=(address_locks address_rest thread_locks thread_process thread_library)
case "$form ${1:-all}" in
"long all") ;;
"short all")
    drawn=$(printf '%s\n' "thread_locks address_rest" "thread_process address_locks" thread_library | ci/drawn.py 1 sanitizers)
    # shellcheck disable=SC2206  # a list
    parts=($drawn)
    ;;
*" address") parts=(address_locks address_rest) ;;
*" thread") parts=(thread_locks thread_process thread_library) ;;
*) echo "usage: $0 [short|long] [address|thread]" >&2; exit 2 ;;
esac
echo "parts: ${parts[*]}"
for part in "${parts[@]}"; do
    "$part"
done

if [ "$failed" -eq 0 ] && [ -n "$missing" ]; then
    echo "$missing ($passed other checks passed)"
    exit 77
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
