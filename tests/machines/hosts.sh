#!/usr/bin/env bash
# `mpiexec --hosts` hands over to another launcher, on two machines that network namespaces play (with_machines.py).
#
#   hosts.sh BUILD FOLDER prterun|mpiexec.hydra     FOLDER holds bin/LAUNCHER
#
# Ends with 77 where the kernel lets nobody make namespaces. test.sh and prrte.sh run it.
set -uo pipefail
. "$(dirname "$0")/common.sh"
build=$(realpath -m "$1") launcher=$(realpath -m "$2")/bin/$3 name=$3
work=$build/tests/hosts-$name
mpiexec=$build/bin/mpiexec
hosts=10.77.0.1,10.77.0.2

rm -rf "$work"
mkdir -p "$work/bin" "$work/none"
"$build/bin/mpicc" -O1 -o "$work/ring" "$here/ring.c" || fail "ring.c does not compile"
if [ "$name" = prterun ]; then
    # PRRTE is preferred, and finds its daemon for the other machine beside itself.
    found=$launcher path=$(dirname "$launcher"):$PATH
else
    # The only launcher in PATH is a script, since the launcher itself needs the PATH that is here.
    found=$work/bin/$name path=$work/bin
    printf '#!/bin/sh\nPATH=%s\nexec %s "$@"\n' "$PATH" "$launcher" >"$found"
    chmod +x "$found"
fi
# As after ssh, a process on another machine has only a few variables.
printf '#!/bin/sh\nexec env -i HOME=%s PATH="$PATH" HEDDLE_MACHINES="$HEDDLE_MACHINES" %s "$@"\n' "$HOME" "$here/remote" \
    >"$work/bare"
chmod +x "$work/bare"

on_first() { # on_first ARGUMENT..: Heddle's mpiexec on the first of two machines
    on 2 1 env -u HYDRA_HOST_FILE -u PRTE_MCA_prte_default_hostfile \
        HYDRA_LAUNCHER_EXEC="$work/bare" PRTE_MCA_plm_ssh_agent="$work/bare" \
        PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 HEDDLE_UNEXPECTED_BYTES=1234567 INHERITED=yes \
        timeout "$hangs_after" env PATH="$path" "$mpiexec" "$@" 2>&1
}
need_machines

said=$(on_first --hosts "$hosts" -n 4 "$work/ring") || fail "--hosts: $said"
grep -q "^4 ranks on 2 machines: .* 3000 times" <<<"$said" || fail "--hosts: $said"
grep -q "^mpiexec: $found starts the ranks" <<<"$said" || fail "--hosts: $said"
echo "ok   mpiexec --hosts, by $name"

# Blocks keep their programs, variables and folders; settings come along.
printf '# two machines\n10.77.0.1\n10.77.0.2 slots=2\n' >"$work/machines"
# shellcheck disable=SC2016  # the ranks' variables
echo 'echo "$(hostname | sed s/.*-//) ONE=$ONE TWO=$TWO ALL=$ALL $HEDDLE_UNEXPECTED_BYTES $PWD $*"' >"$work/says"
said=$(on_first -f "$work/machines" -genv ALL "a b" -env ONE 1 -wdir "$work" -n 2 sh "$work/says" x "y z" \
    : -env TWO "2,*" -env ONE "" -wdir /usr sh "$work/says") || fail "--hostfile: $said"
for line in "1 ONE=1 TWO= ALL=a b 1234567 $work x y z" "2 ONE=1 TWO= ALL=a b 1234567 $work x y z" \
    "2 ONE= TWO=2,* ALL=a b 1234567 /usr "; do
    grep -qxF "$line" <<<"$said" || fail "--hostfile: no line '$line': $said"
done
echo "ok   mpiexec --hostfile with two programs, by $name"

# Places go along.
said=$(on_first --allow-run-as-root --bind-to core --hosts "$hosts" -n 2 grep Cpus_allowed_list /proc/self/status) ||
    fail "--bind-to: $said"
[ "$(grep -c ^Cpus_allowed_list <<<"$said")" = 2 ] || fail "--bind-to: $said"
[ "$(nproc)" = 1 ] || ! grep -qxF "$(grep Cpus_allowed_list /proc/self/status)" <<<"$said" || fail "--bind-to: $said"
echo "ok   mpiexec --hosts --bind-to core, by $name"

said=$(env PATH="$work/none" "$mpiexec" --hosts "$hosts" -n 4 "$work/ring" 2>&1) && fail "no launcher: no error"
grep -q "prterun.*mpiexec.hydra.*PATH has neither" <<<"$said" || fail "no launcher: $said"
said=$(env PATH="$work/none" "$mpiexec" --hosts localhost -n 2 "$work/ring" 2>&1) || fail "localhost: $said"
grep -q "^2 ranks on 1 machines" <<<"$said" || fail "localhost: $said"
echo "ok   mpiexec --hosts without a launcher"
