#!/bin/sh
# Compiles the programs of this folder against the shared and the static library of an installation, as pkg-config says,
# and runs them:  tests/sync_c/run.sh BUILD_DIR
# Prints one line a program; the last is "N passed, M failed".
set -u

here=$(dirname "$(readlink -f "$0")")
build=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PKG_CONFIG_PATH=$build/lib/pkgconfig
export PKG_CONFIG_PATH
passed=0 failed=0

# outcome NAME STATUS
outcome() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAIL    $1 (status $2)"
        sed 's/^/        /' "$work/output"
    fi
}

# compile SOURCE OPTION..   into $work/program
compile() {
    source=$1
    shift
    case $source in
    *.cc) set -- c++ -std=c++11 "$@" ;;
    *) set -- cc -std=c11 "$@" ;;
    esac
    "$@" -Wall -Wextra -Werror -pedantic -pthread -O1 -g >"$work/output" 2>&1
}

# An archive of its own folder, so that -lheddle_sync cannot mean the shared library.
mkdir "$work/static"
ln -s "$build/lib/libheddle_sync.a" "$work/static/libheddle_sync.a"
for source in "$here"/*.c "$here"/*.cc; do
    name=$(basename "$source")
    # shellcheck disable=SC2046  # options
    compile "$source" -o "$work/program" "$source" $(pkg-config --cflags --libs heddle_sync) "-Wl,-rpath,$build/lib" \
        && timeout 300 "$work/program" >"$work/output" 2>&1
    outcome "$name, shared" $?
    # shellcheck disable=SC2046
    compile "$source" -o "$work/program" "$source" $(pkg-config --cflags heddle_sync) "-L$work/static" \
        $(pkg-config --static --libs heddle_sync) \
        && timeout 300 "$work/program" >"$work/output" 2>&1
    outcome "$name, static" $?
done

# The shared library has no names but its own to offer.
nm -D --defined-only "$build/lib/libheddle_sync.so" | awk '{ print $3 }' | grep -v '^heddle_' >"$work/output"
[ ! -s "$work/output" ]
outcome "exported names" $?

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
