#!/bin/sh
# Formatting, width of comments, names in documents and their prose, folders of modules, names of types, circles of
# imports, planted faults and mutants that fit the sources, lints and documentation (warnings are errors), and a program of
# tests/c for each value of a setting.
set -eu
cd "$(dirname "$0")/.."
cargo fmt --all --check
ci/comment_width.py
ci/doccheck.py
ci/prose.py
ci/module_folders.py
ci/names.py
ci/circles.py --folders
ci/faults.py check
ci/mutants.py --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet
if ! ci/readme_table.sh --check; then
    echo "docs/reference.md or the README's table is out of date: run ci/readme_table.sh --update" >&2
    exit 1
fi
tests/c/settings.py --check
