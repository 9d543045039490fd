#!/usr/bin/env python3
"""Builds the C test programs and runs them over ranks, thread levels and models.

A program describes itself in `// key: value` lines at its top:

  ranks: 1 4-8        numbers of ranks (default 1-8)
  levels: multiple    thread levels, passed as the argument `level=NAME` (default: all four; `none`: the program
                      initialises MPI in its own way)
  expect: ok          `fail`: the exit status must not be 0; `exit N`: it must be N
  output: REGEX       standard output and error together must match
  launcher: mpiexec   `none`: run without mpiexec (ranks are ignored)
  args: WORDS         further arguments
  variants: WORDS     one more argument, each of these: a run for each of them (default: those that have settings)
  models: default     under the default model only, whatever --models says: the program is about parts of a model
  settings: A=1 B=2   environment variables; `settings VARIANT:` those of one variant; ./FILE lies beside the program.
                      The program is a test that each of them acts: without it, it has to fail (tests/c/settings.py). May
                      stand on several lines
  timeout: SECONDS    in place of --timeout
  heddle: only        checks what only Heddle promises; skipped with --oracle
  oracle: skip WHY    the oracle is known to be wrong here; skipped with --oracle
  abi: standard WHY   cannot be compiled for another ABI, or asks what another one answers otherwise; skipped with --abi

Each program runs with every number of ranks at every level, under every model at every level, and under every model
with every number of ranks, in as few runs as that takes. `--cover all`: every combination of the three; `--cover each`:
every value once at least, in combinations drawn at random; `--cover one`: only the most ranks at the highest level, under every
model.

`--sample N` runs each program under N of the models only, drawn at random for each program; `--few N` runs N of the programs
only; `--most N` makes no more than N combinations for `--cover each`, so that of a factor with more values N are drawn.
A run that draws prints its seed; the variable HEDDLE_TEST_SEED repeats the draw, or with `all` everything runs. With
HEDDLE_TEST_SECONDS the runs come in random order, and none begins after so many seconds; those left out count as skipped.

The last line printed is `N passed, M failed, K skipped`, counting runs.
"""

import argparse
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
LEVELS = ["single", "funneled", "serialized", "multiple"]
KEYS = {"ranks", "levels", "expect", "output", "launcher", "args", "variants", "models", "settings", "timeout", "heddle", "oracle", "abi"}
CFLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-g", "-O1", "-pthread"]


@dataclasses.dataclass
class Program:
    source: pathlib.Path
    keys: dict
    binary: pathlib.Path = None
    error: str = ""
    lacks: tuple = ()
    being_built: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    @property
    def name(self):
        return self.source.stem

    def levels(self):
        asked = self.keys.get("levels", "").split()
        return [None] if asked == ["none"] else asked or LEVELS

    def variants(self):
        named = [variant for variant in self.keys.get("settings", {}) if variant]
        return self.keys.get("variants", "").split() or named or [""]

    def settings(self, variant):
        """The environment variables of a variant."""
        given = self.keys.get("settings", {})
        found = given.get("", {}) | (given.get(variant, {}) if variant else {})
        beside = self.source.resolve().parent
        return {name: str(beside / value) if value.startswith("./") else value for name, value in found.items()}

    def ranks(self, allowed):
        if self.keys.get("launcher") == "none":
            return [0]
        return [n for n in numbers(self.keys.get("ranks", "1-8")) if n in allowed]

    def runs(self, allowed, models, cover, seed=0, most=None):
        """The runs with the allowed numbers of ranks and these models, by the values of --cover and --most."""
        if self.keys.get("models") == "default":
            models = [""]
        factors = [self.ranks(allowed), self.levels(), models]
        if not factors[0]:
            return []
        shift = zlib.crc32(self.name.encode())
        if cover == "pairs":
            chosen = covering(factors, shift)
        elif cover == "each":
            chosen = each(factors, random.Random(f"{seed} {self.name}"), most)
        else:
            if cover == "one":
                factors[:2] = factors[0][-1:], factors[1][-1:]
            chosen = itertools.product(*factors)
        variants = self.variants()
        return [Run(self, *values, variant) for values in chosen for variant in variants]


def draw(models, count, seed, program):
    """The models for a program: all, or that many, in their order."""
    if not count or count >= len(models):
        return models
    chosen = random.Random(f"{seed} {program.name}").sample(range(len(models)), count)
    return [models[i] for i in sorted(chosen)]


def numbers(text):
    """The numbers in a text like `1 4-8`."""
    found = []
    for word in text.split():
        first, _, last = word.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def covering(factors, shift):
    """The fewest choices of one value of each of three factors in which any two values of different factors meet.

    All combinations of the two longer factors; the values of the shortest go round with both of them. The shift says
    which value of the shortest begins, so that programs differ in the combinations of three that they run.
    """
    order = sorted(range(3), key=lambda f: len(factors[f]), reverse=True)
    long, middle, short = (factors[f] for f in order)
    for (i, a), (j, b) in itertools.product(enumerate(long), enumerate(middle)):
        found = dict(zip(order, (a, b, short[(i + j + shift) % len(short)])))
        yield tuple(found[f] for f in range(3))


def each(factors, random_numbers, most):
    """Choices of one value of each factor in which each value comes once at least, as few as there can be; with `most`, no more
    than that, and of a factor with more values so many are drawn."""
    count = max(len(values) for values in factors)
    count = min(count, most or count)
    columns = []
    for values in factors:
        column = random_numbers.sample(values, min(count, len(values)))
        columns.append(list(itertools.islice(itertools.cycle(column), count)))
        random_numbers.shuffle(columns[-1])
    return zip(*columns)


@dataclasses.dataclass
class Run:
    program: Program
    ranks: int
    level: str
    model: str
    variant: str

    def label(self):
        parts = [self.program.name, f"n={self.ranks}" if self.ranks else "no launcher"]
        if self.level:
            parts.append(self.level)
        if self.model:
            parts.append(self.model)
        if self.variant:
            parts.append(self.variant)
        return " ".join(parts)


def read_keys(source):
    keys = {}
    for line in source.read_text().splitlines():
        if not line.startswith("//"):
            break
        found = re.match(r"// *([a-z]+)(?: ([a-z0-9-]+))?: *(.*)$", line)
        if found and found[1] == "settings":
            pairs = dict(word.split("=", 1) for word in found[3].split())
            keys.setdefault("settings", {}).setdefault(found[2] or "", {}).update(pairs)
        elif found and found[1] in KEYS and not found[2]:
            keys[found[1]] = found[3].strip()
    return keys


def is_built(program, command, note, options):
    """Whether the binary is there, made by this command, and no older than what it was made of."""
    if not program.binary.exists() or not note.exists() or note.read_text() != shlex.join(command):
        return False
    wrapper = pathlib.Path(shutil.which(options.mpicc[0]) or options.mpicc[0]).resolve()
    read = [program.source, *program.source.parent.glob("*.h"), *(wrapper.parent.parent / "include").glob("mpi*.h")]
    return max(file.stat().st_mtime for file in read) < program.binary.stat().st_mtime


def lacks_names(output):
    """The names of MPI that an older header lacks, of which a program that does not compile makes use."""
    pattern = r"error: .*(?:implicit declaration of function|unknown type name) .(MPI_\w+)|error: .(MPI_\w+). undeclared"
    return tuple(sorted({function or name for function, name in re.findall(pattern, output)}))


def build(program, options, folder):
    """Compiles a program, unless it is there. Others may do so in the same folder at the same time."""
    program.binary = folder / program.name
    command = [*options.mpicc, *CFLAGS, *options.cflags, *(["-DHEDDLE_TEST_ORACLE"] if options.oracle else []), str(program.source)]
    if options.abi:
        command.append("-Werror=implicit-function-declaration")
    note = folder / f"{program.name}.command"
    if is_built(program, command, note, options):
        return
    new = folder / f"{program.name}.{os.getpid()}"
    done = subprocess.run([*command, "-o", str(new)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 and options.abi and lacks_names(done.stdout):
        program.lacks = lacks_names(done.stdout)
        return
    if done.returncode != 0:
        program.error = f"does not compile: {shlex.join(command)}\n{done.stdout}"
        return
    if done.stdout.strip():
        print(done.stdout, end="")
    new.replace(program.binary)
    note.write_text(shlex.join(command))


def command_of(run, options):
    program = [str(run.program.binary)]
    if run.level:
        program.append(f"level={run.level}")
    program += run.program.keys.get("args", "").split()
    if run.variant:
        program.append(run.variant)
    if not run.ranks:
        return program
    return [*options.mpiexec, "-n", str(run.ranks), *program]


def execute(run, options, left_out=None):
    """Runs one configuration, without one of its settings if it is to be left out; returns (problem or None, seconds)."""
    if run.program.error:
        return run.program.error, 0.0
    command = command_of(run, options)
    environment = dict(os.environ)
    if run.model:
        environment["HEDDLE_MODEL"] = run.model
    if options.abi and not run.ranks:
        # Otherwise the launcher says where the library of that ABI is.
        environment["LD_LIBRARY_PATH"] = str(pathlib.Path(options.mpiexec[0]).resolve().parent.parent / "lib" / "compat")
    environment.update((name, value) for name, value in run.program.settings(run.variant).items() if name != left_out)
    timeout = float(run.program.keys.get("timeout", options.timeout))
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True
        )
        late = False
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            late = True
            status = stop(process)
        text = ends_of(output).decode(errors="replace")
    seconds = time.monotonic() - began
    problem = f"still running after {timeout:g} s" if late else judge(run.program.keys, status, text)
    if problem:
        model = f"HEDDLE_MODEL={run.model} " if run.model else ""
        problem = f"{problem}\n  command: {model}{shlex.join(command)}\n" + "\n".join(
            "  | " + line for line in text.splitlines()[-40:]
        )
    return problem, seconds


def ends_of(output):
    """What a file holds, without its middle if that is long: a program may fail again and again until its time is up."""
    length, most = output.seek(0, os.SEEK_END), 1 << 20
    output.seek(0)
    if length <= 2 * most:
        return output.read()
    first = output.read(most)
    output.seek(-most, os.SEEK_END)
    return first + b"\n..\n" + output.read()


def stop(process):
    """Ends the group of a run that is late: the launcher may still clean up, then it is killed."""
    for number, patience in ((signal.SIGTERM, 3), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, number)
            return process.wait(patience)
        except ProcessLookupError:
            return process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    return -1


def judge(keys, status, text):
    expect = keys.get("expect", "ok")
    if expect == "ok" and status != 0:
        return f"exit status {status}"
    if expect == "fail" and status == 0:
        return "exit status 0, a failure was expected"
    if expect.startswith("exit ") and status != int(expect.split()[1]):
        return f"exit status {status}, wanted {expect.split()[1]}"
    if "output" in keys and not re.search(keys["output"], text):
        return f"output does not match {keys['output']!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", type=shlex.split, default=["mpicc"], help="compiler wrapper (default mpicc)")
    parser.add_argument("--mpiexec", type=shlex.split, default=["mpiexec"], help="launcher, with options (default mpiexec)")
    parser.add_argument("--models", default="", help="values of HEDDLE_MODEL, separated by commas")
    parser.add_argument("--ranks", type=numbers, default="1-128", help="only these numbers of ranks, such as `2 4-8` (default: all a program names)")
    parser.add_argument("--cflags", type=shlex.split, default=[], help="further flags for the compiler")
    parser.add_argument("-k", dest="pattern", default="", help="only programs whose name matches this regular expression")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE, help="where the programs are (default: beside run.py)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one run (default 600)")
    parser.add_argument("--oracle", action="store_true", help="the library is not Heddle: skip what only Heddle promises")
    parser.add_argument("--abi", help="the compiler is for this ABI, not the standard's: skip what is about the standard's")
    parser.add_argument("--cover", choices=["pairs", "all", "each", "one"], default="pairs", help="which combinations, see above (default pairs)")
    parser.add_argument("--sample", type=int, metavar="N", help="each program under N of the models only, drawn at random")
    parser.add_argument("--few", type=int, metavar="N", help="N of the programs only, drawn at random")
    parser.add_argument("--most", type=int, metavar="N", help="N combinations of each program at most, drawn at random")
    parser.add_argument("--build-dir", type=pathlib.Path, help="where binaries go and stay for the next run (default: a temporary folder)")
    options = parser.parse_args()

    models = options.models.split(",") if options.models else [""]
    sources = sorted(s for s in options.folder.glob("*.c") if re.search(options.pattern, s.stem))
    seed = os.environ.get("HEDDLE_TEST_SEED") or str(random.randrange(1 << 32))
    if seed == "all":
        options.sample = options.few = options.most = None
        options.cover = "all" if options.cover == "each" else options.cover
    drawn = []
    if options.few and options.few < len(sources):
        drawn.append(f"{options.few} of {len(sources)} programs")
        sources = sorted(random.Random(seed).sample(sources, options.few))
    if options.sample:
        drawn.append(f"each program under {options.sample} of {len(models)} models")
    if options.cover == "each":
        drawn.append("combinations of ranks, levels and models")
    drawn = ", ".join([*drawn, f"HEDDLE_TEST_SEED={seed}"]) if drawn else ""
    limit = float(os.environ.get("HEDDLE_TEST_SECONDS") or "inf")
    programs = [Program(source, read_keys(source)) for source in sources]
    began = time.monotonic()
    passed = failed = skipped = 0
    lock = threading.Lock()
    if drawn:
        print(drawn, flush=True)

    with tempfile.TemporaryDirectory(prefix="heddle-c-") as scratch:
        folder = options.build_dir or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        runs = []
        for program in programs:
            why = program.keys.get("oracle", "") if options.oracle else ""
            if options.oracle and program.keys.get("heddle") == "only":
                why = "only Heddle promises this"
            if options.abi:
                why = program.keys.get("abi", "").removeprefix("standard")
            if why:
                print(f"skip {program.name}: {why.removeprefix('skip').strip()}", flush=True)
                skipped += 1
                continue
            found = program.runs(options.ranks, draw(models, options.sample, seed, program), options.cover, seed, options.most)
            if found:
                runs.append(found)

        if not runs and not skipped:
            print(f"FAIL: no program in {options.folder} matches {options.pattern!r}")
            failed += 1

        if limit < float("inf"):
            runs = [[run] for of_one in runs for run in of_one]
            random.Random(seed if seed != "all" else None).shuffle(runs)

        def one_program(runs_of_it):
            nonlocal passed, failed, skipped
            if time.monotonic() - began > limit:
                skipped += len(runs_of_it)
                return
            with runs_of_it[0].program.being_built:
                build(runs_of_it[0].program, options, folder)
            if runs_of_it[0].program.lacks:
                with lock:
                    skipped += 1
                    print(f"skip {runs_of_it[0].program.name}: the header lacks {' '.join(runs_of_it[0].program.lacks)}", flush=True)
                return
            if runs_of_it[0].program.error:
                runs_of_it = runs_of_it[:1]
            for run in runs_of_it:
                problem, seconds = execute(run, options)
                with lock:
                    if problem:
                        failed += 1
                        print(f"FAIL {run.label()}: {problem}", flush=True)
                    else:
                        passed += 1
                        print(f"ok   {run.label()} ({seconds:.1f} s)", flush=True)

        with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
            list(pool.map(one_program, runs))

    if failed and drawn:
        print(drawn)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
