#!/bin/sh
# Formatting, circles of imports, lints and documentation; warnings are errors.
set -eu
cd "$(dirname "$0")/.."
cargo fmt --all --check
ci/circles.py --folders
cargo clippy --workspace --all-targets --quiet -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
if ! cargo run --quiet -p heddle-spec --bin generate -- missing | ci/readme_table.sh --check; then
    echo "the README's table of what is missing is out of date: run ci/readme_table.sh --update" >&2
    exit 1
fi
