# SPDX-License-Identifier: BSD-2-Clause
"""Runs that lose their coordinator or the owner of a share, and go back to their checkpoints."""

import os
import signal
import time

import h5py

from many_hosts import Hosts
from program import OPEN_MPI, attributes_of, call, rounds_in, wait_until

FILE = ["--checkpoint-every", "5r"]
MEMORY = ["--checkpoint-every", "1h", "--memory-checkpoint-every", "10r"]
PLACES = {"n1": 3, "n2": 2, "n3": 2, "n4": 2}
RANKS = {"n1": [0, 1, 2], "n2": [3, 4], "n3": [5, 6], "n4": [7, 8]}
# Schemes, and rounds that take some seconds.
SCHEMES = {"uncoded": 150, "frc --stragglers 1": 300, "agc --stragglers 1": 300, "async": 3000}


def make_data(folder):
    """Columns for the shares of four hosts."""
    data = folder / "wide.h5"
    size = ["--rows", 203, "--columns", 20000, "--nnz-per-row", 30, "--test-rows", 41]
    assert call("generate", *size, "--seed", 3, "--output", data, "--quiet").returncode == 0
    return data


def kill(hosts, ranks):
    for process in [hosts.rank(rank) for rank in ranks]:
        if process is not None:
            os.kill(process, signal.SIGKILL)


def cut_link(hosts, host):
    hosts.manage("link", host, "down")
    time.sleep(5)
    hosts.manage("link", host, "up")


def is_complete(trace):
    """Whether a run has ended with all rounds; its trace may be being written."""
    try:
        with h5py.File(trace, "r") as file:
            return attributes_of(file)["status"] == "completed"
    except (OSError, KeyError):
        return False


def harms(drawn):
    """By name: what happens to the hosts. The launcher is on n1, so that host stays."""
    owners = [RANKS[host][0] for host in PLACES if host != "n1"]
    return {
        "the coordinator killed": lambda hosts: kill(hosts, [0]),
        "all ranks of its host killed": lambda hosts: kill(hosts, RANKS["n1"]),
        "the owner of a share killed": lambda hosts: kill(hosts, [drawn.choice(owners)]),
        "an owner and the coordinator killed": lambda hosts: kill(hosts, [0, drawn.choice(owners)]),
        "an owner's host gone": lambda hosts: hosts.kill(drawn.choice(hosts.names[1:])),
        "its link down for 5 s": lambda hosts: cut_link(hosts, drawn.choice(hosts.names[1:])),
    }


class Takeover:
    def __init__(self, folder, drawn, faults):
        """faults: says of a scheme and a trace what is wrong."""
        self.folder, self.random, self.faults = folder, drawn, faults
        self.data = make_data(folder)
        self.longest = 0
        self.missed = 0  # runs that had ended before

    def lose(self, name, harm):
        scheme, rounds = self.random.choice(list(SCHEMES.items()))
        way = self.random.choice(["shares", "shares", "node", "flat"])
        # A state in memory does not outlive two ranks that are lost together.
        kept = FILE if " and " in name else self.random.choice([FILE, MEMORY])
        trace, checkpoint = self.folder / "run.h5", self.folder / "run.checkpoint"
        for path in self.folder.glob("run.*"):
            path.unlink()
        words = ["run", "--data", self.data, "--scheme", *scheme.split(), "--rounds", rounds]
        words += ["--step", 0.02, "--seed", 3, "--quiet", "--resilient", "--timeout", 2]
        words += ["--delay", "exponential:0.02", "--aggregate", way, "--trace", trace]
        words += ["--checkpoint", checkpoint, *kept]

        def can_go_on():
            return checkpoint.exists() if kept == FILE else rounds_in(trace) > 50

        with Hosts(self.folder / "hosts", len(PLACES)) as hosts:
            job = hosts.start(PLACES, *words)
            wait_until(lambda: can_go_on() or job.process.poll() is not None)
            time.sleep(self.random.random() * 2)
            done_before = rounds_in(trace)
            self.missed += job.process.poll() is not None
            began = time.monotonic()
            harm(hosts)
            # Open MPI's mpiexec waits without end for a host that is gone.
            waits = OPEN_MPI and len(hosts.names) < len(PLACES)
            if waits:
                wait_until(lambda: is_complete(trace) or job.process.poll() is not None, 120, 1)
                job.kill()
            done = job.wait(120)
            self.longest = max(self.longest, time.monotonic() - began)
        wrong = self.faults("", trace)
        if not wrong and not waits and done.returncode != 0:
            wrong = f"exit status {done.returncode}"
        about = f"{scheme}, {way}, {kept[-2]}, round {done_before}"
        return f"{about}: {wrong}: {done.stderr}" if wrong else ""
