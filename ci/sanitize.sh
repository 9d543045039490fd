#!/usr/bin/env bash
# The thread stress test of the engine under ThreadSanitizer and AddressSanitizer (with its search for leaks): alone
# and as two processes, under both models, with single copies and without.   ci/sanitize.sh [thread|address]
#
# ThreadSanitizer is quiet about right code only if it sees the standard library too, so that is built with it, from
# its sources: the component rust-src. Each checker first has to report faults that the test commits on purpose.
# TSan does not see what another process does to shared memory; the rings between processes have their own tests.
#
# Status 77: the machine lacks what is needed; the last line says what.
set -uo pipefail
cd "$(dirname "$0")/.."

target=$(rustc -vV | sed -n 's/^host: //p')
logs=target/sanitize
mkdir -p "$logs"
passed=0 failed=0 missing=""

# The compiler's sanitizers are unstable options, which this lets a stable compiler take.
export RUSTC_BOOTSTRAP=1
# A report ends the process, so that the first one is the last in the log, and mpiexec ends the others.
export TSAN_OPTIONS=halt_on_error=1:exitcode=66:history_size=7:allow_addr2line=1
# What the engine keeps for ever (pools of requests and objects, one process state) is reached from statics and so is
# no leak: no exceptions are needed.
export ASAN_OPTIONS=exitcode=66:detect_leaks=1:detect_stack_use_after_return=1:allow_addr2line=1
export LSAN_OPTIONS=exitcode=66
export RUST_BACKTRACE=1

# build NAME: the test with a sanitizer; sets $program
build() {
    local flags="-Zsanitizer=$1 -Cdebuginfo=1" std=()
    if [ "$1" = thread ]; then
        flags+=" --cfg tsan"
        std=(-Zbuild-std)
    fi
    RUSTFLAGS=$flags CARGO_TARGET_DIR=target/sanitize-$1 cargo test --no-run --target "$target" \
        ${std[@]+"${std[@]}"} -p heddle-engine --test thread_stress --message-format=json-render-diagnostics \
        >"$logs/build-$1.json" || return 1
    program=$(sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' "$logs/build-$1.json" | tail -n 1)
    [ -x "$program" ]
}

verdict() { # verdict WHAT LOG STATUS
    if [ "$3" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok: $1"
    else
        failed=$((failed + 1))
        echo "FAIL: $1, the log is $2:"
        head -n 120 "$2" | sed 's/^/    | /'
    fi
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
    HEDDLE_MODEL=$model HEDDLE_SINGLE_COPY=$copy timeout 300 target/debug/mpiexec -n "$ranks" \
        "$program" threads="$threads" rounds="$rounds" >"$log" 2>&1
    verdict "$name: $ranks x $threads threads, $model, single copy $copy" "$log" $?
}

stress_all() { # stress_all NAME ROUNDS
    local model
    for model in per-vni-mutex global-mutex; do
        stress "$1" 1 8 "$2" "$model" on
        stress "$1" 2 4 "$2" "$model" on
        stress "$1" 2 4 "$2" "$model" off
        stress "$1" 3 2 "$2" "$model" on
    done
}

# Whether the sources of the standard library are here or can be had.
has_library_sources() {
    local there
    there=$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock
    [ -e "$there" ] || { rustup component add rust-src && [ -e "$there" ]; }
}

address() {
    build address || { verdict "address: the build" "$logs/build-address.json" 1; return; }
    planted address use-after-free "AddressSanitizer: heap-use-after-free"
    planted address overflow "AddressSanitizer: heap-buffer-overflow"
    planted address leak "LeakSanitizer: detected memory leaks"
    stress_all address 8
}

thread() {
    if ! has_library_sources >"$logs/rust-src.log" 2>&1; then
        missing="ThreadSanitizer needs the standard library's sources: rustup component add rust-src"
        return
    fi
    build thread || { verdict "thread: the build" "$logs/build-thread.json" 1; return; }
    if timeout 60 "$program" planted=race 2>&1 | grep -q "FATAL: ThreadSanitizer"; then
        missing="ThreadSanitizer cannot lay out its memory here: see sysctl vm.mmap_rnd_bits (28 is well)"
        return
    fi
    planted thread race "ThreadSanitizer: data race"
    planted thread late-read "ThreadSanitizer: data race"
    stress_all thread 5
}

case "$target" in
x86_64-*-linux-gnu | aarch64-*-linux-gnu) ;;
*) echo "there are no sanitizers for $target"; exit 77 ;;
esac
env -u RUSTC_BOOTSTRAP cargo build --quiet -p heddle-launcher || exit 1
case "${1:-all}" in
all) address; thread ;;
address | thread) "$1" ;;
*) echo "usage: $0 [thread|address]" >&2; exit 2 ;;
esac

if [ "$failed" -eq 0 ] && [ -n "$missing" ]; then
    echo "$missing ($passed other checks passed)"
    exit 77
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
