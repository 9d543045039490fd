#!/bin/sh
# The part of the README between the "missing" marks comes from the table of functions.
#   generate -- missing | readme_table.sh --check      exit 1 if it differs
#   readme_table.sh --update                           writes it anew
set -eu
cd "$(dirname "$0")/.."
begin='<!-- missing: begin -->'
end='<!-- missing: end -->'
case "${1:-}" in
--check)
    table=$(cat)
    there=$(sed -n "/^$begin\$/,/^$end\$/p" README.md | sed '1d;$d')
    [ "$table" = "$there" ]
    ;;
--update)
    table=$(mktemp)
    cargo run --quiet -p heddle-spec --bin generate -- missing >"$table"
    sed -i -e "/^$begin\$/,/^$end\$/{/^$begin\$/{p;r $table
};/^$end\$/p;d}" README.md
    rm -f "$table"
    ;;
*)
    echo "usage: $0 --check|--update" >&2
    exit 2
    ;;
esac
