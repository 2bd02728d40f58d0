#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Harms real runs at random, and counts those that survive: make chaos. Processes are killed here;
see files.py for harm to files.

Every run ends in time, its trace is sound, it is replayed bit for bit, and exact codes end at the
model of a run that nothing happened to.
"""

import argparse
import functools
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import h5py  # noqa: E402
import numpy  # noqa: E402

import churn  # noqa: E402
import takeover  # noqa: E402
from files import Files  # noqa: E402
from many_hosts import Hosts  # noqa: E402
from program import KEEP_GOING, LAUNCHER, OPEN_MPI, QUORATE, REPOSITORY, Job  # noqa: E402
from program import call, inspect, start, wait_until  # noqa: E402

RANKS = 9
ROUNDS = 300
TRAINING = ["--rounds", ROUNDS, "--optimizer", "gd", "--step", 0.02, "--seed", 3, "--quiet"]
# Exact codes end at the same model whoever is there; all others end, and are replayed.
EXACT = ["uncoded", "frc --stragglers 1", "cyclic --stragglers 2", "elastic --needed 1"]
OTHERS = ["agc", "amb --compute-time 0.01", "async", "pgc-cyclic", "m-sgc"]
LIMIT = 60  # seconds
SIZE = ["-N4", f"-n{RANKS}", "-O"]
# SLURM ends a step when PMIx loses a process, whatever srun is told. Open MPI's mpiexec starts one
# task on each node, and the ranks below it. With PMIx's shared memory, MPI_Init over several nodes
# crashes at times.
IN_STEP = ["srun", *SIZE, "--mpi=pmi2", "--kill-on-bad-exit=0", "--no-kill"]
BELOW_DAEMONS = ["salloc", "--quiet", "--no-kill", *SIZE, *LAUNCHER, *KEEP_GOING]
BELOW_DAEMONS += ["-n", str(RANKS)]
WITH_PMIX = ["srun", *SIZE, "--mpi=pmix", "--kill-on-bad-exit=1"]
PMIX = {"PMIX_MCA_gds": "hash"}
SYSTEM_PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


class Chaos:
    def __init__(self, folder, given):
        self.folder = pathlib.Path(folder)
        self.random = random.Random(given.seed)
        self.ways = [given.aggregate] if given.aggregate else ["flat", "node", "node"]
        self.standby = given.standby
        self.data = self.folder / "data.h5"
        size = ["--rows", 203, "--columns", 12, "--test-rows", 41, "--seed", 3]
        assert call("generate", *size, "--output", self.data, "--quiet").returncode == 0
        plain = self.simulate("plain.h5", "--scheme", "uncoded", "--workers", RANKS - 1)
        with h5py.File(plain, "r") as trace:
            self.expected = trace["model/final"][:]

    def simulate(self, name, *words):
        path = self.folder / name
        given = ["--data", self.data, *TRAINING]
        done = call("simulate", *given, *words, "--trace", path)
        assert done.returncode == 0, done.stderr
        return path

    def command(self, scheme):
        """A run of about three seconds, and its trace."""
        trace = self.folder / "run.h5"
        words = ["run", "--data", self.data, "--scheme", *scheme.split(), "--trace", trace]
        words += [*TRAINING, "--resilient"]
        return [*words, "--timeout", 5, "--delay", "exponential:0.005"], trace

    def faults(self, scheme, trace):
        """What is wrong with a run that has ended; nothing if it has survived."""
        if not trace.exists():
            return "it did not begin"
        report = inspect(trace)
        if report["status"] != "completed" or report["faults"]:
            return f"status {report['status']}, {report['faults'][:1]}"
        again = self.folder / "again.h5"
        done = call("simulate", "--replay", trace, "--trace", again, "--overwrite", "--quiet")
        if done.returncode != 0:
            return f"not replayed: {done.stderr}"
        with h5py.File(trace, "r") as run, h5py.File(again, "r") as replayed:
            if not numpy.array_equal(run["iterate/model"][:], replayed["iterate/model"][:]):
                return "replayed to other iterates"
            final = run["model/final"][:]
        if scheme in EXACT and not numpy.allclose(final, self.expected, rtol=1e-9, atol=1e-12):
            return f"another model, by {numpy.abs(final - self.expected).max()}"
        return ""

    def kill_workers(self):
        scheme = self.random.choice(EXACT + OTHERS)
        words, trace = self.command(scheme)
        trace.unlink(missing_ok=True)
        job = start(*words, ranks=RANKS)
        wait_until(lambda: trace.exists() or job.process.poll() is not None)
        victims = self.random.sample(range(1, RANKS), self.random.randint(1, 7))
        for rank in victims:
            time.sleep(self.random.random() * 2 / len(victims))
            process = job.supervised(rank)
            if process is not None:
                os.kill(process, signal.SIGKILL)
        done = job.wait(LIMIT)
        if done.returncode != 0:
            return f"{scheme}, {len(victims)} killed: exit status {done.returncode}: {done.stderr}"
        wrong = self.faults(scheme, trace)
        return f"{scheme}, {len(victims)} killed: {wrong}" if wrong else ""

    def slurm_job(self, command, words):
        wait_until(self.all_nodes_up)
        words = [QUORATE, *[str(word) for word in words]]
        return Job([*command, *words], {"SLURM_CONF": self.slurm_conf, **PMIX})

    def under_slurm(self, harm):
        """The same on SLURM. srun's exit status tells of any task, the trace that of the run."""
        scheme = self.random.choice(EXACT[:1] + EXACT[-1:] + OTHERS)
        words, trace = self.command(scheme)
        trace.unlink(missing_ok=True)
        job = self.slurm_job(BELOW_DAEMONS if OPEN_MPI else IN_STEP, words)
        wait_until(lambda: trace.exists() or job.process.poll() is not None)
        time.sleep(self.random.random() * 2)
        harm()
        job.wait(LIMIT)
        wrong = self.faults(scheme, trace)
        return f"{scheme}: {wrong}" if wrong else ""

    def resumed_under_slurm(self, command, harm):
        """What SLURM ends with the rank ends soon, and the same command goes on."""
        scheme, words, trace = self.resumable()
        job = self.slurm_job(command, words)
        wait_until(lambda: trace.exists() or job.process.poll() is not None)
        time.sleep(self.random.random() * 2)
        harm()
        began = time.monotonic()
        job.wait(LIMIT)
        self.longest = max(self.longest, time.monotonic() - began)
        done = self.slurm_job(command, words).wait(LIMIT)
        wrong = self.faults(scheme, trace)
        return f"{scheme}: {wrong}: {done.stderr}" if wrong else ""

    def kill_task(self):
        process = task(self.random.randint(1, RANKS - 1))
        if process is not None:
            os.kill(process, signal.SIGKILL)

    def scontrol(self, *words):
        env = {**os.environ, "SLURM_CONF": self.slurm_conf}
        return subprocess.run(words, env=env, capture_output=True, text=True, check=False).stdout

    def set_node_down(self):
        node = f"nodename=n{self.random.randint(2, 4)}"  # the coordinator is on n1
        self.scontrol("scontrol", "update", node, "state=down", "reason=chaos")

    def all_nodes_up(self):
        self.scontrol("scontrol", "update", "nodename=n[1-4]", "state=resume")
        idle = ["sinfo", "--noheader", "--partition", "main", "--states", "idle", "--format", "%D"]
        return self.scontrol(*idle).strip() == "4"

    def slurm(self, runs):
        """On a cluster of its own; nothing to survive where there is no SLURM."""
        if shutil.which("srun") is None or shutil.which("munged", path=SYSTEM_PATH) is None:
            print("no SLURM here: its runs are left out", flush=True)
            return True
        folder = self.folder / "cluster"
        cluster = [REPOSITORY / "slurm" / "local-cluster"]
        where = ["--folder", folder, "--port-base", str(18000 + os.getpid() % 1000 * 10)]
        subprocess.run([*cluster, "up", *where], check=True, stdout=subprocess.DEVNULL)
        self.slurm_conf = str(folder / "slurm.conf")
        try:
            name = "mpiexec in an allocation" if OPEN_MPI else "srun"
            survive = self.under_slurm
            good = repeat(f"{name}, a worker killed", runs, lambda: survive(self.kill_task))
            if not OPEN_MPI:
                return repeat("srun, a node down", runs, lambda: survive(self.set_node_down)) & good
            for kind, command, harm in [
                ("mpiexec, a node down", BELOW_DAEMONS, self.set_node_down),
                ("srun --mpi=pmix, a worker killed", WITH_PMIX, self.kill_task),
                ("srun --mpi=pmix, a node down", WITH_PMIX, self.set_node_down),
            ]:
                self.longest = 0
                resume = functools.partial(self.resumed_under_slurm, command, harm)
                good &= repeat(f"{kind}, resumed", runs, resume)
                print(f"the job ended within {self.longest:.1f} s of it", flush=True)
            return good
        finally:
            subprocess.run([*cluster, "down", "--folder", folder], check=True)

    def on_hosts(self, harm):
        """On four hosts, of which the first has the coordinator."""
        scheme = self.random.choice(EXACT + OTHERS)
        words, trace = self.command(scheme)
        trace.unlink(missing_ok=True)
        # Coded storage cannot be added up by node.
        way = "flat" if "elastic" in scheme else self.random.choice(self.ways)
        words += ["--aggregate", way, "--standby", self.standby]
        with Hosts(self.folder / "hosts", 4) as hosts:
            job = hosts.start({"n1": 3, "n2": 2, "n3": 2, "n4": 2 + self.standby}, *words)
            wait_until(lambda: trace.exists() or job.process.poll() is not None)
            time.sleep(self.random.random() * 2)
            began = time.monotonic()
            harm(hosts)
            # A host may go while it scores models, for which it has ten timeouts.
            done = job.wait(2 * LIMIT)
            self.longest = max(self.longest, time.monotonic() - began)
        wrong = self.faults(scheme, trace)
        if not wrong and done.returncode != 0:
            wrong = f"exit status {done.returncode}"
        return f"{scheme}, {way}: {wrong}: {done.stderr}" if wrong else ""

    def kill_far_worker(self, hosts):
        process = hosts.rank(self.random.randint(3, RANKS - 1))
        if process is not None:
            os.kill(process, signal.SIGKILL)

    def kill_host(self, hosts):
        hosts.kill(self.random.choice(hosts.names[1:]))

    def cut_link(self, hosts):
        host = self.random.choice(hosts.names[1:])
        hosts.manage("link", host, "down")
        time.sleep(5)
        hosts.manage("link", host, "up")

    def hosts(self, runs):
        """On hosts that are namespaces of this machine, which only root makes."""
        if os.geteuid() != 0:
            print("not root: runs on several hosts are left out", flush=True)
            return True
        harms = {"a worker killed": self.kill_far_worker, "a link down for 5 s": self.cut_link}
        if not OPEN_MPI:  # whose mpiexec waits for the host
            harms["a host gone"] = self.kill_host
        good = True
        for name, harm in harms.items():
            self.longest = 0
            good &= repeat(f"four hosts, {name}", runs, functools.partial(self.on_hosts, harm))
            print(f"the run ended within {self.longest:.1f} s of it", flush=True)
        return good

    def takeover(self, runs):
        """On such hosts, what a run needs from the others or from its checkpoint is lost."""
        if os.geteuid() != 0:
            print("not root: runs that are taken over are left out", flush=True)
            return True
        lost = takeover.Takeover(self.folder, self.random, self.faults)
        good = True
        for name, harm in takeover.harms(self.random).items():
            lost.longest = lost.missed = 0
            good &= repeat(name, runs, functools.partial(lost.lose, name, harm))
            print(f"{lost.missed} had ended before, the others within {lost.longest:.1f} s of it")
        return good

    def files(self, kinds, runs):
        files = Files(self.folder, self.random)
        ways = {
            "calls": [("system calls that fail or kill", 10 * runs, files.one_call)],
            "writers": [
                ("two writers at once", runs, files.two_at_once),
                ("a writer that was stopped", runs, files.second_after_a_pause),
            ],
            "power": [("a power loss", 2 * runs, files.power_loss)],
            "pause": [("a pause longer than the timeout", 2 * runs, files.pause)],
            "disk": [("a full disk", 2 * runs, files.full_disk)],
        }
        good = True
        for kind in kinds:
            if kind in ("power", "disk") and os.geteuid() != 0:
                print(f"not root: {ways[kind][0][0]} is left out", flush=True)
                continue
            for name, count, once in ways[kind]:
                good &= repeat(name, count, once)
        return good

    def members(self, runs):
        """Members that change at random, of runs with sparse data and any scheme."""
        data = churn.make_data(self.folder)
        trace, again = self.folder / "churn.h5", self.folder / "churn-again.h5"

        def here():
            drawn = churn.draw(self.random, data, trace, pauses=self.random.choice([0, 0, 1, 2]))
            return churn.try_here(drawn, trace, again)

        def by_node():
            pauses = self.random.choice([0, 0, 1, 2])
            drawn = churn.draw(self.random, data, trace, by_node=True, pauses=pauses)
            with Hosts(self.folder / "hosts", 4) as hosts:
                return churn.try_on(hosts, drawn, trace, again)

        good = repeat("members that change", runs, here)
        if os.geteuid() == 0:
            good &= repeat("members that change, added up by node", runs, by_node)
        return good

    def resumable(self):
        """A run that has not begun, with checkpoints."""
        scheme = self.random.choice(EXACT[:1] + EXACT[-1:] + OTHERS)
        words, trace = self.command(scheme)
        checkpoint = self.folder / "run.checkpoint"
        for path in [trace, checkpoint, pathlib.Path(f"{checkpoint}.1")]:
            path.unlink(missing_ok=True)
        words += ["--checkpoint", checkpoint, "--checkpoint-every", "10r", "--resume"]
        return scheme, words, trace

    def kill_coordinator(self):
        scheme, words, trace = self.resumable()
        job = start(*words, ranks=RANKS)
        wait_until(lambda: trace.exists() or job.process.poll() is not None)
        time.sleep(self.random.random() * 3)
        process = job.rank(0)
        if process is not None:
            os.kill(process, signal.SIGKILL)
        job.wait(LIMIT)
        read = call("inspect", trace, "--json")
        if read.returncode != 0:
            return f"{scheme}: the trace cannot be read: {read.stderr}"
        done = start(*words, ranks=RANKS).wait(LIMIT)
        if done.returncode != 0:
            return f"{scheme}: not resumed, exit status {done.returncode}: {done.stderr}"
        wrong = self.faults(scheme, trace)
        return f"{scheme}: {wrong}" if wrong else ""


def task(rank):
    """The supervised process of a rank that SLURM has started."""
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if not folder.name.isdigit() or os.readlink(folder / "exe") != os.path.realpath(
                QUORATE
            ):
                continue
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            variables = (folder / "environ").read_bytes().split(b"\0")
            supervised = os.readlink(f"/proc/{parent}/exe") == os.path.realpath(QUORATE)
        except OSError:
            continue
        # Below a daemon of Open MPI, SLURM's number is the daemon's.
        values = dict(variable.split(b"=", 1) for variable in variables if b"=" in variable)
        own = values.get(b"OMPI_COMM_WORLD_RANK", values.get(b"SLURM_PROCID"))
        if supervised and own == str(rank).encode():
            return int(folder.name)
    return None


def repeat(name, runs, once):
    survived = 0
    began = time.monotonic()
    for number in range(runs):
        wrong = once()
        survived += not wrong
        if wrong:
            print(f"run {number}: {wrong}", flush=True)
    seconds = time.monotonic() - began
    print(f"{name}: {survived} of {runs} runs survived, {seconds:.0f} s", flush=True)
    return survived == runs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    of_files = ["calls", "writers", "power", "pause", "disk"]
    kinds = ["here", "members", "hosts", "takeover", "slurm", *of_files]
    parser.add_argument("--only", choices=kinds, help="[all of them]")
    parser.add_argument("--aggregate", choices=["flat", "node"], help="on hosts [either]")
    parser.add_argument("--standby", type=int, default=0, help="standby ranks on the last host [0]")
    given = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="quorate-chaos-")
    try:
        chaos = Chaos(folder, given)
        good = True
        if given.only in (None, "here"):
            good &= repeat("1 to 7 of 8 workers killed", given.runs, chaos.kill_workers)
            good &= repeat("coordinator killed, resumed", given.runs, chaos.kill_coordinator)
        if given.only in (None, "members"):
            good &= chaos.members(given.runs)
        good &= chaos.files([kind for kind in of_files if given.only in (None, kind)], given.runs)
        if given.only in (None, "hosts"):
            good &= chaos.hosts(max(1, given.runs * 2 // 5))
        if given.only in (None, "takeover"):
            good &= chaos.takeover(max(1, given.runs * 2 // 5))
        if given.only in (None, "slurm"):
            good &= chaos.slurm(max(1, given.runs // 5))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
