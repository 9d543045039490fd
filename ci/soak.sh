#!/usr/bin/env bash
# Long stress, many random programs, every combination of the C programs, the sanitizers' long form.   ci/soak.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
models=$("$build/bin/heddle" models --names | paste -sd ,)
"$build/bin/heddle" models --pairwise --seed "$RANDOM" >"$build/combinations"
ci/stress.sh "$build" 1000
python3 tests/random/run.py --mpicc "$build/bin/mpicc" --mpiexec "$build/bin/mpiexec" \
    --combinations "$build/combinations" --runs 1000
python3 tests/c/run.py --mpicc "$build/bin/mpicc" --mpiexec "$build/bin/mpiexec" --models "$models" --cover all
# A million communicators and datatypes each, under every lifetime that frees them.
"$build/bin/mpicc" -O2 -pthread tests/c/lifetime_flat.c -o "$build/lifetime_flat"
for lifetime in naive suppress collect; do
    HEDDLE_LIFETIME=$lifetime "$build/bin/mpiexec" -n 1 "$build/lifetime_flat" level=multiple count=1000000
done
status=0
ci/sanitize.sh long || status=$?
[ "$status" -eq 0 ] || [ "$status" -eq 77 ]
