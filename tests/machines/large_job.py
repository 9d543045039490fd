#!/usr/bin/env python3
"""What a process of a large job holds: large_job.py PROGRAM

Starts two ranks of a job of which no other rank ever starts: a launcher that speaks PMI-1 tells them how large the job is, and that
each machine has two ranks. A million ranks must cost each process at most a byte a rank more than a dozen.
"""

import os
import socket
import subprocess
import sys
import threading

STARTED = 2
SMALL, LARGE = 12, 1_000_000
BYTES_A_RANK = 1
# Making a group takes memory for a while, and malloc keeps some of it.
KIB_FOR_GROUPS = 16 << 10
RUNS = 5


class Launcher:
    """Answers the requests of the ranks."""

    def __init__(self, ranks: int):
        self.words = {"PMI_process_mapping": f"(vector,(0,{ranks // STARTED},{STARTED}))"}
        self.fence = threading.Barrier(STARTED)

    def reply(self, request: dict[str, str]) -> str:
        match request["cmd"]:
            case "init":
                return "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1"
            case "get_maxes":
                return "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024"
            case "get_appnum":
                return "cmd=appnum rc=0 appnum=0"
            case "get_my_kvsname":
                return "cmd=my_kvsname rc=0 kvsname=job"
            case "put":
                self.words[request["key"]] = request["value"]
                return "cmd=put_result rc=0 msg=success"
            case "get":
                return f"cmd=get_result rc=0 msg=success value={self.words[request['key']]}"
            case "barrier_in":
                self.fence.wait(timeout=60)
                return "cmd=barrier_out rc=0"
            case other:
                raise ValueError(f"the rank asks for {other}")

    def serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("r") as requests:
            for line in requests:
                request = dict(word.split("=", 1) for word in line.split())
                connection.sendall(f"{self.reply(request)}\n".encode())


def memory(ranks: int, program: str) -> tuple[int, int]:
    """The KiB that rank 0 holds at first, and with its groups."""
    launcher, started = Launcher(ranks), []
    for rank in range(STARTED):
        ours, theirs = socket.socketpair()
        told = {"PMI_RANK": str(rank), "PMI_SIZE": str(ranks), "PMI_FD": str(theirs.fileno())}
        process = subprocess.Popen(
            [program], env={**os.environ, **told}, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        theirs.close()
        threading.Thread(target=launcher.serve, args=[ours], daemon=True).start()
    said = [process.communicate(timeout=60)[0] for process in started]
    if any(process.returncode for process in started):
        sys.exit(f"a rank of {ranks} has failed")
    first, with_groups = said[0].split()
    return int(first), int(with_groups)


def least(ranks: int, program: str) -> tuple[int, int]:
    """The least of some runs: what the allocator and the loader hold beside differs by several hundred KiB."""
    first, with_groups = zip(*(memory(ranks, program) for _ in range(RUNS)))
    return min(first), min(with_groups)


def main() -> None:
    (small, _), (large, with_groups) = (least(ranks, sys.argv[1]) for ranks in (SMALL, LARGE))
    each = (large - small) * 1024 / (LARGE - SMALL)
    print(f"a process of {LARGE} ranks holds {large - small} KiB more than one of {SMALL}: {each:.1f} bytes per rank", end="")
    print(f", and {with_groups - large} KiB more with groups of half of them")
    if each > BYTES_A_RANK or with_groups - large > KIB_FOR_GROUPS:
        sys.exit("too much")


if __name__ == "__main__":
    main()
