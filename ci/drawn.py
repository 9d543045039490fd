#!/usr/bin/env python3
"""Draws a sample of the input's lines by HEDDLE_TEST_SEED:  ci/drawn.py N WHAT

It prints N of the lines in their order, and with HEDDLE_TEST_SEED=all each of them. WHAT names what is drawn: with one seed
different things are drawn independently. Over the seeds each line is drawn equally often.
"""

import os
import random
import sys


def main():
    if len(sys.argv) != 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__.splitlines()[0])
    count, what = int(sys.argv[1]), sys.argv[2]
    seed = os.environ.get("HEDDLE_TEST_SEED") or sys.exit("ci/drawn.py: HEDDLE_TEST_SEED is not set: set it to a number, or to all")
    lines = sys.stdin.read().splitlines()
    places = range(len(lines))
    if seed != "all":
        places = sorted(random.Random(f"{seed} {what}").sample(places, min(count, len(lines))))
    for place in places:
        print(lines[place])


if __name__ == "__main__":
    main()
