#!/usr/bin/env python3
"""A process that does not belong to a job attacks the job's ports in this network namespace.

  stranger.py --seconds S [--while FILE] [--seed N] [--of NAME] [--half-open N] [--only ATTACK,..]

It speaks libfabric's protocol for TCP (`net`, `tcp`, `tcp;ofi_rxm`) as a peer does, and then wrongly: acknowledgements that nobody
waits for, messages that break off or are longer than any buffer, impossible headers, requests for memory, resets, a request in the
name of a peer, random changes of all that, connections that say nothing by the thousand, and what peers have sent, once more. It
looks for ports all the time, so it may run before the job starts and after its end. Attacks are made as the user `nobody`;
root is needed to see which ports belong to processes of that NAME, and to record what peers send.

Prints how many attacks there were, and of which kinds.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import resource
import socket
import struct
import sys
import time

NOBODY = 65534
LISTENING = "0A"
# Numbers of the protocol: the version of requests and of frames, kinds of requests, operations.
VERSION, REQUEST = 3, 0
MESSAGE, TAGGED, READ, READ_ANSWER, WRITE = range(5)
IS_ACKNOWLEDGEMENT = 2
HEADER = 16


def ports(of):
    """Addresses and ports that processes of that name listen to, and no others: ranks inherit ports of their launcher."""
    theirs, others = set(), set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            inodes = theirs if re.match(of, (process / "comm").read_text()) else others
            for descriptor in (process / "fd").iterdir():
                if found := re.match(r"socket:\[(\d+)\]", os.readlink(descriptor)):
                    inodes.add(found[1])
        except OSError:
            pass  # it has ended
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == LISTENING and fields[9] in theirs - others:
            address, port = fields[1].split(":")
            yield socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)


class Recorder:
    """What peers have sent to ports first: the beginnings of connections, as they are on the wire."""

    MOST = 64 << 10

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
        self.socket.setblocking(False)
        self.streams = {}

    def listen(self, targets):
        for _ in range(2000):
            try:
                packet = self.socket.recv(1 << 16)
            except BlockingIOError:
                return
            at = 4 * (packet[0] & 15)
            if packet[9] != socket.IPPROTO_TCP or len(packet) < at + 20:
                continue
            length = int.from_bytes(packet[2:4], "big")
            source, target = socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20])
            source_port, target_port = struct.unpack_from(">HH", packet, at)
            payload = packet[at + 4 * (packet[at + 12] >> 4) : length]
            if payload and (target, target_port) in targets:
                stream = self.streams.setdefault((source, source_port, target, target_port), bytearray())
                if len(stream) < self.MOST:
                    stream += payload

    def of(self, target):
        return [bytes(stream) for key, stream in self.streams.items() if key[2:] == target]


def request(port, chance, version=VERSION, kind=REQUEST, data=None):
    """A request for a connection, of a peer whose own port that is."""
    if data is None:
        data = struct.pack(">BBHI", 0, 0, port, chance.getrandbits(32))
    return struct.pack(">BBHI", version, kind, len(data), 0) + bytes(16) + struct.pack("=Q", 1) + data


def rxm(port, chance):
    """What `ofi_rxm` adds to a request: versions, byte order, the peer's port, sizes, and a number of the connection."""
    return struct.pack("=BBBBHBBIIQ", 1, 1, 4, 3, port, 0, 0, 16384, 512, chance.getrandbits(64))


def frame(size, op=MESSAGE, header=HEADER, flags=0, op_data=0, places=0, version=VERSION):
    return struct.pack("=BBHBBBBQ", version, op, flags, op_data, places, header, 0, size)


def place(chance, length=8):
    """Memory of a rank, as a stranger guesses it."""
    return struct.pack("=QQQ", chance.choice([0, 0x7F0000000000, chance.getrandbits(47)]), length, chance.choice([0, 1, chance.getrandbits(64)]))


def frames(chance):
    """Frames that no peer sends, by name."""
    some = chance.randbytes(chance.choice([1, 8, 100, 3000]))
    wrong_size = chance.choice([0, 1, 15, 17, 24, 255])
    return {
        "acknowledgement": frame(HEADER, op_data=IS_ACKNOWLEDGEMENT),
        "acknowledgements": 20 * frame(HEADER, op=chance.choice([MESSAGE, TAGGED, WRITE]), op_data=IS_ACKNOWLEDGEMENT),
        "breaks-off": frame(HEADER + 5000) + some,
        "too-long": frame(HEADER + (10 << 20)) + bytes(200 << 10),
        "endless": frame((1 << 63) + chance.getrandbits(40)) + some,
        "size-below-header": frame(chance.choice([0, 1, HEADER - 1])) + some,
        "header-size": frame(HEADER + 100, header=wrong_size) + some,
        "header-size-and-size": frame(wrong_size, header=wrong_size) + some,
        "version": frame(HEADER + 8, version=chance.choice([0, 1, 2, 4, 255])) + bytes(8),
        "operation": frame(HEADER + 8, op=chance.randrange(5, 256)) + bytes(8),
        "tagged": frame(HEADER + 108, op=TAGGED, header=24, flags=1 << 15) + chance.randbytes(108),
        "flags": frame(HEADER + 8, flags=chance.getrandbits(16)) + bytes(8),
        "read": frame(HEADER + 24, op=READ, header=HEADER + 24, places=1) + place(chance),
        "read-places": frame(HEADER + 24, op=READ, header=HEADER + 24, places=chance.choice([0, 5, 255])) + place(chance),
        "read-answer": frame(HEADER + 4096, op=READ_ANSWER) + bytes(4096),
        "write": frame(HEADER + 32, op=WRITE, header=HEADER + 24, places=1) + place(chance) + bytes(8),
        "message": frame(HEADER + len(some)) + some,
        "empty-message": frame(HEADER),
    }


def changed(text, chance):
    """The bytes with random ones changed, left out, doubled or added."""
    text = bytearray(text[:4000])
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(text) + 1)
        match chance.randrange(4):
            case 0 if at < len(text):
                text[at] = chance.choice([0, 1, 127, 128, 255, chance.randrange(256)])
            case 1:
                del text[at : at + chance.randrange(1, 9)]
            case 2:
                text[at:at] = chance.randbytes(chance.randrange(1, 9))
            case 3:
                text[at:at] = text[at : at + 40]
    return bytes(text)


class Stranger:
    def __init__(self, options):
        self.options = options
        self.chance = random.Random(options.seed)
        self.only = set(filter(None, options.only.split(",")))
        self.recorder = Recorder()
        self.made = collections.Counter()
        self.targets, self.held = [], []
        self.looked = 0

    def goes_on(self):
        gone = self.options.file and not os.path.exists(self.options.file)
        return time.monotonic() < self.end and not gone

    def look(self):
        """Finds the ports; at most ten times a second."""
        if time.monotonic() - self.looked < 0.1:
            return
        os.seteuid(0)
        self.targets = sorted(set(ports(self.options.of)))
        os.seteuid(NOBODY)
        self.looked = time.monotonic()

    def connect(self, target):
        stranger = socket.socket()
        stranger.settimeout(2)
        stranger.connect(target)
        stranger.settimeout(0.05)
        return stranger

    def attack(self, name, target, *parts, reset=False):
        """Sends the parts, each after an answer or a short while, and ends the connection."""
        if self.only and name not in self.only:
            return
        try:
            with self.connect(target) as stranger:
                for part in parts:
                    stranger.sendall(part)
                    try:
                        stranger.recv(4096)
                    except TimeoutError:
                        pass
                if reset:
                    stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass  # refused, or closed in the middle: both are answers
        self.made[name] += 1

    def hold(self, target):
        """Keeps connections that say nothing, or half of a request."""
        for _ in range(self.options.half_open // max(1, len(self.targets))):
            if len(self.held) >= self.options.half_open:
                self.held.pop(0).close()
            try:
                stranger = socket.socket()
                stranger.setblocking(False)
                self.held.append(stranger)
                stranger.connect_ex(target)
                if self.chance.random() < 0.1:
                    stranger.send(request(1, self.chance)[: self.chance.randrange(1, 40)])
            except OSError:
                pass
            self.made["half-open"] += 1

    def round(self, target):
        """Every attack once, in any order, on one port."""
        chance = self.chance
        peer = chance.choice(self.targets)[1]
        asks = [request(peer, chance), request(chance.randrange(1 << 16), chance), request(0, chance, data=rxm(peer, chance))]
        attacks = []
        for name, bad in frames(chance).items():
            ask = chance.choice(asks)
            attacks.append(lambda name=name, bad=bad, ask=ask: self.attack(name, target, ask, bad, reset=chance.random() < 0.2))
        ask, other = chance.choice(asks), chance.choice(list(frames(chance).values()))
        attacks += [
            lambda: self.attack("peers-name", target, asks[0], frame(HEADER + 8) + bytes(8)),
            lambda: self.attack("request", target, changed(ask, chance), other),
            lambda: self.attack("fuzzed", target, ask, *(changed(other, chance) for _ in range(5))),
            lambda: self.attack("nothing", target, b"", reset=chance.random() < 0.5),
            lambda: self.attack("garbage", target, chance.randbytes(chance.choice([1, 24, 300, 5000]))),
            lambda: self.attack("page-of-the-web", target, b"GET / HTTP/1.1\r\nHost: rank\r\n\r\n"),
            lambda: self.attack("reset", target, ask, other[: chance.randrange(1, 16)], reset=True),
            lambda: self.hold(target) if self.options.half_open else None,
        ]
        for stream in self.recorder.of(target)[-3:]:
            attacks.append(lambda stream=stream: self.attack("replay", target, stream))
            attacks.append(lambda stream=stream: self.attack("replay", target, changed(stream, chance)))
        chance.shuffle(attacks)
        for attack in attacks:
            self.recorder.listen(self.targets)
            if not self.goes_on():
                return
            attack()

    def run(self):
        self.end = time.monotonic() + self.options.seconds
        os.seteuid(NOBODY)
        while self.goes_on():
            self.look()
            self.recorder.listen(self.targets)
            if self.targets:
                self.round(self.chance.choice(self.targets))
            else:
                time.sleep(0.01)  # for the job to start
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(self.made.items()))
        # One write, since strangers share the output.
        sys.stdout.write(f"a stranger: {sum(self.made.values())} attacks: {kinds}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, required=True, help="the time after which no attack begins")
    parser.add_argument("--while", dest="file", default="", metavar="FILE", help="and attacks go on only while it exists")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--of", default=".", help="what the names of the attacked processes begin with")
    parser.add_argument("--half-open", type=int, default=0, help="the most connections that are kept and say nothing")
    parser.add_argument("--only", default="", help="the names of the only attacks")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (options.half_open + 256, max(options.half_open + 256, 1024)))
    Stranger(options).run()


if __name__ == "__main__":
    main()
