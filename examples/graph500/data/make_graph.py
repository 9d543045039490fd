#!/usr/bin/env python3
"""Makes town.mtx: streets of an invented town, as a Matrix Market file.

    python3 make_graph.py > town.mtx

A grid of 200 x 100 crossings, numbered along its rows. Of the streets between neighbouring
crossings one in eight is missing; 400 motorways join crossings anywhere; one district of 30 x 20
crossings is an island that no road reaches. The result is the same on every machine: numbers come
from a linear congruential generator that is written out here.
"""

WIDTH, HEIGHT = 200, 100
MISSING_ONE_IN = 8
MOTORWAYS = 400
ISLAND_LEFT, ISLAND_TOP, ISLAND_WIDTH, ISLAND_HEIGHT = 150, 60, 30, 20


def random_numbers(seed):
    """Upper 31 bits of x -> a x + c mod 2^64 (Knuth's MMIX constants)."""
    while True:
        seed = (6364136223846793005 * seed + 1442695040888963407) % 2**64
        yield seed >> 33


def crossing(x, y):
    return y * WIDTH + x + 1


def on_island(x, y):
    return (ISLAND_LEFT <= x < ISLAND_LEFT + ISLAND_WIDTH
            and ISLAND_TOP <= y < ISLAND_TOP + ISLAND_HEIGHT)


def roads():
    draw = random_numbers(seed=1)
    for y in range(HEIGHT):
        for x in range(WIDTH):
            for to_x, to_y in ((x + 1, y), (x, y + 1)):
                if to_x == WIDTH or to_y == HEIGHT:
                    continue
                built = next(draw) % MISSING_ONE_IN != 0
                if built and on_island(x, y) == on_island(to_x, to_y):
                    yield crossing(x, y), crossing(to_x, to_y)
    motorways = 0
    while motorways < MOTORWAYS:
        ends = [(next(draw) % WIDTH, next(draw) % HEIGHT) for _ in range(2)]
        if ends[0] != ends[1] and not any(on_island(x, y) for x, y in ends):
            motorways += 1
            yield crossing(*ends[0]), crossing(*ends[1])


def main():
    # A symmetric matrix stores its lower triangle: row above column.
    entries = sorted({(max(edge), min(edge)) for edge in roads()})
    print("%%MatrixMarket matrix coordinate pattern symmetric")
    print("% Streets of an invented town: " + str(WIDTH) + " x " + str(HEIGHT) + " crossings.")
    print("% Made by make_graph.py beside this file; dedicated to the public domain (CC0 1.0).")
    print(WIDTH * HEIGHT, WIDTH * HEIGHT, len(entries))
    for row, column in entries:
        print(row, column)


if __name__ == "__main__":
    main()
