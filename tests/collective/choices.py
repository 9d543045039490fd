#!/usr/bin/env python3
"""Draws an algorithm for each collective operation, and the switch points:  tests/collective/choices.py HEDDLE SEED TABLE

HEDDLE: the program `heddle`, which names the variables and their values. Prints them as `NAME=value`, one a line. Half of
the operations have no algorithm of their own: the file TABLE has some for them, by the number of processes and bytes.
"""

import pathlib
import random
import re
import subprocess
import sys

heddle, seed, table = sys.argv[1:]
page = subprocess.run([heddle, "info", "--reference"], stdout=subprocess.PIPE, text=True, check=True).stdout
section = page.split("\n## Collective operations\n")[1].split("\n## ")[0]
rows = re.findall(r"^\| `(HEDDLE_\w+)` \| ([^|]*) \| ([^|]*) \|", section, re.MULTILINE)
if not rows:
    sys.exit("heddle info --reference names no variables of collective operations")
draw = random.Random(seed)
rules = []
for name, values, default in rows:
    operation = re.fullmatch(r"HEDDLE_(\w+)_ALGORITHM", name)
    if name == "HEDDLE_COLLECTIVES":
        print(f"{name}={table}")
    elif not operation:
        print(f"{name}={draw.choice([0, int(default) // 16, int(default), 2**31 - 1])}")
    elif draw.random() < 0.5:
        print(f"{name}={draw.choice(values.split(', '))}")
    else:
        for _ in range(6):
            first, last = sorted([draw.randint(1, 9), draw.randint(1, 9)])
            least = draw.choice([0, 8, 100, 4000, 70000])
            bytes_range = draw.choice([f"{least}..", f"..{least}", f"{least}..{least * 8}"])
            rules.append(f"{operation[1].lower()} {first}..{last} {bytes_range} {draw.choice(values.split(', '))}")
pathlib.Path(table).write_text("\n".join(rules) + "\n")
