# SPDX-License-Identifier: BSD-2-Clause
"""Job scripts under a SLURM whose four nodes are hosts (tests/hosts), each with its own slurmd."""

import h5py
import numpy
import pytest

from cluster import DATA, LIMIT, RESILIENT, RUN, ClusterOfHosts
from cluster import dead_workers, experiment, left, logs, model_of
from many_hosts import need_root
from program import OPEN_MPI, attributes_of, call, inspect, rounds_in, wait_until

NODES = ["n1", "n2", "n3", "n4"]


@pytest.fixture(scope="module")
def cluster(programs, tmp_path_factory):
    need_root()
    with ClusterOfHosts(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def words_for(folder, profile, text, *more):
    text = text.replace("workers = 4", "workers = 7")
    return [*experiment(folder, text), "--cluster", profile, "--nodes", "4", *more]


def attributes(path):
    with h5py.File(path, "r") as trace:
        return attributes_of(trace)


def check_replay(trace, again):
    words = ["--replay", trace, "--data", trace.parent / "data.h5", "--trace", again, "--quiet"]
    done = call("simulate", *words)
    assert done.returncode == 0, done.stderr
    assert numpy.array_equal(model_of(trace), model_of(again))


def test_an_array_runs_on_four_hosts(cluster, profile, tmp_path):
    text = RUN.replace("seed = 1", "seed = 1..2") + "rounds = 10\n" + DATA
    jobs = cluster.submit(*words_for(tmp_path, profile, text))
    cluster.wait_for_end()
    for job in jobs:
        assert cluster.states(job) == {("COMPLETED", "0:0")}, logs(tmp_path)
    assert left(tmp_path) == "" and list((tmp_path / "out").glob("report/index.html"))
    for seed in 1, 2:
        trace = tmp_path / "out" / f"{seed}-seed{seed}.h5"
        assert inspect(trace)["faults"] == []
        about = attributes(trace)
        assert sorted(about["nodes"].split()) == NODES
        assert about["shared_workers"] == 1  # there are two ranks on each host
        check_replay(trace, tmp_path / f"{seed}.h5")


@pytest.mark.whole
def test_a_chain_of_jobs_on_four_hosts_ends_as_one_run(cluster, profile, tmp_path):
    # SLURM's least time is a minute; the first link stops 10 s after its begin.
    text = RUN + "rounds = 70\ndelay = constant:0.2\n" + DATA
    more = ["--links", "3", "--time", "1min", "--stop-before", "50s"]
    jobs = cluster.submit(*words_for(tmp_path, profile, text, *more))
    trace = tmp_path / "out" / "1.h5"
    wait_until(lambda: cluster.jobs(jobs[1])[0]["JobState"] == "COMPLETED", timeout=LIMIT, every=1)
    assert 0 < rounds_in(trace) < 70, logs(tmp_path)
    cluster.wait_for_end()
    for job in jobs:
        assert cluster.states(job) == {("COMPLETED", "0:0")}, logs(tmp_path)
    assert left(tmp_path) == "" and rounds_in(trace) == 70
    check_replay(trace, tmp_path / "again.h5")


# The last one, because it is a host less afterwards.
@pytest.mark.skipif(OPEN_MPI, reason="Open MPI 4.1 ends a run of which it loses a node")
@pytest.mark.whole
def test_a_resilient_run_survives_a_host_that_vanishes(cluster, profile, tmp_path):
    jobs = cluster.submit(*words_for(tmp_path, profile, RESILIENT))
    trace = tmp_path / "out" / "1.h5"
    wait_until(lambda: rounds_in(trace) > 0, timeout=LIMIT)
    cluster.hosts.kill("n4")
    # SLURM notices by itself, after SlurmdTimeout; this is sooner.
    cluster.call("scontrol", "update", "NodeName=n4", "State=DOWN", "Reason=test")
    cluster.wait_for_end()
    assert cluster.states(jobs[1]) == {("COMPLETED", "0:0")}, logs(tmp_path)
    assert left(tmp_path) == "" and rounds_in(trace) == 40
    assert inspect(trace)["faults"] == [] and len(dead_workers(trace)) == 2
