"""One scheduling group for all that runs on the machines.

The kernel gives each session of processes the same share of the cores (its autogroups). Each machine's launcher begins one, so
ranks of machines that share cores here would not make way for each other by yielding: a hand-over takes a time slice, and a group gets next
to nothing for seconds. Machines have cores of their own. So all processes are put into one control group of the processor's, where
the kernel makes no groups of sessions. Where it lets nobody make a control group, they stay where they are.
"""

import os
import pathlib
import time

ROOTS = [pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")]


def control_group_of_this_process(root):
    """Where this process is in the hierarchy of control groups below a root."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if ("" if root == ROOTS[-1] else "cpu") in controllers.split(","):
            return root / path.lstrip("/")
    return root


class SchedulingGroup:
    """The group. This process and those that it starts are in it from `enter` to `leave`."""

    def __init__(self, name):
        self.name = name
        self.home = self.group = None

    def enter(self):
        """Makes the group and moves this process there."""
        for root in ROOTS:
            group = root / self.name
            try:
                self.home = control_group_of_this_process(root)
                group.mkdir()
            except OSError:
                continue
            try:
                # Without these the group has no say about the processor.
                if any((group / weight).exists() for weight in ("cpu.shares", "cpu.weight")):
                    (group / "cgroup.procs").write_text(str(os.getpid()))
                    self.group = group
                    return
            except OSError:
                pass
            group.rmdir()

    def leave(self):
        """Moves this process back and removes the group."""
        if not self.group:
            return
        (self.home / "cgroup.procs").write_text(str(os.getpid()))
        for _ in range(100):
            try:
                return self.group.rmdir()
            except OSError:
                # Processes that were killed are still ending.
                time.sleep(0.02)
