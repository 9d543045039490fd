#!/usr/bin/env bash
# Programs on several machines, which network namespaces play (with_machines.py), started by MPICH's Hydra.
#
#   test.sh BUILD MPICH [all]     `all`: every program of tests/c that is not about one machine, under every model; else a few of
#                                 them, drawn at random with HEDDLE_TEST_SEED, as are shapes and models of the other tests
#
# Ends with 77 where the kernel lets nobody make namespaces.
set -uo pipefail
. "$(dirname "$0")/common.sh"
build=$(readlink -f "$1") hydra=$(readlink -f "$2")/bin/mpiexec
[ "${3-}" = all ] && all=1 || all=
cd "$here/../.."
export HEDDLE_TEST_SEED=${HEDDLE_TEST_SEED:-$RANDOM}
echo "drawn with HEDDLE_TEST_SEED=$HEDDLE_TEST_SEED"
seed=${HEDDLE_TEST_SEED/all/0}

# drawn N WHAT LINE..: N of the lines
drawn() {
    if [ -n "$all" ]; then printf '%s\n' "${@:3}"; else printf '%s\n' "${@:3}" | ci/drawn.py "$1" "machines $2"; fi
}

programs() { # programs MACHINES RANKS-EACH ARGUMENT..
    local machines=$1 each=$2
    shift 2
    on "$machines" "$each" python3 tests/c/run.py --mpicc "$build/bin/mpicc" --mpiexec "$hydra" \
        --build-dir "$build/tests/c" --cover one "$@"
}
need_machines

# The provider that `auto` takes, or, each third time, the one that it would take without `net`.
if [ $((seed % 3)) = 0 ]; then export HEDDLE_FABRIC='tcp;ofi_rxm'; fi
echo "ok   the provider is ${HEDDLE_FABRIC:-auto}"

# What cannot work says why.
mkdir -p "$build/tests/machines"
"$build/bin/mpicc" -O1 -o "$build/tests/machines/ring" "$here/ring.c" || fail "ring.c does not compile"
ring=$build/tests/machines/ring
checks=()
fails() { # fails ARGUMENT..: runs what must fail on two machines; its words are in $said
    # Hydra dies of SIGPIPE now and then if ranks end at once, and says nothing.
    for _ in 1 2 3 4 5; do
        said=$(on 2 1 "$@" 2>&1) && fail "$*: no error"
        [ $? = 141 ] || return 0
    done
}
refused() { # refused WORDS VARIABLE=VALUE..: in the background
    local words=$1 said
    shift
    {
        fails env "$@" timeout "$hangs_after" "$hydra" -n 2 "$ring"
        grep -q "$words" <<<"$said" || fail "$*: $said"
        echo "ok   $*"
    } &
    checks+=($!)
}
refused "HEDDLE_FABRIC is off" HEDDLE_FABRIC=off
refused "HEDDLE_FABRIC.*pigeon.*tcp" HEDDLE_FABRIC=pigeon
refused "libfabric has no provider cxi.*it has .*tcp" HEDDLE_FABRIC=cxi
refused "on moon0.*it has" HEDDLE_FABRIC_DOMAIN=moon0
refused "HEDDLE_PEER_TIMEOUT.*from 1 to 86400, or off" HEDDLE_PEER_TIMEOUT=0
fails timeout "$hangs_after" "$hydra" -n 1 -env HEDDLE_FABRIC udp\;ofi_rxd "$ring" : -n 1 -env HEDDLE_FABRIC tcp\;ofi_rxm "$ring"
grep -q "its network is .* and this process's is .*set HEDDLE_FABRIC" <<<"$said" || fail "two providers: $said"
echo "ok   two providers"
fails timeout "$hangs_after" "$hydra" -n 1 -env HEDDLE_BCAST_ALGORITHM binomial "$ring" : -n 1 "$ring"
grep -q "algorithms of collective operations are others .*set HEDDLE_COLLECTIVES" <<<"$said" || fail "two algorithms: $said"
echo "ok   two algorithms of one operation"
for check in "${checks[@]}"; do wait "$check" || exit; done

# Each rank tells the machines apart, and the shape of the machines does not matter.
for shape in "2 1 5 pmi" "3 2 7 pmi2" "4 1 4 auto"; do
    read -r machines each ranks bootstrap <<<"$shape"
    said=$(on "$machines" "$each" env HEDDLE_BOOTSTRAP="$bootstrap" timeout "$hangs_after" "$hydra" -n "$ranks" "$ring" 2>&1) || fail "ring: $shape: $said"
    grep -q "^$ranks ranks on $machines machines: .* $((1000 * (ranks - 1))) times" <<<"$said" || fail "ring: $shape: $said"
    echo "ok   ring of $ranks ranks on $machines machines, $each a machine, HEDDLE_BOOTSTRAP=$bootstrap"
done

# Heddle's own mpiexec hands such a job over.
"$here/hosts.sh" "$build" "$2" mpiexec.hydra || exit

# Long messages are read from the sender's memory, and only they.
"$build/bin/mpicc" -O1 -o "$build/tests/machines/long" "$here/long.c" || fail "long.c does not compile"
said=$(on 2 1 timeout "$hangs_after" "$hydra" -n 2 "$build/tests/machines/long" far 2>&1) || fail "long: $said"
echo "ok   $said"

# Small messages that share a packet leave even if their sender calls MPI no more; beats would send them, too.
"$build/bin/mpicc" -O1 -o "$build/tests/machines/linger" "$here/linger.c" || fail "linger.c does not compile"
rm -f "$build/tests/machines/arrived"
said=$(on 2 1 env HEDDLE_PEER_TIMEOUT=off timeout "$hangs_after" "$hydra" -n 2 "$build/tests/machines/linger" "$build/tests/machines/arrived" 2>&1) || fail "linger: $said"
echo "ok   $said"

# A rank that waits for another machine sleeps.
"$build/bin/mpicc" -O1 -o "$build/tests/machines/idle" "$here/idle.c" || fail "idle.c does not compile"
said=$(on 2 1 timeout "$hangs_after" "$hydra" -n 2 "$build/tests/machines/idle" 2>&1) || fail "idle: $said"
echo "ok   $said"

# Ranks of a job that one does not talk to cost it next to nothing.
"$build/bin/mpicc" -O1 -o "$build/tests/machines/large_job" "$here/large_job.c" || fail "large_job.c does not compile"
said=$(on 1 2 timeout "$hangs_after" python3 "$here/large_job.py" "$build/tests/machines/large_job" 2>&1) || fail "large_job: $said"
echo "ok   $said"

# A rank that is killed ends the job everywhere, and nothing stays behind.
begin=$SECONDS
on 2 1 timeout "$hangs_after" "$hydra" -n 4 "$ring" killed >/dev/null 2>&1 && fail "a killed rank: no error"
[ $((SECONDS - begin)) -lt "$hangs_after" ] || fail "a killed rank: the job went on for $((SECONDS - begin)) s"
echo "ok   a killed rank"

# So does a machine that fails, or is cut off; then the ranks find out themselves. The programs end on both sides.
"$build/bin/mpicc" -O1 -o "$build/tests/machines/lost" "$here/lost.c" || fail "lost.c does not compile"
lost() { # lost kill|cut: what it printed; fails if the job does not end, or something stays behind
    python3 "$here/with_machines.py" --machines 2 --ranks-each 2 --when "all have met" "$1" -- \
        env HEDDLE_PEER_TIMEOUT=3 timeout "$hangs_after" "$hydra" -n 4 "$build/tests/machines/lost" 2>&1
    case $? in 0 | 99 | 124) return 1 ;; esac
}
said=$(lost kill) || fail "a machine that fails: $said"
echo "ok   a machine that fails"
said=$(lost cut) || fail "a cut link: $said"
grep -q "rank [23] on heddle-.*-2 cannot be reached: it was silent for 3 s" <<<"$said" || fail "a cut link: $said"
echo "ok   a cut link"

# Nor does a rank stay behind whose launcher is killed, or the launcher's process on its machine, whatever it is doing.
left=$build/tests/machines/left
while read -r who machines then <&3; do
    shape="$who $machines $then"
    rm -f "$left"
    said=$(without "$who" "$machines" "$hydra" -n $((2 * machines)) sh -c "'$build/tests/machines/lost' $then 2>>'$left'") \
        || fail "a killed $who: $shape: $said"
    # The first rank that notices it ends the job on its machine: the other one says so, too, unless it hears of that first.
    [ "$who" = launcher ] || grep -q "^heddle: rank .* ends: the launcher's process" "$left" \
        || fail "a killed $who: $shape: the ranks said: $(cat "$left")"
    echo "ok   a killed $who, machines: $machines, ranks $then"
done 3< <(drawn 2 killed "launcher 2 exchange" "daemon 2 exchange" "daemon 2 compute" "daemon 1 wait")

# Where the error handler returns, both sides go on.
"$build/bin/mpicc" -O1 -pthread -o "$build/tests/machines/survive" "$here/survive.c" || fail "survive.c does not compile"
survive() { # survive MODEL: what it printed
    python3 "$here/with_machines.py" --machines 3 --ranks-each 2 --when "all have met" cut --when "ranks go on" mend -- \
        env HEDDLE_MODEL="$1" HEDDLE_PEER_TIMEOUT=2 timeout "$hangs_after" "$hydra" -n 6 "$build/tests/machines/survive" 2>&1
}
for model in $(drawn 1 survive auto lock-free offload); do
    said=$(survive "$model") || fail "a cut link that is survived under $model: $said"
    grep -q "4 ranks go on" <<<"$said" || fail "a cut link that is survived under $model: $said"
    echo "ok   a cut link that is survived, $model"
done

# A rank that has never heard of the lost one is told.
"$build/bin/mpicc" -O1 -o "$build/tests/machines/hearsay" "$here/hearsay.c" || fail "hearsay.c does not compile"
said=$(python3 "$here/with_machines.py" --machines 3 --when "all have met" cut --when "has heard of it" mend -- \
    env HEDDLE_PEER_TIMEOUT=1 timeout "$hangs_after" "$hydra" -n 3 "$build/tests/machines/hearsay" 2>&1) || fail "a loss that others tell: $said"
grep -q "has heard of it" <<<"$said" || fail "a loss that others tell: $said"
echo "ok   a loss that others tell"

# Strangers that write garbage to the ports change nothing. The ring goes on until they have.
rm -f "$build/tests/machines/written"
said=$(python3 "$here/with_machines.py" --machines 2 --when "on the way" "python3 $here/garbage.py $seed $build/tests/machines/written" -- \
    timeout "$hangs_after" "$hydra" -n 2 "$ring" until "$build/tests/machines/written" 2>&1) || fail "garbage $seed: $said"
grep -q "garbage to [1-9]" <<<"$said" || fail "garbage $seed: $said"
echo "ok   $(grep garbage <<<"$said"), seed $seed"

# Nor do strangers who speak libfabric's protocol, and speak it wrongly: as another user, on both machines, from before the job's start
# until after its end, with thousands of connections that say nothing. A line says who was turned away.
"$build/bin/mpicc" -O1 -o "$build/tests/machines/beset" "$here/beset.c" || fail "beset.c does not compile"
beset() { # beset SECONDS HALF-OPEN [PROVIDER [WORDS ATTACKS]]: the words that the ranks say, if not those of a guarded port
    local there=$build/tests/machines/beset.there
    touch "$there"
    # shellcheck disable=SC2016  # the inner shell's variables
    said=$(on 2 2 env HEDDLE_FABRIC="${3:-auto}" sh -c '
        for machine in 10.77.0.1 10.77.0.2; do
            "$0/remote" "$machine" python3 "$0/stranger.py" --of beset --seconds "$7" --while "$1" --seed "$2" --half-open "$3" --only="$6" &
        done
        timeout "$7" "$4" -n 4 "${1%.there}" "$5"
        status=$?
        rm "$1"
        wait
        exit $status' "$here" "$there" "$seed" "$2" "$hydra" "$1" "${5-}" "$hangs_after" 2>&1) || fail "strangers, seed $seed, $*: $said"
    [ "$(grep -o "a stranger: [1-9]" <<<"$said" | wc -l)" = 2 ] || fail "strangers, seed $seed, $*: $said"
    grep -q "${4:-a connection from 10.77.0.[12]:[0-9]* was turned away}" <<<"$said" || fail "strangers, seed $seed, $*: $said"
    echo "ok   strangers, ${3:-auto}: $(grep -o "[0-9]* attacks" <<<"$said" | paste -sd ,), $(grep "did it all" <<<"$said")"
}
beset 2 2000
beset 1 500 'tcp;ofi_rxm'
# Where libfabric makes no calls that Heddle could answer (this version goes on making them), strangers come in. Messages of theirs that
# fail end no job either.
FI_TCP_IO_URING=1 beset 1 0 auto "a message without a sender's name has failed" breaks-off,too-long,message
if [ -n "$all" ]; then
    for half_open in 0 100 4000 12000; do
        for provider in auto 'tcp;ofi_rxm'; do beset 20 "$half_open" "$provider"; done
    done
fi

# Windows: data, atomics, a target that computes; ranks that wait sleep, also after strangers have written to their ports.
"$build/bin/mpicc" -O1 -o "$build/tests/machines/windows" "$here/windows.c" || fail "windows.c does not compile"
said=$(python3 "$here/with_machines.py" --machines 2 --ranks-each 2 --when "a window is open" "python3 $here/garbage.py $seed" -- \
    timeout "$hangs_after" "$hydra" -n 4 "$build/tests/machines/windows" 2>&1) || fail "windows, garbage $seed: $said"
grep -q "garbage to [1-9]" <<<"$said" || fail "windows, garbage $seed: $said"
echo "ok   $(tail -n 1 <<<"$said")"

# A flush of one rank, and its unlock, wait for no other rank.
"$build/bin/mpicc" -O1 -o "$build/tests/machines/flush" "$here/flush.c" || fail "flush.c does not compile"
said=$(on 2 2 timeout "$hangs_after" "$hydra" -n 4 "$build/tests/machines/flush" 2>&1) || fail "flush: $said"
echo "ok   $said"

# Collective operations by leaders: 3 ranks and 1; machines in turns; several leaders. Then with messages on each machine, under
# other models, up to a number of bytes, by name, and where other algorithms are chosen.
"$build/bin/mpicc" -O1 -o "$build/tests/machines/leaders" "$here/leaders.c" || fail "leaders.c does not compile"
leaders() { # leaders MACHINES RANKS-EACH RANKS [MOST-BYTES [VARIABLE=VALUE..]]
    local machines=$1 each=$2 ranks=$3 most=${4-}
    said=$(on "$machines" "$each" env "${@:5}" timeout "$hangs_after" "$hydra" -n "$ranks" "$build/tests/machines/leaders" $most 2>&1) || fail "leaders $*: $said"
    [ "$most" = -1 ] || grep -q "operations by leaders: [1-9]" <<<"$said" || fail "leaders $*: $said"
    echo "ok   leaders: $*"
}
chosen() { # chosen BARRIER BCAST REDUCE ALLREDUCE ALLGATHER: the settings that choose these algorithms
    printf 'HEDDLE_%s_ALGORITHM=%s\n' BARRIER "$1" BCAST "$2" REDUCE "$3" ALLREDUCE "$4" ALLGATHER "$5"
}
up_to() { # up_to BYTES: the settings that choose leaders up to that many bytes
    printf "HEDDLE_%s_LEADERS_BYTES=$1\n" BCAST REDUCE ALLREDUCE ALLGATHER
}
for shape in "2 3 4" "2 1 4" "3 2 6" "4 2 7"; do leaders $shape; done
leaders 2 2 4 '' HEDDLE_BLACKBOARDS=off
for model in lock-free offload; do leaders 2 3 4 '' HEDDLE_MODEL="$model"; done
leaders 2 2 4 1000 $(up_to 1000)
leaders 2 2 4 '' $(chosen leaders leaders leaders leaders leaders) $(up_to 0)
leaders 2 2 4 -1 $(chosen dissemination binomial binomial recursive-doubling bruck)

# Delay, loss and frames out of order change nothing but the time.
slow() { # slow RANKS-EACH COMMAND..
    python3 "$here/with_machines.py" --machines 2 --ranks-each "$1" --netem "delay 1ms 0.5ms loss 1% reorder 5%" -- "${@:2}"
}
said=$(slow 1 timeout "$hangs_after" "$hydra" -n 2 "$build/tests/machines/long" far 2>&1) || fail "a bad network: $said"
echo "ok   a bad network: $said"

# Collectives against a naive oracle, and random programs, with any number of ranks per machine.
oracle() { # oracle SEEDS OPERATIONS
    OPERATIONS=$2 on 3 2 tests/collective/run.sh "$hydra" "$build/bin/mpicc" "$1" 2>&1
}
at_random() { # at_random RUNS [--windows]
    on 3 1 python3 tests/random/run.py --mpicc "$build/bin/mpicc" --mpiexec "$hydra" --models auto,lock-free,offload \
        --runs "$@" 2>&1
}
said=$(oracle "$seed" "$([ -n "$all" ] && echo 500 || echo 40)") || fail "collectives, seed $seed: $said"
echo "ok   collectives against the oracle: $(tail -n 1 <<<"$said")"
for windows in "" --windows; do
    said=$(at_random "$([ -n "$all" ] && echo 200 || echo 3)" $windows) || fail "random programs $windows: $said"
    echo "ok   random programs $windows: $(tail -n 1 <<<"$said")"
done

if [ -n "$all" ]; then
    for provider in 'udp;ofi_rxd' shm; do
        HEDDLE_FABRIC=$provider programs 2 1 --models auto \
            -k '^(p2p|large|coll_all|threads_p2p|win_una|win_random|unexpected_f|partitioned$)' || exit
    done
    models=$("$build/bin/heddle" models --names --form heddle | paste -sd ,)
    programs 2 1 --models "$models" -k "$on_machines" && programs 4 2 --models auto -k "$on_machines" || exit
    # It is built where the packages can be fetched. testSharedQuery takes it that all ranks share memory with rank 0.
    tests/mpi4py/run.sh "$build" "$build/mpi4py" --ranks 1 -k test_address >/dev/null || fail "mpi4py cannot be built"
    MPIEXEC=$hydra on 2 2 tests/mpi4py/run.sh "$build" "$build/mpi4py" --ranks "2 4" -x testSharedQuery
    exit
fi
# The end of a session is no collective operation.
programs 4 1 --models auto -k '^(sessions_again|threads_sessions)' || exit
# Nor is a flush complete because other threads' operations are.
programs 2 1 --models auto -k '^win_flush_threads' || exit
# Threads that access and expose a window do not block each other in one critical section.
programs 2 1 --models global-mutex -k '^win_post_threads' || exit
models=$("$build/bin/heddle" models --names --form heddle | tail -n +2 | paste -sd ,)
programs 2 1 --models auto --few 8 -k \
    '^(abort|buffers|cancel|coll_(all|many|messages|requests)|comm_(create|free_p)|error_fatal|graph|intercomm|large|late|neigh|p2p|partitioned$|pers|probe|sessions_(after|errors)|signals|test_s|threads_(comm|order|p2p|partitioned|wait)|trunc|type_mess|unexpected_f|wild|win_(e|h|lock_l|random|una|wi))' \
    && programs 3 2 --models "$models" --sample 1 -k '^(p2p_order|probe|threads_(order|p2p)|unexpected_flood|win_random)'
