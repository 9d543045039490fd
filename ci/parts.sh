# Runs the parts of something that takes hours.   . ci/parts.sh; run_parts FOLDER PART.. -- [WANTED..]
#
# A part NAME or NAME:ARGUMENT is the function part_NAME, called with the argument. Its output goes to FOLDER/PART.log, and one
# line says how it ended: 0 is well, and 77 that the machine lacks what it needs. The others run after a failure, too. What
# has passed is noted for the commit, if nothing is changed: a run that was interrupted, begun again, goes on where it was.
# WANTED are patterns of the parts to run (default: all); a part that is named runs again.

run_parts() {
    local folder=$1 parts=() failed=0 passed=0 skipped=0 part pattern note commit begin status
    shift
    while [ "$1" != -- ]; do
        parts+=("$1")
        shift
    done
    shift
    mkdir -p "$folder"
    commit=$(git rev-parse HEAD 2>/dev/null)
    [ -z "$(git status --porcelain 2>/dev/null)" ] || commit=
    for part in "${parts[@]}"; do
        note=$folder/$part.passed
        if [ $# -gt 0 ]; then
            # shellcheck disable=SC2053  # a pattern
            for pattern; do [[ $part == $pattern ]] && break; done
            # shellcheck disable=SC2053
            [[ $part == $pattern ]] || continue
        elif [ -n "$commit" ] && [ "$(cat "$note" 2>/dev/null)" = "$commit" ]; then
            echo "ok: $part (in an earlier run)"
            passed=$((passed + 1))
            continue
        fi
        begin=$SECONDS status=0
        rm -f "$note"
        # Its shell ends with the first command that fails, which bash does not do where the status is asked for.
        (set -e; "part_${part%%:*}" "${part##*:}") >"$folder/$part.log" 2>&1 </dev/null &
        wait $! || status=$?
        case $status in
        0) echo "ok: $part ($((SECONDS - begin)) s)"; passed=$((passed + 1)); echo "$commit" >"$note" ;;
        77) echo "skipped: $part: $(tail -n 1 "$folder/$part.log")"; skipped=$((skipped + 1)) ;;
        *)
            echo "FAIL: $part, status $status ($((SECONDS - begin)) s), the end of $folder/$part.log:"
            tail -n 20 "$folder/$part.log" | sed 's/^/    | /'
            failed=$((failed + 1))
            ;;
        esac
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
}
