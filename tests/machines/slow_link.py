"""A switch of its own between network namespaces, whose links are slow and lossy.

The words are those of tc's netem: `delay 5ms`, `delay 5ms 2ms` (give or take 2 ms), `loss 1%`, `reorder 5%` (frames that pass
the others by without delay), `rate 100mbit`. The kernel's own netem is not everywhere; this needs TAP devices alone.
"""

import ctypes
import fcntl
import heapq
import os
import random
import re
import select
import struct
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0002, 0x1000, 0x40000000
LONGEST_FRAME = 65535


def tap(namespace, device):
    """Makes a TAP device in a namespace; returns its descriptor, which the device lasts as long as."""
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(descriptor):
        if libc.setns(descriptor, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the namespace {namespace}")

    with open("/proc/self/ns/net") as here, open(f"/run/netns/{namespace}") as there:
        enter(there.fileno())
        try:
            descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TAP | IFF_NO_PI))
        finally:
            enter(here.fileno())
    return descriptor


class Link:
    """What happens to each frame."""

    def __init__(self, words):
        def find(pattern):
            found = re.search(pattern, words)
            return [float(group or 0) for group in found.groups()] if found else [0.0, 0.0]

        self.delay, self.jitter = (ms / 1000 for ms in find(r"delay ([\d.]+)ms(?: ([\d.]+)ms)?"))
        self.loss = find(r"loss ([\d.]+)%")[0] / 100
        self.reorder = find(r"reorder ([\d.]+)%")[0] / 100
        self.bytes_a_second = find(r"rate ([\d.]+)mbit")[0] * 1e6 / 8
        known = r"(delay [\d.]+ms( [\d.]+ms)?|loss [\d.]+%|reorder [\d.]+%|rate [\d.]+mbit)"
        if not re.fullmatch(rf"{known}( {known})*", words):
            raise SystemExit(f"{words!r}: words like `delay 5ms 2ms loss 1% reorder 5% rate 100mbit` are wanted")
        self.busy_until = 0.0

    def arrival(self, now, length):
        """When a frame arrives; None if it is lost."""
        if random.random() < self.loss:
            return None
        if self.bytes_a_second:
            now = self.busy_until = max(now, self.busy_until) + length / self.bytes_a_second
        if random.random() < self.reorder:
            return now
        return now + self.delay + random.uniform(-self.jitter, self.jitter)


def relay(taps, words):
    """Carries frames between TAP devices, for ever."""
    links = {descriptor: Link(words) for descriptor in taps}
    waiting, number = [], 0
    poller = select.poll()
    for descriptor in taps:
        poller.register(descriptor, select.POLLIN)
    while True:
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, _, sender, frame = heapq.heappop(waiting)
            for receiver in taps:
                if receiver != sender:
                    try:
                        os.write(receiver, frame)
                    except OSError:
                        pass  # a device that is down, or full, loses the frame
        timeout = max(0, (waiting[0][0] - now) * 1000) if waiting else None
        for descriptor, _ in poller.poll(timeout):
            try:
                frame = os.read(descriptor, LONGEST_FRAME)
            except OSError:
                continue
            arrival = links[descriptor].arrival(time.monotonic(), len(frame))
            if arrival is not None:
                number += 1
                heapq.heappush(waiting, (arrival, number, descriptor, frame))
