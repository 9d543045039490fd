#!/usr/bin/env python3
"""Runs random MPI programs: builds random_traffic.c and runs it with seed after seed, over ranks, threads and models. With
--windows the program is win_random.c of tests/c, one-sided operations under every algorithm of window locks.

Each run is named by its seed and repeats exactly (up to the library's timing). A failure prints the command that repeats it.
With HEDDLE_TEST_SECONDS no run begins after so many seconds.
The last line is `N passed, M failed`.
"""

import argparse
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
WINDOW_LOCKS = ["queue-rw", "rma-rw", "rma-mcs", "d-mcs", "spin", "rw", "adaptive"]
CFLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-g", "-O1", "-pthread"]


def stop(process):
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience)
            return
        except ProcessLookupError:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def run(command, environment, timeout):
    """Runs a command in a group of its own; returns (problem or None, output)."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True
        )
        problem = None
        try:
            status = process.wait(timeout)
            if status != 0:
                problem = f"exit status {status}"
        except subprocess.TimeoutExpired:
            problem = f"still running after {timeout:g} s"
            stop(process)
        output.seek(0)
        return problem, output.read().decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", type=shlex.split, default=["mpicc"], help="compiler wrapper (default mpicc)")
    parser.add_argument("--mpiexec", type=shlex.split, default=["mpiexec"], help="launcher, with options (default mpiexec)")
    parser.add_argument("--models", default="", help="values of HEDDLE_MODEL, separated by commas, taken in turn")
    parser.add_argument("--combinations", type=pathlib.Path,
                        help="a file with lines of VARIABLE=VALUE .., taken in turn, instead of --models")
    parser.add_argument("--windows", action="store_true", help="random one-sided programs instead of messages")
    parser.add_argument("--cflags", type=shlex.split, default=[], help="further flags for the compiler")
    parser.add_argument("--runs", type=int, default=20, help="how many programs (default 20)")
    parser.add_argument("--seed", type=int, help="the first seed (default: from the clock); run i has seed + i")
    parser.add_argument("--ops", type=int, default=300, help="steps in a round (default 300)")
    parser.add_argument("--ranks", default="", help="numbers of ranks, taken in turn (default: from the seed, 1 to 5)")
    parser.add_argument("--threads", default="", help="threads per rank, taken in turn (default: from the seed, 1 to 6)")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one run (default 600)")
    options = parser.parse_args()

    first = options.seed if options.seed is not None else int(time.time()) * 1000
    models = [f"HEDDLE_MODEL={model}" if model else "" for model in options.models.split(",")]
    if options.combinations:
        models = options.combinations.read_text().splitlines()
    limit = float(os.environ.get("HEDDLE_TEST_SECONDS") or "inf")
    passed = failed = 0
    since = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="heddle-random-") as folder:
        binary = pathlib.Path(folder) / "random_program"
        source = HERE.parent / "c" / "win_random.c" if options.windows else HERE / "random_traffic.c"
        build = [*options.mpicc, *CFLAGS, *options.cflags, str(source), "-o", str(binary)]
        if subprocess.run(build).returncode != 0:
            print(f"does not compile: {shlex.join(build)}")
            return 1
        for i in range(options.runs):
            if time.monotonic() - since > limit:
                break
            seed = first + i
            choice = random.Random(seed)
            ranks = choice.randint(1, 5)
            threads = choice.randint(1, 6)
            if options.ranks:
                ranks = int(options.ranks.split()[i % len(options.ranks.split())])
            if options.threads:
                threads = int(options.threads.split()[i % len(options.threads.split())])
            model = models[i % len(models)]
            if options.windows:
                model = f"{model} HEDDLE_WIN_LOCK={choice.choice(WINDOW_LOCKS)}".lstrip()
                arguments = [f"seed={seed}", f"phases={options.ops // 5}"]
            else:
                arguments = ["--seed", seed, "--ops", options.ops, "--threads", threads, "--timeout", options.timeout]
            arguments = [str(argument) for argument in arguments]
            environment = dict(os.environ)
            environment.update(word.split("=", 1) for word in model.split())
            command = [*options.mpiexec, "-n", str(ranks), str(binary), *arguments]
            began = time.monotonic()
            problem, output = run(command, environment, options.timeout + 10)
            what = f"seed {seed} n={ranks} threads={threads}{' ' + model if model else ''}"
            if problem:
                failed += 1
                again = f"{model} {sys.argv[0]} --runs 1 --seed {seed}".lstrip()
                again += f" --ops {options.ops} --ranks {ranks} --threads {threads}{' --windows' * options.windows}"
                print(f"FAIL {what}: {problem}\n  repeat with: {again} --mpicc ... --mpiexec ...")
                print("\n".join("  | " + line for line in output.splitlines()[-30:]), flush=True)
            else:
                passed += 1
                print(f"ok   {what} ({time.monotonic() - began:.1f} s)", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
