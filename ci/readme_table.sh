#!/bin/sh
# Writes the parts of the documents that come from the tables of the sources:
# - docs/reference.md is what `heddle info --reference` prints;
# - the part of README.md between the "missing" marks is what `generate -- summary` prints.
#   ci/readme_table.sh --check     exit 1 if one of them differs
#   ci/readme_table.sh --update    writes both anew
set -eu
cd "$(dirname "$0")/.."
begin='<!-- missing: begin -->'
end='<!-- missing: end -->'
page=$(mktemp)
table=$(mktemp)
trap 'rm -f "$page" "$table"' EXIT
# With a test, so that all has the features that `cargo test --workspace` gives it: neither builds again what the other has.
cargo build --quiet --workspace --bin heddle --bin generate --test info
programs=${CARGO_TARGET_DIR:-target}/debug
"$programs/heddle" info --reference >"$page"
"$programs/generate" summary >"$table"
case "${1:-}" in
--check)
    sed -n "/^$begin\$/,/^$end\$/p" README.md | sed '1d;$d' | diff - "$table"
    diff docs/reference.md "$page"
    ;;
--update)
    cp "$page" docs/reference.md
    chmod 644 docs/reference.md
    sed -i -e "/^$begin\$/,/^$end\$/{/^$begin\$/{p;r $table
};/^$end\$/p;d}" README.md
    ;;
*)
    echo "usage: $0 --check|--update" >&2
    exit 2
    ;;
esac
