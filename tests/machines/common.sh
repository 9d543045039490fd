# What the tests on several machines have in common; each of them reads this file first.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The seconds after which a run hangs. No test is about time: beside other work a run may take ten times as long.
# shellcheck disable=SC2034  # for those that read this file
hangs_after=300

fail() {
    echo "FAIL $1"
    exit 1
}

# on MACHINES RANKS-EACH COMMAND..: runs a command on the first of several machines (with_machines.py)
on() {
    local machines=$1 each=$2
    shift 2
    python3 "$here/with_machines.py" --machines "$machines" --ranks-each "$each" -- "$@"
}

# without launcher|daemon MACHINES COMMAND..: what a job prints whose launcher is killed once its ranks have met, or whose
# launcher's process on the last machine is; fails if the job does not end, or ranks stay behind
without() {
    python3 "$here/with_machines.py" --machines "$2" --ranks-each 2 --when "all have met" "$1" -- \
        env HEDDLE_PEER_TIMEOUT=3 timeout "$hangs_after" "${@:3}" 2>&1
    case $? in 99 | 124) return 1 ;; esac
}

# The programs of tests/c that are not about one machine.
# shellcheck disable=SC2034  # for those that read this file
on_machines='^(?!change_logs|choice_|closed_descriptors|coll_(blackboard|choices)|comm_(split|vni)$|cores_shared|fortran_handles|lifetime_|many_ranks|memory_none|messages_spread|no_leaks|no_memory_for_lists|papers_|partitioned_without|pid_name|refused_(calls|copies)|sessions$|sessions_(left|some|window_copies)|split_types|threads_(counted|thousands)|topology_(at|reorder)|vnis_unused|win_(closes|killed|lock_(adaptive|order|settings)|memory|no_memory|objects))'

# need_machines: ends the test with 77 where the kernel lets nobody make namespaces
need_machines() {
    local said
    if ! said=$(on 1 1 true 2>&1); then
        echo "$said" >&2
        echo "no network namespaces can be made here"
        exit 77
    fi
}
