#!/usr/bin/env python3
"""Runs a command among several machines, played by network namespaces of this one, and takes them down.

  with_machines.py --machines N [--ranks-each K] [--netem 'delay 5ms loss 1%'] [--when TEXT cut|mend|kill|launcher|daemon|COMMAND]... -- COMMAND ...

Each machine is a namespace with an address of its own (10.77.0.1, 10.77.0.2, ...) and, for what runs there, a host name
of its own; a bridge in one more namespace joins them. The command runs on the first one. MPICH's Hydra and PRRTE start ranks
on the others through `remote`, which takes the place of ssh: HYDRA_LAUNCHER_EXEC and HYDRA_HOST_FILE say so, and
PRTE_MCA_plm_ssh_agent and PRTE_MCA_prte_default_hostfile.

With `--when` the last machine fails once the command has printed a line with that text: its link is cut, or mended again, or
all of its processes are killed, or those of the launcher there (`daemon`), or the launcher on the first machine (`launcher`), or
another command runs on the last one. Processes that run in a namespace a minute after the command's end, launchers left out, are an error (99).

Needs root and Debian's iproute2. Nothing stays behind: neither namespaces, processes in them, nor the control group in which all
of them run (scheduling_group.py), also after SIGINT or SIGTERM.
"""

import argparse
import multiprocessing
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import slow_link
from scheduling_group import SchedulingGroup

HERE = pathlib.Path(__file__).resolve().parent
NETWORK = "10.77.0"
# `ip netns exec` lays files of these folders over those of /etc.
NETNS = pathlib.Path("/etc/netns")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Machines:
    """The namespaces, made by `with` and taken down at its end."""

    def __init__(self, count, netem=""):
        self.prefix = f"heddle-{os.getpid()}"
        self.switch = f"{self.prefix}-switch"
        self.names = [f"{self.prefix}-{index}" for index in range(1, count + 1)]
        self.addresses = [f"{NETWORK}.{index}" for index in range(1, count + 1)]
        self.netem = netem
        self.taps = []
        self.relay = None
        self.group = SchedulingGroup(self.prefix)

    def __enter__(self):
        try:
            self.group.enter()
            self.make()
        except BaseException:
            self.take_down()
            raise
        return self

    def __exit__(self, *_):
        self.take_down()

    def make(self):
        ip("netns", "add", self.switch)
        ip("-n", self.switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", self.switch, "link", "set", "bridge", "up")
        for index, (name, address) in enumerate(zip(self.names, self.addresses)):
            port = f"port{index}"
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            if self.netem:
                self.taps.append(slow_link.tap(name, "eth0"))
            else:
                ip("-n", self.switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
                ip("-n", self.switch, "link", "set", port, "master", "bridge", "up")
            ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")

        # What runs in the namespaces knows the machines by their names, too.
        for name in self.names:
            folder = NETNS / name
            folder.mkdir(parents=True)
            names = zip(self.addresses, self.names)
            (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for a, n in names))
        if self.netem:
            self.relay = multiprocessing.Process(target=slow_link.relay, args=(self.taps, self.netem), daemon=True)
            self.relay.start()

    def processes(self, names=None):
        """The processes that run in the namespaces."""
        found = []
        for name in names or self.names:
            listed = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
            found += [int(pid) for pid in listed.stdout.split()]
        return found

    def take_down(self):
        """Ends what still runs, and removes the namespaces."""
        for _ in range(100):
            left = self.processes()
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if not left:
                break
            time.sleep(0.02)
        if self.relay:
            self.relay.terminate()
        for name in [*self.names, self.switch]:
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)
            shutil.rmtree(NETNS / name, ignore_errors=True)
        self.group.leave()

    def kill(self, names, of=""):
        """Kills the processes on these machines whose command's name fits."""
        for pid in self.processes(names):
            try:
                if re.match(of, pathlib.Path(f"/proc/{pid}/comm").read_text()):
                    os.kill(pid, signal.SIGKILL)
            except (OSError, ProcessLookupError):
                pass

    def fail(self, how):
        """Lets the last machine fail, or a launcher."""
        if how in ("cut", "mend"):
            ip("-n", self.switch, "link", "set", f"port{len(self.names) - 1}", "down" if how == "cut" else "up")
        elif how == "kill":
            self.kill(self.names[-1:])
        elif how == "launcher":
            self.kill(self.names[:1], "mpiexec|prterun|srun")
        elif how == "daemon":
            self.kill(self.names[-1:], "hydra_pmi_proxy|prted|slurmstepd")
        else:
            subprocess.run(["ip", "netns", "exec", self.names[-1], *shlex.split(how)], check=True)

    def stay_behind(self):
        """What runs in the namespaces a minute from now, or the last that ends before; launchers do not count."""
        deadline = time.monotonic() + 60
        while True:
            names = []
            for pid in self.processes():
                try:
                    names.append(pathlib.Path(f"/proc/{pid}/comm").read_text().strip())
                except OSError:
                    pass
            names = [name for name in names if not re.match("hydra|mpiexec|prte|slurm|munge|timeout|sh$", name)]
            if not names or time.monotonic() > deadline:
                return names
            time.sleep(0.05)

    def run(self, command, ranks_each, when=()):
        """Runs a command on the first machine; returns its exit status."""
        with tempfile.TemporaryDirectory(prefix="heddle-hosts-") as folder:
            hydra, prrte = (pathlib.Path(folder, name) for name in ("hydra", "prrte"))
            hydra.write_text("".join(f"{address}:{ranks_each}\n" for address in self.addresses))
            prrte.write_text("".join(f"{address} slots={ranks_each}\n" for address in self.addresses))
            environment = os.environ | {
                "HYDRA_LAUNCHER": "ssh",
                "HYDRA_LAUNCHER_EXEC": str(HERE / "remote"),
                "HYDRA_HOST_FILE": str(hydra),
                "PRTE_MCA_plm_ssh_agent": str(HERE / "remote"),
                "PRTE_MCA_prte_default_hostfile": str(prrte),
                "HEDDLE_MACHINES": " ".join(f"{a}={n}" for a, n in zip(self.addresses, self.names)),
            }
            on_first = [str(HERE / "remote"), self.addresses[0], shlex.join(command)]
            if not when:
                return subprocess.run(on_first, env=environment).returncode
            with subprocess.Popen(on_first, env=environment, stdout=subprocess.PIPE, text=True) as running:
                for line in running.stdout:
                    print(line, end="", flush=True)
                    for text, how in when:
                        if text in line:
                            self.fail(how)
            return running.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", type=int, default=2)
    parser.add_argument("--ranks-each", type=int, default=1, help="ranks on a machine before the next one gets some")
    parser.add_argument("--netem", default="", help="words of tc's netem, for each machine's link (slow_link.py)")
    parser.add_argument("--when", nargs=2, action="append", default=[], metavar=("TEXT", "cut|mend|kill|launcher|daemon|COMMAND"), help="what happens on the last machine at that output")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with Machines(options.machines, options.netem) as machines:
        status = machines.run(options.command, options.ranks_each, options.when)
        if left := machines.stay_behind():
            print(f"stayed behind: {', '.join(left)}", file=sys.stderr)
            status = 99
        sys.exit(status)


if __name__ == "__main__":
    main()
