#!/usr/bin/env bash
# Threads that do everything at once, under every model.   ci/stress.sh BUILD [ROUNDS [SHAPES [MODELS]]]
#
# SHAPES: in how many shapes of a job, ranks and threads, each model runs; MODELS: how many models (default: all). They are
# drawn by HEDDLE_TEST_SEED. With HEDDLE_TEST_SECONDS they come in random order, and none begins after so many seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
rounds=${2:-30}
shapes=("1 8 0" "2 4 10" "4 4 0" "2 16 10")
export HEDDLE_TEST_SEED=${HEDDLE_TEST_SEED:-$RANDOM}
mkdir -p "$build/tests"
"$build/bin/mpicc" -O2 -g -pthread tests/stress/thread_stress.c -o "$build/tests/thread_stress"
count=0
echo "drawn with HEDDLE_TEST_SEED=$HEDDLE_TEST_SEED"
limit=${HEDDLE_TEST_SECONDS-}
models=$("$build/bin/heddle" models --names | ci/drawn.py "${4:-1000}" stress)
for model in $([ -n "$limit" ] && shuf -e $models || echo "$models"); do
    drawn=$(printf '%s\n' "${shapes[@]}" | ci/drawn.py "${3:-1000}" "stress $model")
    while read -r ranks threads tries <&3; do
        [ -z "$limit" ] || [ "$SECONDS" -lt "$limit" ] || break 2
        settings=("HEDDLE_MODEL=$model")
        # With no tries lockq posts at once.
        case "$model" in lockq-*) settings+=("HEDDLE_POST_TRIES=$tries") ;; esac
        env "${settings[@]}" timeout 600 "$build/bin/mpiexec" -n "$ranks" \
            "$build/tests/thread_stress" threads="$threads" rounds="$rounds"
        echo "ok: $model, $ranks ranks x $threads threads"
        count=$((count + 1))
    done 3<<<"$drawn"
done
echo "$count passed, 0 failed"
