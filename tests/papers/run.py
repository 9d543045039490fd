#!/usr/bin/env python3
"""Runs every experiment of `heddle papers` in a short form, and checks that nothing is missing.

    tests/papers/run.py BUILD

Two threads, one round: whether a statement is true is no part of this. Each experiment of the list has to launch all its
systems without a failure, to measure each of them and to draw its picture, and each statement has to be compared with figures,
but for those that are about cache misses, which many machines do not count.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

# Pictures whose figures a machine may lack.
OPTIONAL = "cache misses"


def wrong(folder, page, listed):
    """What is missing, in words."""
    found = []
    names = re.findall(r"^All figures: \[(.+)\.json\]", page, re.M)
    for name in names:
        results = json.loads((folder / f"{name}.json").read_text())
        if not results["complete"]:
            found.append(f"{name} is not complete")
        found += [f"{name}: {it['library']}, {it['case']}: {it['how']}" for it in results["failures"]]
        found += [
            f"{name}: not measured: {it['figure']}: {it['paper']}"
            for it in results["statements"]
            if it["verdict"] == "not-measured" and OPTIONAL not in it["paper"]
        ]
        measured = {measurement["library"] for measurement in results["measurements"]}
        lost = {library["name"] for library in results["libraries"]} - measured
        found += [f"{name}: nothing was measured for {library}" for library in sorted(lost)]
        if not (folder / f"{name}.svg").is_file():
            found.append(f"{name} has no picture")
    if len(names) != listed or not listed:
        found.append(f"the page has {len(names)} experiments of {listed}")
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1])
    folder = build / "test" / "papers"
    shutil.rmtree(folder, ignore_errors=True)
    short = "--no-peers --threads 1,2 --rounds 1 --reps 1 --seconds 0.02".split()
    papers = [build / "bin" / "heddle", "papers"]
    command = [*papers, *short, "--peers-dir", folder / "peers", "--out", folder]
    subprocess.run(command, check=True)
    listing = subprocess.run([*papers, "--list"], check=True, capture_output=True, text=True).stdout
    listed = sum(not line.startswith(" ") for line in listing.splitlines())
    missing = wrong(folder, (folder / "page.md").read_text(), listed)
    print("\n".join(missing) or "every experiment has all its figures")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
