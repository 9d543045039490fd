#!/usr/bin/env bash
# The long explorations of the model checkers, SPIN's, loom's and the project's own, all planted faults, and all mutants:
# some hours on two cores.   ci/verify.sh [PART..]
#
# It runs in parts, whose names it prints; PART is a pattern of them ('loom:*'). A run that was interrupted goes on with the
# part that had not ended (ci/parts.sh). Logs are in target/verify.
set -uo pipefail
cd "$(dirname "$0")/.."
. ci/parts.sh

part_spin() { models/check.py; }
# Every choice of a model ignored in turn.
part_mutants() { ci/mutants.py; }
# The lock that changes its parameters, on the simulated network.
part_adaptive() { HEDDLE_EXPLORE_LONG=1 cargo test -p heddle-rma-sim --release --test adaptive -- --nocapture; }
# The larger sizes, as far as 20 seconds take each.
part_exhaustive() {
    HEDDLE_EXPLORE_LONG=1 HEDDLE_EXPLORE_SECONDS=${HEDDLE_EXPLORE_SECONDS:-20} \
        cargo test -p heddle-rma-locks --release --test 'exhaustive*' -- --nocapture
}
part_loom() { HEDDLE_LOOM_CRATES=$1 ci/loom.sh long; }
part_faults() { ci/faults.py loom; }
# The models of the faults, without them.
part_sound() { ci/faults.py loom --sound; }

run_parts target/verify mutants spin adaptive exhaustive faults sound loom:transport loom:objects loom:combining loom:locks \
    loom:sync -- "$@"
