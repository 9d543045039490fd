# What the tests on several machines have in common; each of them reads this file first.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

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

# need_machines: ends the test with 77 where the kernel lets nobody make namespaces
need_machines() {
    local said
    if ! said=$(on 1 1 true 2>&1); then
        echo "$said" >&2
        echo "no network namespaces can be made here"
        exit 77
    fi
}
