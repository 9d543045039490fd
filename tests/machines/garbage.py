#!/usr/bin/env python3
"""Connects to every TCP port that somebody listens to in this network namespace, and writes garbage.

  garbage.py SEED [FILE]

Prints how many ports there were. The listeners are libfabric's; what they make of garbage is their matter, but the
job goes on. FILE is made when all is written.
"""

import pathlib
import random
import socket
import sys

LISTENING = "0A"


def ports():
    """Addresses and ports that are listened to, from the kernel's table."""
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == LISTENING:
            address, port = fields[1].split(":")
            host = socket.inet_ntoa(bytes.fromhex(address)[::-1])
            yield ("127.0.0.1" if host == "0.0.0.0" else host), int(port, 16)


def main():
    chance = random.Random(int(sys.argv[1]))
    targets = sorted(set(ports()))
    for target in targets:
        for length in (0, 1, 7, 64, 300, 5000):
            try:
                with socket.create_connection(target, timeout=5) as stranger:
                    stranger.sendall(bytes(chance.randrange(256) for _ in range(length)))
            except OSError:
                pass  # refused, or closed in the middle: both are answers
    for file in sys.argv[2:]:
        pathlib.Path(file).touch()
    print(f"garbage to {len(targets)} ports")


if __name__ == "__main__":
    main()
