#!/bin/sh
# The long explorations of the model checkers: SPIN's, unless it is not installed, and loom's; and all mutants.
set -eu
cd "$(dirname "$0")/.."
status=0
models/check.py || status=$?
# 77: skipped, as it has said.
[ "$status" -eq 0 ] || [ "$status" -eq 77 ]
# Every choice of a model ignored in turn.
ci/mutants.py
# The lock that changes its counters, on the simulated network.
HEDDLE_EXPLORE_LONG=1 cargo test -p heddle-rma-sim --release --test adaptive -- --nocapture
exec ci/loom.sh long
