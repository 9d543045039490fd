#!/usr/bin/env python3
"""Measures Heddle and other MPI libraries between two machines, which network namespaces of this one play.

  bench/machines.py [--peers mpich,mpich-ucx,openmpi,impi,heddle-flat,heddle-leaders] [--rounds 5] [--cases REGEX] [--seconds 0.2] [--list]

Each library compiles `mtbench` with its own mpicc and starts it with its own launcher (Heddle with MPICH's Hydra); the
libraries take turns, case by case and round by round. Prints a line of JSON for each figure, and a table of medians with
the ratio to the best peer at the end. Peers are installed under .peers/ by `heddle bench --list --peers ..`, or by hand.
Needs root, as tests/machines/with_machines.py does.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = pathlib.Path(os.environ.get("HEDDLE_PEERS", ROOT / ".peers"))
MACHINES = [sys.executable, str(ROOT / "tests/machines/with_machines.py"), "--machines"]
REMOTE = ROOT / "tests/machines/remote"
# Stands in the arguments of a launcher that fills machines by itself.
RANKS_EACH = "RANKS_EACH"

# A name, the arguments of mtbench, the ranks of each machine, and the machines if they are not two.
CASES = [
    ("latency 8 B", "latency --sizes 8", 1),
    ("latency 1 KiB", "latency --sizes 1K", 1),
    ("latency 64 KiB", "latency --sizes 64K", 1),
    ("bandwidth 64 KiB", "bandwidth --sizes 64K", 1),
    ("bandwidth 1 MiB", "bandwidth --sizes 1M", 1),
    ("bandwidth 4 MiB", "bandwidth --sizes 4M", 1),
    *(
        (f"rate 8 B, {threads} threads, {comms}", f"rate --sizes 8 --threads {threads} --comms {comms}", 1)
        for threads in (1, 2, 4, 8, 16)
        for comms in ("per-thread", "shared")
    ),
    ("clients 16", "clients --sizes 8 --threads 16", 1),
    # Two ranks of one machine, alone and while two of another machine wait.
    *(
        (f"{subject} 8 B within a machine, {machines} machines", f"{subject} --sizes 8 --comms per-thread --onlookers {2 * machines - 2}", 2, machines)
        for subject in ("latency", "rate")
        for machines in (1, 2)
    ),
    *(
        (f"{name}, target {target}", f"{arguments} --target {target}", 1)
        for target in ("sleeps", "waits")
        for name, arguments in (
            ("put 8 B", "put --sizes 8"),
            ("put 8 B, 4 threads", "put --sizes 8 --threads 4"),
            ("get 8 B", "put --op get --sizes 8"),
            ("accumulate 8 B", "put --op accumulate --sizes 8"),
            ("fetch and add 8 B, 64 and a flush", "put --op fetch --sizes 8"),
            ("put 64 KiB", "put --sizes 64K"),
            ("get 64 KiB", "put --op get --sizes 64K"),
            ("put and flush 8 B", "putlatency --sizes 8"),
            ("get and flush 8 B", "putlatency --op get --sizes 8"),
            ("fetch and add 8 B", "putlatency --op fetch --sizes 8"),
        )
    ),
    *(
        (f"{op}{' ' + size if size else ''}, {machines} x {each}", f"collective --comms per-thread --op {op} --sizes {size.replace(' ', '').rstrip('iB') or 8}", each, machines)
        for machines, each in ((2, 4), (4, 2))
        for op, sizes in (
            ("barrier", [""]),
            *((op, ["8 B", "1 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"]) for op in ("bcast_turns", "reduce_turns", "allreduce")),
            ("allgather", ["8 B", "1 KiB", "16 KiB", "64 KiB", "256 KiB"]),
        )
        for size in sizes
    ),
]
# Heddle with each collective operation among all processes, and with each by leaders.
FLAT = {
    "HEDDLE_BARRIER_ALGORITHM": "dissemination",
    "HEDDLE_BCAST_LEADERS_BYTES": "0",
    "HEDDLE_REDUCE_LEADERS_BYTES": "0",
    "HEDDLE_ALLREDUCE_LEADERS_BYTES": "0",
    "HEDDLE_ALLGATHER_LEADERS_BYTES": "0",
}
LEADERS = {f"HEDDLE_{operation}_ALGORITHM": "leaders" for operation in ("BARRIER", "BCAST", "REDUCE", "ALLREDUCE", "ALLGATHER")}


class Library:
    """How a library compiles and starts a program."""

    def __init__(self, name, folder, launcher, environment=(), arguments=()):
        self.name, self.mpicc, self.launcher = name, folder / "bin/mpicc", launcher
        self.environment, self.arguments = dict(environment), list(arguments)
        self.program = ROOT / f"build/bench/mtbench-{name}"

    def compile(self):
        self.program.parent.mkdir(parents=True, exist_ok=True)
        sources = sorted(str(source) for source in (ROOT / "bench").glob("*.c"))
        command = [str(self.mpicc), "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-pthread", *sources, "-o", str(self.program), "-lm"]
        subprocess.run(command, check=True, env=os.environ | self.environment)

    def run(self, arguments, each, machines, seconds):
        """The figures of one run, as mtbench prints them; none if it fails."""
        command = [*MACHINES, str(machines), "--ranks-each", str(each), "--", "timeout", "120", str(self.launcher)]
        command += [str(each) if argument == RANKS_EACH else argument for argument in self.arguments]
        command += ["-n", str(machines * each), str(self.program), *arguments.split(), "--reps", "3", "--seconds", str(seconds)]
        done = subprocess.run(command, env=os.environ | self.environment, capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or not lines:
            print(f"{self.name}: {arguments}: status {done.returncode}: {done.stderr[-300:]}", file=sys.stderr)
        return [json.loads(line) for line in lines]


def libraries(peers):
    hydra = PEERS / "mpich/bin/mpiexec"
    known = {
        "heddle": Library("heddle", ROOT / "build", hydra),
        "heddle-flat": Library("heddle-flat", ROOT / "build", hydra, FLAT),
        "heddle-leaders": Library("heddle-leaders", ROOT / "build", hydra, LEADERS),
        "mpich": Library("mpich", PEERS / "mpich", hydra, {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}),
        "mpich-ucx": Library("mpich-ucx", PEERS / "mpich", hydra, {"MPIR_CVAR_CH4_NETMOD": "ucx", "UCX_TLS": "tcp,self"}),
        "openmpi": Library(
            "openmpi",
            PEERS / "openmpi",
            PEERS / "openmpi/bin/mpiexec",
            {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_plm_ssh_agent": str(REMOTE)},
            "--allow-run-as-root --oversubscribe --bind-to none --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth0".split(),
        ),
        "impi": Library(
            "impi",
            PEERS / "impi",
            PEERS / "impi/bin/mpiexec",
            {"I_MPI_ROOT": str(PEERS / "impi"), "I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp", "I_MPI_PIN": "0"},
            ["-bootstrap", "ssh", "-bootstrap-exec", str(REMOTE), "-ppn", RANKS_EACH],
        ),
    }
    unknown = [name for name in peers if name not in known]
    if unknown:
        raise SystemExit(f"there is no peer {', '.join(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in ["heddle", *peers]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="mpich,mpich-ucx,openmpi,impi")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", default=".", help="only those whose names match")
    parser.add_argument("--seconds", type=float, default=0.2, help="of one repetition")
    parser.add_argument("--list", action="store_true", help="only name the cases")
    options = parser.parse_args()
    cases = [case for case in CASES if re.search(options.cases, case[0])]
    if options.list:
        print("\n".join(name for name, *_ in cases))
        return
    taking_part = libraries([name for name in options.peers.split(",") if name])
    for library in taking_part:
        library.compile()
    print(f"{'median of ' + str(options.rounds):34}" + "".join(f"{one.name:>14}" for one in taking_part) + "   to the best peer")
    for name, arguments, each, *machines in cases:
        values = {library.name: [] for library in taking_part}
        unit = ""
        for turn in range(options.rounds):
            for library in taking_part:
                for figure in library.run(arguments, each, *(machines or [2]), options.seconds):
                    print(json.dumps({"library": library.name, "round": turn, "case": name} | figure), file=sys.stderr)
                    values[library.name].append(figure["value"])
                    unit = figure.get("unit", "")
        smaller_is_better = unit == "us"
        medians = {library: statistics.median(found) for library, found in values.items() if found}
        others = [value for library, value in medians.items() if library != "heddle"]
        ratio = ""
        if others and "heddle" in medians:
            best = min(others) if smaller_is_better else max(others)
            ratio = f"{best / medians['heddle'] if smaller_is_better else medians['heddle'] / best:8.2f}"
        row = "".join(f"{medians.get(one.name, float('nan')):14.5g}" for one in taking_part)
        print(f"{name + ' [' + unit + ']':34}{row}   {ratio}", flush=True)


if __name__ == "__main__":
    main()
