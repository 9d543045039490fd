#!/usr/bin/env bash
# Builds rsmpi (the crate `mpi` from crates.io) against an MPI library and runs its examples with 2 and 4 ranks.
#
#   run.sh BUILD_DIR OUT [EXAMPLE..]
#
# BUILD_DIR has bin/mpicc, bin/mpiexec and lib (what `make install PREFIX=BUILD_DIR` makes). OUT is a folder to work in: it is
# made if need be, and what is already built there is used again. Needs cargo with crates.io, and libclang for rsmpi's
# bindgen (status 77 without it). An example checks its own results; one that calls a function which Heddle has not built
# counts as skipped. The last line is "N passed, M failed, K skipped", counting runs.
set -euo pipefail

version=0.8.2
ranks="2 4"
limit_s=${TEST_LIMIT_S:-60} # an example that runs longer hangs
if [ $# -lt 2 ]; then
    echo "usage: $0 BUILD_DIR OUT [EXAMPLE..]" >&2
    exit 2
fi
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
for tool in "$build/bin/mpicc" "$build/bin/mpiexec"; do
    if ! [ -x "$tool" ]; then
        echo "$0: $tool is not there or not executable; install the library to $build" >&2
        exit 2
    fi
done
libclang=$(ldconfig -p | grep -o 'libclang\(-[0-9]*\)\?\.so' | head -n 1 || true)
if [ -z "$libclang" ] && [ -z "${LIBCLANG_PATH:-}" ]; then
    echo "rsmpi needs libclang to read mpi.h; install libclang-dev"
    exit 77
fi

# The examples come with the crate's source. Cargo unpacks that for a package which depends on the crate.
source=$out/mpi-$version
if ! [ -d "$source" ]; then
    mkdir -p "$out/fetch"
    printf '[package]\nname = "fetch"\nedition = "2021"\n[lib]\npath = "lib.rs"\n[dependencies]\nmpi = "=%s"\n[workspace]\n' \
        "$version" >"$out/fetch/Cargo.toml"
    : >"$out/fetch/lib.rs"
    unpacked=$(cargo metadata --format-version 1 --quiet --manifest-path "$out/fetch/Cargo.toml" | python3 -c '
import json, pathlib, sys
packages = json.load(sys.stdin)["packages"]
print(next(pathlib.Path(p["manifest_path"]).parent for p in packages if p["name"] == "mpi"))')
    rm -rf "$source.new"
    cp -r "$unpacked" "$source.new"
    # OUT may lie below another workspace.
    printf '\n[workspace]\n' >>"$source.new/Cargo.toml"
    mv "$source.new" "$source"
fi
cd "$source"

# The bindings come from mpi.h, which cargo does not watch.
stamp="$build $("$build/bin/mpicc" -E -include mpi.h -x c /dev/null | cksum)"
if [ "$(cat "$out/built-with" 2>/dev/null || true)" != "$stamp" ]; then
    cargo clean --quiet --target-dir "$out/target" --package mpi-sys
    printf '%s' "$stamp" >"$out/built-with"
fi
echo "building rsmpi $version with $build/bin/mpicc"
MPICC=$build/bin/mpicc CARGO_PROFILE_DEV_DEBUG=0 \
    cargo build --locked --quiet --all-features --examples --target-dir "$out/target"

# rsmpi's build script hands on where libmpi_abi.so is linked from, but no path to load it from.
export LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
passed=0 failed=0 skipped=()
examples=("$@")
if [ $# -eq 0 ]; then
    for file in examples/*.rs; do
        examples+=("$(basename "$file" .rs)")
    done
fi
for example in "${examples[@]}"; do
    for count in $ranks; do
        log=$out/log
        if timeout --kill-after=5 "$limit_s" "$build/bin/mpiexec" -n "$count" "$out/target/debug/examples/$example" \
            >"$log" 2>&1 </dev/null; then
            passed=$((passed + 1))
        elif missing=$(grep -om 1 'MPI_[A-Za-z_]* is not built yet in Heddle' "$log"); then
            skipped+=("$example with $count ranks: $missing")
        else
            failed=$((failed + 1))
            echo "FAIL $example with $count ranks:"
            tail -n 30 "$log" | sed 's/^/    | /'
        fi
    done
done
[ ${#skipped[@]} -eq 0 ] || printf 'skipped: %s\n' "${skipped[@]}"
echo "$passed passed, $failed failed, ${#skipped[@]} skipped"
[ "$failed" -eq 0 ]
