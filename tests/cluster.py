# SPDX-License-Identifier: BSD-2-Clause
"""A private SLURM (slurm/local-cluster), and experiments for it."""

import contextlib
import fcntl
import os
import pathlib
import re
import socket
import subprocess
import tempfile

import h5py
import pytest

from many_hosts import Hosts
from program import QUORATE, REPOSITORY, attributes_of, call, environment, wait_until

LOCAL_CLUSTER = REPOSITORY / "slurm" / "local-cluster"

# Root may not start Open MPI, nor more ranks than cores, unless told; scripts inherit nothing.
OPEN_MPI_LAUNCHER = (
    "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
    "OMPI_MCA_rmaps_base_oversubscribe=1 mpiexec.openmpi"
)
DATA = "[prepare]\ncommand = generate\nrows = 400\ncolumns = 12\ntest-rows = 40\nseed = 3\n"
RUN = "model = logistic\noptimizer = agd\nstep = 0.3\nworkers = 4\nseed = 1\n"
LIMIT = 300  # seconds; far more than any of it takes, also on a machine that does much else


@contextlib.contextmanager
def free_ports():
    """The first of a thousand ports, of which the ones that daemons listen on are free.

    They are nobody else's until the end of the context: daemons take theirs some seconds later, and
    tests may run side by side.
    """
    for base in range(11000, 32000, 1000):  # above, Linux takes ports for connections
        with contextlib.ExitStack() as stack:
            name = pathlib.Path(tempfile.gettempdir()) / f"quorate-ports-{base}-{os.getuid()}"
            lock = stack.enter_context(open(name, "w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with contextlib.ExitStack() as sockets:
                    for port in range(base, base + 10):
                        one = sockets.enter_context(socket.socket())
                        one.bind(("127.0.0.1", port))
            except OSError:
                continue
            yield base
            return
    pytest.fail("there are no ten free ports")


class Cluster:
    """A private SLURM in a folder."""

    def __init__(self, folder, *words):
        self.folder = folder
        self.env = environment({"SLURM_CONF": f"{folder}/slurm.conf"})
        self.words = words
        self.ports = contextlib.ExitStack()

    def __enter__(self):
        base = self.ports.enter_context(free_ports())
        self.manage("up", "--port-base", str(base), *self.words)
        return self

    def __exit__(self, *_):
        subprocess.run(
            ["scancel", "--full", "--user", str(os.getuid())], env=self.env, capture_output=True
        )
        self.manage("down")
        self.ports.close()

    def manage(self, verb, *words):
        command = [LOCAL_CLUSTER, verb, *words, "--folder", self.folder]
        subprocess.run(command, env=self.env, check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)

    def try_call(self, *words, cwd=None):
        return subprocess.run(
            [str(word) for word in words],
            env=self.env,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def call(self, *words, cwd=None):
        done = self.try_call(*words, cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def submit(self, *words):
        """Ids of the jobs that quorate submit has made."""
        said = self.call(QUORATE, "submit", *words)
        return [line.split("\t")[0] for line in said.splitlines()]

    def jobs(self, job):
        """What SLURM says of a job; of an array, of each task."""
        lines = self.call("scontrol", "--oneliner", "show", "job", job).splitlines()
        return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in lines]

    def states(self, job):
        return {(one["JobState"], one["ExitCode"]) for one in self.jobs(job)}

    def wait_for_end(self):
        wait_until(lambda: not self.call("squeue", "--noheader"), timeout=LIMIT, every=1)


class ClusterOfHosts(Cluster):
    """Nodes n1 to n4 that are hosts, each with the ports that it likes."""

    def __init__(self, folder):
        super().__init__(folder)
        self.hosts = Hosts(folder / "hosts", 4)

    def __enter__(self):
        self.manage("up", "--hosts", "4", "--while", str(os.getpid()))
        return self

    def try_call(self, *words, cwd=None):
        return super().try_call(*self.hosts.on("n1", *words), cwd=cwd)

    def __exit__(self, *_):
        self.manage("down")


def experiment(folder, text):
    path = folder / "runs.ini"
    path.write_text(text)
    return ["--experiment", path, "--output", folder / "out"]


def left(folder):
    done = call("todo", "--manifest", folder / "out" / "manifest.tsv")
    assert done.returncode == 0, done.stderr
    return done.stdout


def logs(folder):
    """What jobs have written; the program locks a trace that it writes."""
    return "".join(path.read_text() for path in sorted((folder / "out").glob("*.log")))


def model_of(path):
    with h5py.File(path, "r") as trace:
        assert attributes_of(trace)["status"] == "completed"
        return trace["model/final"][:]


def dead_workers(path):
    died = 3
    with h5py.File(path, "r") as trace:
        table = trace["membership"]
        return sorted(table["worker"][:][table["kind"][:] == died].tolist())


RESILIENT = RUN + "rounds = 40\ndelay = constant:0.2\ntimeout = 3\nresilient = on\n" + DATA
