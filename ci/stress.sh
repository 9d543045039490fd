#!/usr/bin/env bash
# Threads that do everything at once, under every model.   ci/stress.sh BUILD [ROUNDS [SHAPES]]
#
# SHAPES: in how many shapes of a job, ranks and threads, each model runs (default: all); HEDDLE_TEST_SEED says which.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
rounds=${2:-30}
shapes=("1 8 0" "2 4 10" "4 4 0" "2 16 10")
each=${3:-${#shapes[@]}}
next=${HEDDLE_TEST_SEED:-$RANDOM}
mkdir -p "$build/tests"
"$build/bin/mpicc" -O2 -g -pthread tests/stress/thread_stress.c -o "$build/tests/thread_stress"
count=0
models=$("$build/bin/heddle" models --names)
for model in $models; do
    for ((i = 0; i < each; i++)); do
        read -r ranks threads tries <<<"${shapes[next % ${#shapes[@]}]}"
        next=$((next + 1))
        settings=("HEDDLE_MODEL=$model")
        # With no tries lockq posts at once.
        case "$model" in lockq-*) settings+=("HEDDLE_POST_TRIES=$tries") ;; esac
        env "${settings[@]}" timeout 600 "$build/bin/mpiexec" -n "$ranks" \
            "$build/tests/thread_stress" threads="$threads" rounds="$rounds"
        echo "ok: $model, $ranks ranks x $threads threads"
        count=$((count + 1))
    done
done
echo "$count passed, 0 failed"
