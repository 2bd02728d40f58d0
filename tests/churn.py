# SPDX-License-Identifier: BSD-2-Clause
"""Runs whose workers leave, die, come back and are replaced as a seed says. Every one is to
complete, and to be replayed bit for bit from its trace."""

import os
import signal
import time
from dataclasses import dataclass, field

import h5py
import numpy
import pytest

from program import call, inspect, schemes, start, wait_until

WORKERS = 8
LEAST = 4  # workers that stay, for which all codes exist
# Codes that exist for some numbers of workers only, or for dense rows only.
ELSEWHERE = {"bibd", "margulis", "graph", "short-cyclic"}
# Schemes that need each contribution at the coordinator.
FLAT = {"draco-repetition", "draco-cyclic", "coded-product", "elastic"}
# Schemes that compare sums to more digits than shorter numbers have.
EXACT = {"draco-cyclic"}


def make_data(folder):
    """Sparse data sets. Those of one entry a row have shards whose supports are of one length, and
    of other columns: values for one shard fit another by their number."""
    rows = [f"{'+1' if row % 3 else '-1'} {row // 10 + 1}:{1 + row % 7}" for row in range(480)]
    (folder / "one.svm").write_text("\n".join(rows) + "\n")
    one, few = folder / "one.h5", folder / "few.h5"
    size = ["--rows", 400, "--columns", 600, "--nnz-per-row", 5, "--seed", 5]
    commands = [["import", "--input", folder / "one.svm", "--output", one]]
    commands.append(["generate", *size, "--output", few])
    for words in commands:
        done = call(*words, "--quiet")
        assert done.returncode == 0, done.stderr
    return [one, few]


def some_events(random, rounds, deaths, least):
    """Changes after rounds or at times, often close together, and several at once."""
    if random.random() < 0.4:
        return f"random:leave={random.choice([0.05, 0.15])},join=0.4,least={least}"
    when = random.choice(["{}r", "{}r", "{}e-2"])
    away, dead, events, at = set(), set(), [], 1
    while (at := at + random.choice([0, 0, 1, 1, 2, 4])) < rounds:
        here = [worker for worker in range(WORKERS) if worker not in away | dead]
        verb = random.choice(["leave", "leave", "join", "join", "kill"])
        if verb == "join" and away:
            worker = random.choice(sorted(away))
            away.remove(worker)
        elif verb == "leave" and len(here) > least:
            worker = random.choice(here)
            away.add(worker)
        elif verb == "kill" and len(here) > least and len(dead) < deaths:
            worker = random.choice(here)
            dead.add(worker)
        else:
            continue
        events.append(f"{when.format(at)} {verb} {worker}")
    return "; ".join(events) or "3r leave 1; 4r join 1"


@dataclass
class Churn:
    """A run and what happens to it."""

    words: list
    standby: int
    pauses: list = field(default_factory=list)  # (rank, seconds): of ranks that stop for so long

    @property
    def ranks(self):
        return 1 + WORKERS + self.standby

    def __str__(self):
        text = " ".join(str(word) for word in self.words)
        return f"{text} ({self.ranks} ranks{f', pauses {self.pauses}' if self.pauses else ''})"

    def carry_out(self, job, rank_of, trace):
        """Stops ranks for a while as the run goes on. @return its end"""
        for rank, seconds in self.pauses:
            wait_until(lambda: trace.exists() or job.process.poll() is not None)
            process = rank_of(rank)
            if process is None:
                continue
            try:
                os.kill(process, signal.SIGSTOP)
                time.sleep(seconds)
                os.kill(process, signal.SIGCONT)
            except ProcessLookupError:
                pass
        return job.wait()


def draw(random, data, trace, *, by_node=False, pauses=0, rounds=30, among=None):
    """@param by_node  whether nodes add up  @param among  schemes; none: all"""
    examples = {name: [] if "--workers" in words else words for name, words in schemes()}
    tried = among or [name for name in examples if name not in ELSEWHERE]
    scheme = random.choice([name for name in tried if not (by_node and name in FLAT)])
    standby = random.choice([0, 0, 1, 2])
    words = ["run", "--data", random.choice(data), "--scheme", scheme]
    words += [*examples[scheme], "--trace", trace, "--rounds", rounds]
    words += ["--step", 0.02, "--seed", random.randint(1, 999), "--quiet", "--resilient"]
    words += ["--delay", f"exponential:{random.choice([0.001, 0.004])}", "--standby", standby]
    words += ["--timeout", 1 if pauses else 10]
    words += ["--transport", random.choice(["shared", "messages"])]
    wire = random.choice(["double", "double", "float"])
    words += ["--wire", "double" if scheme in EXACT else wire]
    words += ["--aggregate", "node"] if by_node else []
    # A rank that stops may be taken for dead.
    words += ["--events", some_events(random, rounds, random.choice([0, 1, 2]), LEAST + pauses)]
    stopped = [(random.randint(1, WORKERS), random.choice([0.3, 1.5])) for _ in range(pauses)]
    return Churn(words, standby, stopped)


def wrong(done, trace, again):
    """What is wrong with a run that has ended and its replay; nothing if all is right."""
    if done.returncode != 0:
        return f"exit status {done.returncode}: {done.stderr.strip()}"
    report = inspect(trace)
    if report["status"] != "completed" or report["faults"]:
        return f"status {report['status']}, {report['faults'][:1]}"
    replayed = call("simulate", "--replay", trace, "--trace", again, "--overwrite", "--quiet")
    if replayed.returncode != 0:
        return f"not replayed: {replayed.stderr.strip()}"
    names = ["iterate/model", "model/final", "round/used", "arrival/event", "arrival/used"]
    names += ["arrival/uses", "membership/event", "membership/kind", "membership/worker"]
    with h5py.File(trace, "r") as run, h5py.File(again, "r") as other:
        differ = [name for name in names if not numpy.array_equal(run[name][:], other[name][:])]
    return f"its replay differs in {', '.join(differ)}" if differ else ""


def judge(churn, job, rank_of, trace, again):
    try:
        text = wrong(churn.carry_out(job, rank_of, trace), trace, again)
    except pytest.fail.Exception as late:
        text = str(late)
    return f"{churn}: {text}" if text else ""


def try_here(churn, trace, again):
    """On this host. @return what is wrong"""
    trace.unlink(missing_ok=True)
    job = start(*churn.words, ranks=churn.ranks)
    return judge(churn, job, job.rank, trace, again)


def try_on(hosts, churn, trace, again):
    """On four hosts, of which the first has the coordinator. @return what is wrong"""
    trace.unlink(missing_ok=True)
    places = {"n1": 3, "n2": 2, "n3": 2, "n4": 2 + churn.standby}
    return judge(churn, hosts.start(places, *churn.words), hosts.rank, trace, again)
