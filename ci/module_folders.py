#!/usr/bin/env python3
"""Finds modules that stand beside the folder of the files below them.

    ci/module_folders.py

A module with files below it is a folder with a `mod.rs`: so a listing shows it once. The script prints `FILE` of every
`NAME.rs` beside a folder `NAME`, and exits with 1 if there is one. It first sees that it finds one that it makes up.
"""

import sys
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent


def beside_folders(sources):
    """The sources beside a folder of their name that has sources of its own."""
    folders = {source.parent for source in sources}
    return [source for source in sources if source.with_suffix("") in folders]


def main():
    if beside_folders([Path("a.rs"), Path("a/b.rs"), Path("c/mod.rs"), Path("c/d.rs")]) != [Path("a.rs")]:
        sys.exit("module_folders.py does not find a module that it made up")
    # A build script is a crate's root, and may have files below it.
    found = beside_folders(sorted(BASE.glob("crates/*/*/**/*.rs")))
    for source in found:
        path = source.relative_to(BASE)
        print(f"{path}: move it to {path.with_suffix('')}/mod.rs, to the files below it")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
