#!/usr/bin/env python3
"""Gives random input to what reads it: arguments of mpiexec, environment variables, info keys and values, and graph files.

Input is taken or refused with a message that names what is wrong. A panic, a signal, a hang, another exit status or a silent
refusal is a failure; the command that repeats it is printed. Each input follows from the seed, its target and its number.
What lies in a ring has tests of its own: garbage_tests.rs in crates/transport, checked/tests.rs in crates/message.
With HEDDLE_TEST_SECONDS the targets share so many seconds. The last line is `N passed, M failed`.
"""

import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NUMBERS = ["0", "1", "2", "3", "-1", "+1", "007", "1e3", "0x10", "65537", "4294967295", "4294967296", "2147483648",
           "-9223372036854775809", "18446744073709551615", "18446744073709551616", "9" * 40, " 1", "1 ", "1.5", "", "nan", "²"]
CHARACTERS = ["a", "Z", "-", "--", "=", ":", ",", ".", "/", " ", "\t", "\n", "\r", "%", "#", "\\", "\"", "'", "{", "}", "*",
              "\x01", "\x7f", "é", "\u202e", "\udcff", "\udc80", "𝄞"]


class Draw(random.Random):
    """Random texts. A lone surrogate stands for a byte that is no UTF-8."""

    def text(self, most):
        return "".join(self.choice(CHARACTERS) for _ in range(self.randrange(most + 1)))

    def word(self, known):
        """A known word, perhaps damaged, or a number, or anything."""
        kind = self.random()
        if kind < 0.45:
            return self.choice(known)
        if kind < 0.65:
            return self.choice(NUMBERS)
        if kind < 0.85:
            return self.damaged(self.choice(known + NUMBERS))
        return self.text(self.choice([3, 12, 2000]))

    def damaged(self, word):
        for _ in range(self.randrange(1, 4)):
            at = self.randrange(len(word) + 1)
            cut = at + self.choice([0, 0, 1, 2])
            word = word[:at] + self.choice(["", *CHARACTERS, *NUMBERS, word]) + word[cut:]
        return word

    def bytes_of(self, text):
        return os.fsencode(text)


class Problem(Exception):
    """Something that input must not cause."""


def run(command, timeout, env):
    """Runs a command in a group of its own. Returns its status and its output; a hang or a panic is a problem."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                               start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        # A process that has ended did not hang: this one was stopped for long.
        hangs = process.poll() is None
        if hangs:
            os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        if hangs:
            raise Problem(f"still running after {timeout} s\n{err.decode(errors='replace')}") from None
    text = err.decode(errors="replace")
    if "panicked" in text or process.returncode < 0 or process.returncode == 101 or "killed by" in text:
        raise Problem(f"status {process.returncode}\n{text}")
    return process.returncode, out.decode(errors="replace"), text


def expect(condition, what, status, err):
    if not condition:
        raise Problem(f"{what}: status {status}\n{err}")


def is_many(word):
    """Whether a word asks for more ranks than a test should start."""
    number = re.fullmatch(r"(?:[^=]*=)?\+?([0-9]+)", word)
    return number is not None and 4 < int(number[1]) <= 65536


class Fuzz:
    def __init__(self, options, folder):
        self.build = options.build.resolve()
        self.mpiexec = str(self.build / "bin" / "mpiexec")
        self.timeout = options.timeout
        self.folder = pathlib.Path(folder)
        self.taken = self.refused = 0
        reference = (ROOT / "docs" / "reference.md").read_text()
        self.variables = sorted(set(re.findall(r"`(HEDDLE_[A-Z_]+)`", reference)))
        keys = reference[reference.index("\n## Info keys"):reference.index("\n## What an unexpected")]
        rows = re.findall(r"^\| `([a-z_]+)` \| ([^|]*) \|", keys, re.M)
        self.keys = sorted({key for key, _ in rows})
        self.values = sorted({value.strip(" `") for _, values in rows for value in re.split(r"[,;]", values)} - {""})
        self.models = subprocess.run([self.build / "bin" / "heddle", "models", "--names"], stdout=subprocess.PIPE, text=True,
                                     check=True).stdout.split()

    def run(self, command, changes=()):
        """Runs a command without Heddle's variables in the environment, except for changes."""
        plain = {name: value for name, value in os.environb.items() if not name.startswith(b"HEDDLE_")}
        status, out, err = run(command, self.timeout, plain | dict(changes))
        if status == 0:
            self.taken += 1
        else:
            self.refused += 1
        return status, out, err

    def program(self, name):
        binary = self.folder / name
        if not binary.exists():
            mpicc = self.build / "bin" / "mpicc"
            command = [mpicc, "-std=c11", "-Wall", "-Wextra", "-O1", HERE / f"{name}.c", "-o", binary]
            if name == "graph500":
                command = ["make", "-s", "-C", ROOT / "examples" / name, f"CC={mpicc}", f"BUILD={self.folder}"]
            subprocess.run(command, check=True)
        return str(binary)

    def launcher(self, draw):
        """Arguments of mpiexec. The programs are harmless, and no number of ranks between 4 and 65536 is drawn."""
        options = [["-n", "2"], ["-np", "3"], ["--np=1"], ["-env", "NAME", "value"], ["-genv", "NAME", ""], ["-wdir", "/tmp"],
                   ["-wd", "/"], ["-l"], ["--bind-to", "core"], ["--bind-to=none"], ["-bind-to", "none"],
                   ["--hosts", "localhost"], ["-host", "localhost:2"], ["-f", "/nowhere/machines"]]
        programs = [["/bin/true"], ["--", "/bin/true", "-n"], ["/bin/false"], ["/nowhere/nothing"], ["/"], ["/dev/null"]]
        words = []
        for _ in range(draw.choice([1, 1, 2, 3])):
            block = draw.sample(options, draw.randrange(4)) + [draw.choice(programs[:2] if draw.random() < 0.7 else programs)]
            words += [":"] * bool(words) + [word for part in block for word in part]
        known = [*words, "-h", "--help", "--version", "-V", "-", "A=B"]
        for _ in range(draw.choice([0, 0, 1, 1, 2, 4])):
            at = draw.randrange(len(words) + 1)
            words[at:at + draw.randrange(2)] = [draw.word(known)]
        words = [word for word in words if not is_many(word)]
        # No launcher for other machines is there, in case a word becomes the name of one.
        changes = {b"PATH": os.fsencode(self.folder / "no-programs")}
        status, out, err = self.run([self.mpiexec, *map(draw.bytes_of, words)], changes)
        expect(status in (0, 1, 2, 126, 127), "an odd status", status, err)
        expect(status == 0 or "mpiexec: " in err, "a silent refusal", status, err)
        expect(status != 2 or out == "", "a refusal with output", status, err)

    def settings(self, draw):
        """Environment variables: Heddle's settings, and what mpiexec hands to its ranks."""
        inner = ["HEDDLE_RANK", "HEDDLE_SIZE", "HEDDLE_APPNUM", "HEDDLE_JOB_FD", "HEDDLE_JOB_PATH", "HEDDLE_JOB_ID"]
        known = self.models + ["on", "off", "any", "0-1", "0,1,", "1-0", "0-1023", "adaptive", "unlimited", "atomic", "p-mcs-clh",
                               "p-p-mcs-mcs-mcs", "p--", "none", "one", "collect", "lockq", "queue-rw", "offload"]
        names = draw.sample(inner if draw.random() < 0.3 else self.variables, draw.randrange(1, 4))
        changes = {}
        for name in names:
            changes[name.encode()] = draw.bytes_of(draw.word(known))
        command = [self.program("infos"), os.devnull]
        if names[0] not in inner and draw.random() < 0.3:
            command = [self.mpiexec, "-n", "2", *command]
        status, _, err = self.run(command, changes)
        says = any(name in err for name in names) or "model" in err
        expect(status == 0 or says, f"a refusal that names none of {', '.join(names)}", status, err)

    def infos(self, draw):
        """Info keys and values."""
        pairs = []
        for _ in range(draw.randrange(1, 6)):
            pairs += [draw.word(self.keys), draw.word(self.values + ["true", "false", "MPI_THREAD_MULTIPLE", "mpi://WORLD"])]
        path = self.folder / "pairs"
        path.write_bytes(b"".join(draw.bytes_of(word) + b"\0" for word in pairs))
        command = [self.program("infos"), str(path)]
        if draw.random() < 0.5:
            command = [self.mpiexec, "-n", "2", *command]
        status, _, err = self.run(command)
        expect(status == 0, "refused", status, err)

    def graphs(self, draw):
        """Graph files of examples/graph500: a right file with damaged lines."""
        data = ROOT / "examples" / "graph500" / "data"
        small = ["0 1", "1 2", "2 0", "# comment", "3 4 0.5"]
        market = ["%%MatrixMarket matrix coordinate real general", "% comment", "3 3 2", "1 2 0.5", "3 1 -1e3"]
        text = draw.choice([small, market, (data / "karate.txt").read_text(errors="replace").splitlines()])
        lines = list(text)
        for _ in range(draw.choice([0, 1, 1, 2, 5])):
            at = draw.randrange(len(lines)) if lines else 0
            new = draw.choice([draw.damaged(draw.choice(text)), " ".join(draw.word(small) for _ in range(draw.randrange(5))),
                               draw.text(40), draw.choice(market)])
            lines[at:at + draw.randrange(3)] = [new]
        content = b"\n".join(map(draw.bytes_of, lines))
        if draw.random() < 0.05:
            content = content[:draw.randrange(len(content) + 1)] + draw.randbytes(draw.randrange(60))
        path = self.folder / "graph"
        path.write_bytes(content)
        options = ["--no-progress", "--roots", "2", "--input", str(path)]
        command = [self.mpiexec, "-n", str(draw.choice([1, 2])), self.program("graph500"), *options]
        status, out, err = self.run(command)
        expect(status in (0, 2, 3), "an odd status", status, err)
        expect(status != 0 or "validated" in out, "no tree", status, out + err)
        expect(status == 0 or err.count("graph500: ") == 1, "not one message", status, err)


TARGETS = ["launcher", "settings", "infos", "graphs"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="an installation")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="default: random")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input (default 0)")
    parser.add_argument("--runs", type=int, default=150, help="inputs for each target (default 150)")
    parser.add_argument("--only", choices=TARGETS, action="append", help="a target; may be repeated")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run (default 300)")
    options = parser.parse_args()
    targets = options.only or TARGETS
    limit = float(os.environ.get("HEDDLE_TEST_SECONDS") or "inf") / len(targets)
    passed = failed = 0
    print(f"seed {options.seed}: {options.runs} inputs each for {', '.join(targets)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="heddle-fuzz-") as folder:
        fuzz = Fuzz(options, folder)
        for target in targets:
            fuzz.taken = fuzz.refused = 0
            since = time.monotonic()
            for number in range(options.first, options.first + options.runs):
                if time.monotonic() - since > limit:
                    break
                try:
                    getattr(fuzz, target)(Draw(f"{options.seed} {target} {number}"))
                    passed += 1
                except Problem as problem:
                    failed += 1
                    print(f"FAIL {target} {number}: {problem}")
                    print(f"    again: {sys.argv[0]} {options.build} --seed {options.seed} --only {target} --first {number} "
                          "--runs 1", flush=True)
            print(f"{target}: {fuzz.taken} taken, {fuzz.refused} refused", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
