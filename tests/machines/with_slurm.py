#!/usr/bin/env python3
"""Runs a command on the first of several machines under a Slurm of its own, and takes all of it down.

  with_slurm.py [--machines N] -- COMMAND ...

The machines are network namespaces (with_machines.py). Each has a slurmd; the first one has slurmctld, and munged, which all of
them use. SLURM_CONF names the configuration; so `srun` of the command finds this Slurm, even if the host has another one.

Needs root, Debian's iproute2, slurmd, slurmctld, slurm-client and munge. Ends with 77, and says what is missing, if one of their
programs is not there. Processes that run on a machine a minute after the command's end are an error (99), as in with_machines.py.
"""

import argparse
import os
import pathlib
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from with_machines import HERE, Machines

PROGRAMS = ["munged", "slurmctld", "slurmd", "srun", "sinfo"]

CONFIGURATION = """\
ClusterName=heddle
SlurmctldHost={names[0]}({addresses[0]})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n.spool
TmpFS={folder}/%n.tmp
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
KillWait=2
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""


class Slurm:
    """The daemons. They end with their machines, and all of their files are in one folder."""

    def __init__(self, machines, folder):
        self.machines = machines
        self.folder = folder
        self.daemons = []
        self.environment = os.environ | {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "HEDDLE_MACHINES": " ".join(f"{a}={n}" for a, n in zip(machines.addresses, machines.names)),
        }

    def on(self, index, *command):
        """The words that run a command on a machine."""
        return [str(HERE / "remote"), self.machines.addresses[index], "exec " + shlex.join(command)]

    def daemon(self, index, *command):
        log = (self.folder / f"{command[0]}-{index}.out").open("w")
        self.daemons.append(
            subprocess.Popen(self.on(index, *command), env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        )

    def start(self):
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(64))
        key.chmod(0o400)
        (self.folder / "state").mkdir()
        self.folder.chmod(0o711)
        names, addresses = self.machines.names, self.machines.addresses
        nodes = "\n".join(f"NodeName={n} NodeAddr={a} CPUs=16 State=UNKNOWN" for n, a in zip(names, addresses))
        text = CONFIGURATION.format(folder=self.folder, names=names, addresses=addresses, nodes=nodes)
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        for name in names:
            for kind in ("spool", "tmp"):
                (self.folder / f"{name}.{kind}").mkdir()
        files = [f"--{name}-file={self.folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        self.daemon(0, "munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", *files)
        self.wait_for("munged", lambda: (self.folder / "munge.socket").exists())
        self.daemon(0, "slurmctld", "-D")
        for index, name in enumerate(names):
            self.daemon(index, "slurmd", "-D", "-N", name)
        self.wait_for("slurmctld and slurmd", self.is_idle)

    def is_idle(self):
        """Whether all machines wait for jobs."""
        sinfo = self.on(0, "timeout", "5", "sinfo", "--noheader", "--format=%D %T")
        said = subprocess.run(sinfo, env=self.environment, capture_output=True, text=True)
        return said.stdout.split() == [str(len(self.machines.names)), "idle"]

    def wait_for(self, what, is_ready):
        deadline = time.monotonic() + 30
        while not is_ready():
            ended = [daemon.args[-1] for daemon in self.daemons if daemon.poll() is not None]
            if ended or time.monotonic() > deadline:
                logs = [f"{log.name}:\n{log.read_text()[-3000:]}" for log in sorted(self.folder.glob("*.[lo][ou]*"))]
                sys.exit("\n".join([*logs, f"{what} did not start; ended: {ended}"]))
            time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", type=int, default=2)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    # Daemons are there; not every PATH has it.
    os.environ["PATH"] += ":/usr/sbin"
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        print(f"no Slurm: {', '.join(missing)} missing (Debian's slurmctld, slurmd, slurm-client, munge)")
        sys.exit(77)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="heddle-slurm-") as folder, Machines(options.machines) as machines:
        slurm = Slurm(machines, pathlib.Path(folder))
        slurm.start()
        status = subprocess.run(slurm.on(0, *options.command), env=slurm.environment).returncode
        if left := machines.stay_behind():
            print(f"stayed behind: {', '.join(left)}", file=sys.stderr)
            status = 99
    sys.exit(status)


if __name__ == "__main__":
    main()
