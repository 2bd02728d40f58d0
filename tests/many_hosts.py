# SPDX-License-Identifier: BSD-2-Clause
"""Runs over several hosts that are all this machine: tests/hosts."""

import os
import pathlib
import subprocess

import pytest

from program import KEEP_GOING, LAUNCHER, OPEN_MPI, QUORATE, REPOSITORY, Job, is_rank, parent

SCRIPT = REPOSITORY / "tests" / "hosts"


def need_root():
    if os.geteuid() != 0:
        pytest.skip("only root makes hosts on this machine (tests/hosts)")


class Hosts:
    """Hosts n1, n2, ..., until the end of the context, or of this process."""

    def __init__(self, folder, count, *words):
        self.folder, self.words = pathlib.Path(folder), words
        self.names = [f"n{number}" for number in range(1, count + 1)]

    def __enter__(self):
        self.manage("up", "--hosts", len(self.names), "--while", os.getpid(), *self.words)
        return self

    def __exit__(self, *_):
        self.manage("down")

    def manage(self, *words):
        command = [str(word) for word in [SCRIPT, *words, "--folder", self.folder]]
        subprocess.run(command, check=True, timeout=60, stdout=subprocess.DEVNULL)

    def kill(self, host):
        self.manage("kill", host)
        self.names.remove(host)

    def on(self, host, *words):
        """The command line of a command on a host."""
        command = [SCRIPT, "exec", host, "--folder", self.folder, "--", *words]
        return [str(word) for word in command]

    def traffic(self):
        """Bytes that each host has sent and received since the hosts were made: (out, in)."""
        counts = []
        for name in self.names:
            done = subprocess.run(
                self.on(name, "cat", "/proc/net/dev"), capture_output=True, text=True, check=True
            )
            row = next(line for line in done.stdout.splitlines() if "eth0:" in line).split()
            counts.append((int(row[9]), int(row[1])))
        return counts

    def start(self, places, *words, launcher="n1", env=None, program=QUORATE):
        """A run with so many ranks on each host, such as {"n1": 3, "n2": 2}."""
        spare = KEEP_GOING if "--resilient" in words else []
        where = ["--host" if OPEN_MPI else "-hosts"]
        where += [",".join(f"{host}:{ranks}" for host, ranks in places.items())]
        ranks = ["-n", sum(places.values())]
        # Open MPI's daemons name a folder by host and process, of which others may have equal ones.
        # /dev/shm is the host's own.
        env = {"OMPI_MCA_orte_tmpdir_base": "/dev/shm", **(env or {})}
        return Job(self.on(launcher, *LAUNCHER, *spare, *where, *ranks, program, *words), env)

    def processes(self, host):
        """The processes of the program on a host, numbered as this process sees them."""
        init = (self.folder / "init" / host).read_text().strip()
        wanted, found = (os.readlink(f"/proc/{init}/ns/pid"), os.path.realpath(QUORATE)), []
        for folder in pathlib.Path("/proc").iterdir():
            try:
                if not folder.name.isdigit():
                    continue
                if (os.readlink(folder / "ns" / "pid"), os.readlink(folder / "exe")) == wanted:
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def rank(self, wanted):
        """The process of a rank, wherever it is; of a resilient one, the supervised."""
        found = [pid for host in self.names for pid in self.processes(host)]
        found = [pid for pid in found if is_rank(pid, wanted)]
        parents = [parent(pid) for pid in found]
        return next((pid for pid in found if pid not in parents), None)
