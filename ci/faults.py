#!/usr/bin/env python3
"""Plants faults in a copy of the sources, one at a time; a test has to find each.

    ci/faults.py loom|thread [NAME]... [--sample N [--seed S]]     plant them (all, those named, or a random few)
    ci/faults.py check                                             only look whether each still applies
    ci/faults.py loom|thread --sound                               the same tests without a fault: each has to pass

A fault is a patch, `crates/CRATE/tests/faults/NAME.patch`: one or two lines on what is wrong, a line for each test
that has to find it, and a unified diff with little context.

    A lock's release does not publish what its holder wrote.
    loom: loom_mutex an_unpublished_value_is_found: Causality violation
    thread: sanitizers_bite races::mutex: ThreadSanitizer: data race
    --- a/crates/sync/src/lock/mutex.rs
    ...

`loom: FILE TEST: SYMPTOM` is a model, `thread: ...` a test under ThreadSanitizer. FILE is one of the crate's tests, or
`lib` for the tests beside its code (`src/**/loom_tests`). The test is marked with `with_fault!`, so that
an ordinary run leaves it out. With the fault it has to fail, and to say SYMPTOM; a build that fails finds nothing.

Every run first checks all patches: the lines that a hunk shows have to stand in the file exactly once, every patch
names a test that exists, and every test with `with_fault!` is named by a patch. Numbers of lines do not count, so a
patch outlives changes elsewhere in its file.
"""

import argparse
import fcntl
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
TREE = BASE / "target" / "faults" / "tree"
TEST_LINE = re.compile(r"(loom|thread): (\S+) (\S+): (.+)")
# Seconds until a test that hangs is ended; with a fault nearly all fail within one.
PATIENCE = 600


class Fault:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        self.crate = path.parent.parent.parent
        header, mark, diff = path.read_text().partition("--- a/")
        self.tests = [match.groups() for match in map(TEST_LINE.fullmatch, header.splitlines()) if match]
        self.hunks = list(hunks(mark + diff))

    def apply(self, read):
        """The files that the fault changes, with their text; `read` gives what a path has now."""
        changed, problems = {}, []
        for path, old, new in self.hunks:
            text = changed.get(path) or read(path)
            count = text.count(old)
            if count != 1:
                where = "nowhere" if count == 0 else f"{count} times"
                problems.append(f"{path} has these lines {where}:\n{old}")
                continue
            changed[path] = text.replace(old, new)
        return changed, problems


def hunks(diff):
    """The path, the old and the new lines of each hunk."""
    path, old, new = None, [], []
    for line in diff.splitlines(keepends=True) + ["@@\n"]:
        if line.startswith(("@@", "--- ", "+++ ")):
            if old or new:
                yield path, "".join(old), "".join(new)
            old, new = [], []
            if line.startswith("--- a/"):
                path = line[len("--- a/") :].strip()
        elif line[0] in " -+":
            if line[0] != "+":
                old.append(line[1:])
            if line[0] != "-":
                new.append(line[1:])


def test_sources(crate):
    """The sources of the crate's tests, each with the name that a patch gives it."""
    yield from ((source.stem, source) for source in crate.glob("tests/*.rs"))
    beside = [*crate.glob("src/**/loom_tests.rs"), *crate.glob("src/**/loom_tests/*.rs")]
    yield from (("lib", source) for source in beside)


def check(faults):
    """What is wrong with the patches themselves."""
    problems, named = [], {}
    for fault in faults:
        if not fault.tests or not fault.hunks:
            problems.append(f"{fault.path}: it names no test, or changes nothing")
        _, unfit = fault.apply(lambda path: (BASE / path).read_text())
        problems.extend(f"{fault.path} does not apply: {problem}" for problem in unfit)
        for _, file, test, _ in fault.tests:
            named.setdefault((fault.crate, file, test.split("::")[-1]), fault.path)
    marked = set()
    for crate in {fault.crate for fault in faults}:
        for file, source in test_sources(crate):
            for block in re.split(r"^\s*(?=\w+!)", source.read_text(), flags=re.MULTILINE):
                if block.startswith("with_fault!("):
                    text = re.sub(r"///[^\n]*", "", block)
                    marked.add((crate, file, re.match(r"with_fault!\(\s*(\w+)", text)[1]))
                elif block.startswith("with_fault! {"):
                    for name in re.findall(r"^ {8}(\w+):(?!:)", block, re.MULTILINE):
                        marked.add((crate, file, name))
    problems.extend(f"no patch in {crate / 'tests' / 'faults'} names {file} {test}, which is marked with_fault!"
                    for crate, file, test in sorted(marked - named.keys()))
    problems.extend(f"{named[crate, file, test]}: it names {file} {test}, and {file} has no with_fault! of this name"
                    for crate, file, test in sorted(named.keys() - marked))
    return problems


def copy_sources(tree, change=lambda path, text: text):
    """Brings the copy up to date; what has not changed keeps its time, so that it is not built again. `change` gives
    what stands in the copy in place of a file's bytes."""
    wanted = set()
    for root in ("Cargo.toml", "Cargo.lock", "crates"):
        source = BASE / root
        files = [source] if source.is_file() else source.rglob("*")
        for file in files:
            if file.is_file() and "target" not in file.relative_to(BASE).parts:
                wanted.add(file.relative_to(BASE))
    for file in wanted:
        there, content = tree / file, change(str(file), (BASE / file).read_bytes())
        if not there.is_file() or there.read_bytes() != content:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(content)
    for there in [*tree.rglob("*")]:
        if there.is_file() and there.relative_to(tree) not in wanted:
            there.unlink()


def renamed(path, content):
    """The file with another version of Heddle's crates in it: cargo tells what it builds of the copy from what it builds
    of the sources by this alone, and both have one folder."""
    if path == "Cargo.toml":
        return re.sub(rb'(?m)^version = "([^"]+)"', rb'version = "\1-planted"', content, count=1)
    if path == "Cargo.lock":
        return re.sub(rb'(name = "heddle-[^"]+"\nversion = "[^"]+)"', rb'\1-planted"', content)
    return content


def build(kind, crate, file):
    """The test program `file`, or what the compiler said."""
    package = re.search(r'^name\s*=\s*"([^"]+)"', (crate / "Cargo.toml").read_text(), re.MULTILINE)[1]
    target = ["--lib"] if file == "lib" else ["--test", file]
    command = ["cargo", "test", "--no-run", "--message-format=json-render-diagnostics", "-p", package, *target]
    environment = dict(os.environ)
    # The flags and folders of ci/loom.sh and ci/sanitize.sh: what other crates gave to their tests is there.
    if kind == "loom":
        command += ["--profile", "loom"]
        environment |= {"RUSTFLAGS": "--cfg loom", "CARGO_INCREMENTAL": "1",
                        "CARGO_TARGET_DIR": str(BASE / "target/loom")}
    else:
        host = re.search(r"^host: (.*)$", subprocess.check_output(["rustc", "-vV"], text=True), re.MULTILINE)[1]
        command += ["--target", host, "-Zbuild-std"]
        environment |= {"RUSTC_BOOTSTRAP": "1", "CARGO_INCREMENTAL": "0", "CARGO_PROFILE_DEV_CODEGEN_UNITS": "1",
                        "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
                        "RUSTFLAGS": "-Zsanitizer=thread -Cdebuginfo=line-tables-only --cfg tsan",
                        "CARGO_TARGET_DIR": str(BASE / "target/sanitize-thread")}
    return test_program(command, TREE, environment, file)


def test_program(command, tree, environment, file):
    """The test program `file` that a command of cargo builds, or what the compiler said."""
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr
    for line in run.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and (file == "lib" or message["target"]["name"] == file):
            return message["executable"], ""
    return None, "cargo has built no such test"


def run(program, test, settings):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LOOM_")} | settings
    environment.setdefault("TSAN_OPTIONS", "halt_on_error=1:exitcode=66:history_size=7:allow_addr2line=1")
    command = [program, "--exact", test, "--ignored", "--nocapture", "--test-threads", "1"]
    try:
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace",
                               timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None, f"it was ended after {PATIENCE} s"
    return ended.returncode, ended.stdout + ended.stderr


def plant(fault, kind):
    """Plants a fault and runs its tests; what is wrong if one of them does not find it."""
    changed, _ = fault.apply(lambda path: (TREE / path).read_text())
    before = {path: (TREE / path).read_text() for path in changed}
    try:
        for path, text in changed.items():
            (TREE / path).write_text(text)
        for _, file, test, symptom in (each for each in fault.tests if each[0] == kind):
            program, errors = build(kind, fault.crate, file)
            if program is None:
                return f"it does not compile:\n{errors}"
            status, said = run(program, test, {})
            if "running 1 test" not in said and status is not None:
                return f"{file} has no test {test}"
            if status == 0:
                return f"{file} {test} did not notice it"
            if status is None or symptom not in said:
                return f"{file} {test} noticed something else:\n{said[-4000:]}"
    finally:
        for path, text in before.items():
            (TREE / path).write_text(text)
    return None


def sound(faults, kind):
    """Runs the tests without a fault."""
    problems = 0
    for crate, file, test in sorted({(fault.crate, file, test) for fault in faults
                                     for which, file, test, _ in fault.tests if which == kind}):
        program, errors = build(kind, crate, file)
        status, said = run(program, test, {"LOOM_MAX_DURATION": "60"}) if program else (None, errors)
        print(f"{'ok' if status == 0 else 'FAIL'}: {file} {test}, without a fault", flush=True)
        if status != 0:
            problems += 1
            print(said[-4000:])
    return problems


def main():
    parser = argparse.ArgumentParser(description="Plants faults, one at a time; a test has to find each.")
    parser.add_argument("kind", choices=["loom", "thread", "check"])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--sample", type=int, metavar="N", help="only N of them, at random")
    parser.add_argument("--seed", default=os.environ.get("HEDDLE_TEST_SEED") or str(random.randrange(1 << 32)),
                        help="of the sample (default: HEDDLE_TEST_SEED, or a new one; all: no sample)")
    parser.add_argument("--sound", action="store_true", help="run the tests without their faults")
    options = parser.parse_args()

    faults = [Fault(path) for path in sorted(BASE.glob("crates/*/tests/faults/*.patch"))]
    problems = check(faults)
    for problem in problems:
        print(f"FAIL: {problem}")
    print(f"{len(faults)} patches; {'all apply, and their tests exist' if not problems else 'see above'}", flush=True)
    if problems or options.kind == "check":
        sys.exit(1 if problems else 0)

    unknown = set(options.names) - {fault.name for fault in faults}
    if unknown:
        parser.error(f"no patch is called {', '.join(sorted(unknown))}")
    chosen = [fault for fault in faults if any(test[0] == options.kind for test in fault.tests)]
    if options.names:
        chosen = [fault for fault in chosen if fault.name in options.names]
    if options.sample is not None and options.seed != "all":
        chosen = random.Random(options.seed).sample(chosen, min(options.sample, len(chosen)))
        print(f"a sample of {len(chosen)}; again with --sample {options.sample} --seed {options.seed}", flush=True)

    TREE.mkdir(parents=True, exist_ok=True)
    # One run at a time has the copy; it is given back when this process ends.
    lock = (TREE.parent / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    copy_sources(TREE, renamed)
    if options.sound:
        sys.exit(1 if sound(chosen, options.kind) else 0)
    failed = 0
    # Faults of one test beside each other: then less is built.
    for fault in sorted(chosen, key=lambda fault: fault.tests):
        since = time.monotonic()
        problem = plant(fault, options.kind)
        failed += problem is not None
        print(f"{'FAIL' if problem else 'ok'}: {fault.name} ({time.monotonic() - since:.1f} s)", flush=True)
        if problem:
            print("    " + problem.replace("\n", "\n    "))
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
