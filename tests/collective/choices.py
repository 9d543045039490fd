#!/usr/bin/env python3
"""Draws an algorithm for each collective operation, and the switch points:  tests/collective/choices.py HEDDLE SEED

HEDDLE: the program `heddle`, which names the variables and their values. Prints them as `NAME=value`, one a line.
"""

import random
import re
import subprocess
import sys

heddle, seed = sys.argv[1:]
page = subprocess.run([heddle, "info", "--reference"], stdout=subprocess.PIPE, text=True, check=True).stdout
section = page.split("\n## Collective operations\n")[1].split("\n## ")[0]
rows = re.findall(r"^\| `(HEDDLE_\w+)` \| ([^|]*) \| ([^|]*) \|", section, re.MULTILINE)
if not rows:
    sys.exit("heddle info --reference names no variables of collective operations")
draw = random.Random(seed)
for name, values, default in rows:
    if name.endswith("_ALGORITHM"):
        print(f"{name}={draw.choice(values.split(', '))}")
    else:
        print(f"{name}={draw.choice([0, int(default) // 16, int(default), 2**31 - 1])}")
