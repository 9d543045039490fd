#!/usr/bin/env python3
"""Finds names that mean two things.

    ci/names.py

The name of a public type is public in one crate only, and the files of a crate define a name once: so a reader who has
met a name knows it. Names that the crates' clients write as one are excepted, see EXCEPTIONS, and so are aliases, which
stand for a type of their name (`pub type Mutex = lock::Mutex<..>`). The script prints `NAME: FILE FILE..` of each that
means two things, and exits with 1 if there is one. It first sees that it finds one that it makes up.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent

# What may stand in several places, and why.
EXCEPTIONS = {
    "Error": "of each crate, as usual in Rust",
    "Status": "of MPI, and of each interface in C",
    "Failure": "as Status",
    "Held": "what a C program holds of a lock, in both interfaces",
    "LockHandle": "as Held",
    "Comm": "a communicator: Heddle's, and as a C library that runs on any MPI sees it",
    "HashTable": "the papers', and its simulation",
    "Fissile": "a lock with a word before it: of one process, and of several",
    "Consumer": "the right to take values out: of a queue, and of a ring",
    "Node": "a thread's place in a queue lock, one for each of them",
    "Token": "as Node: what an acquisition hands to its release",
    "Ends": "as Node: both ends of its queue",
    "Guarded": "what a method of combining guards",
    "Inside": "as Guarded: a thread inside",
    "Reply": "of PMI, in either of its versions",
    "Descriptor": "what a Fortran compiler passes for a buffer: in each ABI for which the subroutines are compiled",
    "Bounds": "as Descriptor",
    "Handle": "as Descriptor",
    "FileHandle": "as Descriptor",
}

DEFINITION = re.compile(r"^(?:(pub)(\([^)]*\))? )?(?:unsafe )?(?:struct|enum|trait|union|type) ([A-Z]\w*)(.*)")


def definitions(lines):
    """`(name, is public)` of the types that lines of a source define. Tests and aliases of the same name do not count."""
    found = {}
    for number, line in enumerate(lines):
        if line.startswith("mod tests {"):
            break
        match = DEFINITION.match(line)
        if not match:
            continue
        public, narrowed, name, rest = match.groups()
        alias = rest + (lines[number + 1] if number + 1 < len(lines) else "")
        if not re.search(rf"= *(\w+::)+{name}\b", alias):
            found[name] = bool(public and not narrowed)
    return found.items()


def of_two_meanings(sources):
    """The names that `sources`, (crate, file, lines), define twice: in a crate, or publicly in two."""
    by_crate, public = defaultdict(lambda: defaultdict(set)), defaultdict(lambda: defaultdict(set))
    for crate, file, lines in sources:
        for name, is_public in definitions(lines):
            by_crate[crate][name].add(file)
            if is_public:
                public[name][crate].add(file)
    found = {name: sorted(file for files in crates.values() for file in files)
             for name, crates in public.items() if len(crates) > 1}
    for names in by_crate.values():
        found.update({name: sorted({*files, *found.get(name, ())}) for name, files in names.items() if len(files) > 1})
    return found


def check():
    made_up = [("a", "a/x.rs", ["pub struct Twice {", "struct Here;"]), ("a", "a/y.rs", ["enum Here {"]),
               ("b", "b/z.rs", ["pub enum Twice {", "pub type Once = z::Once<u8>;", "struct Here;"]),
               ("c", "c/z.rs", ["pub type Once<T> = T;", "mod tests {", "pub struct Twice;"])]
    if of_two_meanings(made_up) != {"Twice": ["a/x.rs", "b/z.rs"], "Here": ["a/x.rs", "a/y.rs"]}:
        sys.exit(f"names.py does not find what it made up: {of_two_meanings(made_up)}")


def main():
    check()
    paths = [path for path in sorted(BASE.glob("crates/*/src/**/*.rs"))
             if not re.search(r"tests|both_paths|modelled", str(path.relative_to(BASE)))]
    sources = [(path.relative_to(BASE).parts[1], str(path.relative_to(BASE)), path.read_text().splitlines())
               for path in paths]
    found = of_two_meanings(sources)
    unneeded = sorted(set(EXCEPTIONS) - set(found))
    for name in unneeded:
        print(f"{name} stands once: take it out of EXCEPTIONS")
    wrong = {name: files for name, files in found.items() if name not in EXCEPTIONS}
    for name, files in sorted(wrong.items()):
        print(f"{name}: {' '.join(files)}")
    sys.exit(1 if wrong or unneeded else 0)


if __name__ == "__main__":
    main()
