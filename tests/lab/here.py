#!/usr/bin/env python3
"""The lab's machine `here-2` beside the two cores of the host: how much faster or slower than the default are other models, and peers?

    here.py BUILD_DIR [--peer mpich=FOLDER] [--peer openmpi=FOLDER] [--rounds 5] [--real-time] [--subject self]

Prints tables for docs/lab.md. A cell is the system's rate over the default's, on the host and in the lab. On the host a round runs all
systems one after the other, and a ratio is of one round; the table has the medians.

A virtual machine may move a cache line there and back in 100 ns now and in 500 a moment later. mtbench says which it was, before and
after each run. So there is a table for each, where the host was so for most rounds: one beside `here-2`, one beside `here-2` with that
distance. `--real-time` (for root) keeps other work off the host's cores while mtbench runs; else the host should have none. With more
threads than cores that is another scheduler than the lab's: threads go on until they yield or sleep.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODELS = ["auto", "lock-free", "topc2019-mutex", "topc2019-mcs", "p-hmcs-mcs"]
DEFAULT = MODELS[0]
LAUNCH = {"mpich": ["-bind-to", "none"], "openmpi": ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]}
SUBJECTS = {"rate": 2, "clients": 2, "testing": 2, "self": 1}
THREADS = [1, 2, 4]
FACTOR = 1.5
# Nanoseconds of a round trip: from, to.
DISTANCES = {"near": (0, 140), "apart": (400, 600)}
# As many rounds more may pass until each distance has enough.
PATIENCE = 3

System = collections.namedtuple("System", "name launcher bench variables")
Case = collections.namedtuple("Case", "subject threads")


def compile_bench(compiler, folder, name):
    """mtbench for one library."""
    made = folder / f"mtbench-{name}"
    sources = map(str, sorted((HERE.parent.parent / "bench").glob("*.c")))
    subprocess.run([str(compiler), "-std=c11", "-O2", "-pthread", *sources, "-o", str(made), "-lm"], check=True)
    return made


def systems(build, peers):
    """Heddle's models, then the peers."""
    folder = build / "tests" / "lab"
    folder.mkdir(parents=True, exist_ok=True)
    own = compile_bench(build / "bin" / "mpicc", folder, "here")
    found = [System(model, [build / "bin" / "mpiexec"], own, {"HEDDLE_MODEL": model}) for model in MODELS]
    for name, root in peers:
        bench = compile_bench(root / "bin" / "mpicc", folder, name)
        found.append(System(name, [root / "bin" / "mpiexec", *LAUNCH[name]], bench, {}))
    return found


def record_of(system, case, prefix, options, limit):
    """What mtbench says; None if it does not end."""
    command = [*prefix, *system.launcher, "-n", SUBJECTS[case.subject], system.bench, case.subject, "--threads", case.threads]
    command += ["--level", "multiple", "--reps", 1, *options]
    environment = {**os.environ, **system.variables}
    try:
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=limit, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as why:
        print(f"{system.name}, {case}: {why}", file=sys.stderr)
        return None
    return json.loads(re.search(r'{"bench".*}', done.stdout)[0])


def ratios(rates):
    """Of each system to the default; without those that have not ended."""
    default = rates.get(DEFAULT)
    return {name: rate / default for name, rate in rates.items() if default and rate and name != DEFAULT}


def on_host(case, all_systems, rounds, prefix):
    """By distance, of each system the median of its ratios; every other round goes backwards."""
    found = {distance: collections.defaultdict(list) for distance in DISTANCES}
    for number in range(rounds * PATIENCE):
        rates = {distance: {} for distance in DISTANCES}
        for system in all_systems if number % 2 == 0 else all_systems[::-1]:
            record = record_of(system, case, prefix, ["--seconds", 0.1, "--warm", 0.02], 30)
            for distance, (least, most) in DISTANCES.items():
                if record and record["probe_ns"] and least <= min(record["probe_ns"]) <= max(record["probe_ns"]) <= most:
                    rates[distance][system.name] = record["value"]
        for distance, several in rates.items():
            for name, ratio in ratios(several).items():
                found[distance][name].append(ratio)
        if any(all(len(several[system.name]) >= rounds for system in all_systems[1:]) for several in found.values()):
            break
    return {
        distance: {name: statistics.median(values) for name, values in several.items() if len(values) > rounds // 2}
        for distance, several in found.items()
    }


def in_lab(case, all_systems, lab):
    """The ratios in the lab, once: it is repeatable. More threads than cores take turns, each a slice of 1.5 ms."""
    options = ["--seconds", 0.003 * case.threads, "--warm", 0.001, "--no-probe"]
    records = {system.name: record_of(system, case, lab, options, 900) for system in all_systems}
    return ratios({name: record and record["value"] for name, record in records.items()})


def machine(distance, folder):
    """The lab's machine for it: a round trip is four transfers and 8 ns."""
    if distance == "near":
        return "here-2"
    transfer = (sum(DISTANCES[distance]) / 2 - 8) / 4
    file = folder / f"here-2-{distance}"
    costs = "".join(f"{cost} = {transfer}\n" for cost in ("cluster", "socket", "far", "clean"))
    file.write_text(f'base = "here-2"\n[costs]\n{costs}')
    return file


def print_table(distance, others, real, simulated):
    """Both sides of each ratio; those in bold differ too much."""
    near, compared = 0, 0
    print(f"\n{distance}, {DISTANCES[distance][0]} to {DISTANCES[distance][1]} ns:\n")
    print(f"| subject | threads | {' | '.join(f'`{name}`' if name in MODELS else name for name in others)} |")
    print(f"|---|---:|{'---:|' * len(others)}")
    for case in real:
        cells = []
        for name in others:
            here, there = real[case][distance].get(name), simulated[case].get(name)
            if here is None or there is None:
                cells.append("–")
                continue
            is_near = 1 / FACTOR <= there / here <= FACTOR
            near, compared = near + is_near, compared + 1
            cells.append(f"{here:.2f} / {there:.2f}" if is_near else f"**{here:.2f} / {there:.2f}**")
        print(f"| `{case.subject}` | {case.threads} | {' | '.join(cells)} |")
    print(f"\nOf {compared} ratios {near} lie within a factor of {FACTOR}.", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--peer", action="append", default=[], metavar="mpich|openmpi=FOLDER", help="an installation of a peer")
    parser.add_argument("--rounds", type=int, default=5, help="on the host (5)")
    parser.add_argument("--subject", action="append", choices=SUBJECTS, help="only this one; may be repeated")
    parser.add_argument("--real-time", action="store_true", help="mtbench goes before all other work of the host")
    parser.add_argument("--heddle", type=pathlib.Path, help="the command (BUILD_DIR/bin/heddle)")
    parser.add_argument("--host-core", type=int, default=1, help="for the lab (1)")
    options = parser.parse_args()
    build = options.build.resolve()
    named = [peer.partition("=") for peer in options.peer]
    if any(name not in LAUNCH for name, _, _ in named):
        parser.error(f"a peer is one of {', '.join(LAUNCH)}")
    all_systems = systems(build, [(name, pathlib.Path(root).resolve()) for name, _, root in named])
    cases = [Case(subject, threads) for subject in options.subject or SUBJECTS for threads in THREADS]
    lab = [options.heddle or build / "bin" / "heddle", "lab", "--host-core", options.host_core]
    prefix = ["chrt", "--rr", 1] if options.real_time else []
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        jobs = {
            distance: {case: pool.submit(in_lab, case, all_systems, [*lab, machine(distance, build / "tests" / "lab"), "--"]) for case in cases}
            for distance in DISTANCES
        }
        real = {case: on_host(case, all_systems, options.rounds, prefix) for case in cases}
        for distance, several in jobs.items():
            if any(real[case][distance] for case in cases):
                print_table(distance, [system.name for system in all_systems[1:]], real, {case: job.result() for case, job in several.items()})
            for job in several.values():
                job.cancel()


if __name__ == "__main__":
    main()
