# SPDX-License-Identifier: BSD-2-Clause
"""Aggregation by node: leaders hand out points and add up contributions."""

import os
import shutil
import signal
import time

import h5py
import numpy
import pytest

from across_hosts_test import FOUR, check, resilient, run_words, start_resilient, workers_on
from many_hosts import Hosts, need_root
from membership_test import FAMILIES, membership
from program import OPEN_MPI, attributes_of, call, our_lines, rounds_in, seen, wait_until, whole

DIED, JOINED, LOADING, LOST = 3, 1, 5, 7
NODE = ["--aggregate", "node"]
# Schemes that need each contribution at the coordinator.
FLAT = {"draco-repetition", "elastic"}


@pytest.fixture
def hosts(tmp_path):
    need_root()
    with Hosts(tmp_path / "hosts", 4) as hosts:
        yield hosts


def close_to_flat(trace, folder):
    """Whether the same contributions, added up all at once, give almost the same models."""
    flat, again = folder / "flat.h5", folder / "flat-again.h5"
    shutil.copy(trace, flat)
    with h5py.File(flat, "r+") as file:
        file.attrs["aggregate"] = "flat"
    done = call("simulate", "--replay", flat, "--trace", again, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(trace, "r") as first, h5py.File(again, "r") as second:
        assert attributes_of(first)["aggregate"] == "node"
        one, other = first["iterate/model"][:], second["iterate/model"][:]
        return numpy.allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scheme, options", FAMILIES)
def test_any_scheme_gives_the_sums_of_a_replay(scheme, options, hosts, sparse, tmp_path):
    trace = tmp_path / "run.h5"
    words = ["--scheme", scheme, *options, "--rounds", 20, "--delay", "exponential:0.001"]
    done = hosts.start(FOUR, *run_words(sparse, trace, *words, *NODE)).wait()
    if scheme in FLAT:
        assert done.returncode == 2
        assert "needs each contribution at the coordinator: use flat or auto" in done.stderr
        return
    assert (done.returncode, our_lines(done.stderr)) == (0, [])
    check(trace, tmp_path / "again.h5")
    assert close_to_flat(trace, tmp_path)


@pytest.mark.launcher
@pytest.mark.parametrize("wire", ["float", *whole(("double",), ("bfloat16",))])
def test_fewer_bytes_travel_than_flat(wire, hosts, sparse, tmp_path):
    bytes_of = {}
    for way in "flat", "node":
        trace = tmp_path / f"{way}.h5"
        words = ["--rounds", 10, "--wire", wire, "--aggregate", way, "--scheme", "cyclic"]
        words += ["--stragglers", 3]  # so that the supports of a node overlap
        places = {"n1": 2, "n2": 4, "n3": 4}
        done = hosts.start(places, *run_words(sparse, trace, *words)).wait()
        assert (done.returncode, our_lines(done.stderr)) == (0, [])
        check(trace, tmp_path / f"{way}-again.h5")
        with h5py.File(trace, "r") as file:
            names = "bytes_sent", "bytes_received"
            bytes_of[way] = [file[f"round/{name}"][1:].mean() for name in names]
    for flat, node in zip(bytes_of["flat"], bytes_of["node"]):
        assert node < 0.6 * flat


def leader_on(trace, host):
    """The leader of a host, and its rank: that of the first worker there."""
    worker = workers_on(trace, host)[0]
    with h5py.File(trace, "r") as file:
        return worker, int(file["worker/rank"][worker])


@pytest.mark.launcher
def test_a_leader_may_be_killed(hosts, sparse, tmp_path):
    trace = tmp_path / "run.h5"
    words = ["--scheme", "frc", "--stragglers", 1]
    job = start_resilient(hosts, sparse, trace, *NODE, *words)
    worker, rank = leader_on(trace, "n3")
    os.kill(hosts.rank(rank), signal.SIGKILL)
    done = job.wait()
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    assert membership(trace) == [(DIED, worker)]
    assert close_to_flat(trace, tmp_path)


# The node has points for tasks of the dead leader, which nobody there needs any more.
@pytest.mark.parametrize("scheme", [["pgc-cyclic"], *whole((["frc", "--stragglers", 1],))])
def test_a_standby_rank_of_another_node_takes_the_place_of_a_leader(
    scheme, hosts, sparse, tmp_path
):
    trace = tmp_path / "run.h5"
    words = ["--standby", 1, "--scheme", *scheme]
    job = start_resilient(hosts, sparse, trace, *NODE, *words)
    worker, rank = leader_on(trace, "n3")
    os.kill(hosts.rank(rank), signal.SIGKILL)
    done = job.wait()
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    assert membership(trace) == [(DIED, worker), (LOADING, worker), (JOINED, worker)]
    assert close_to_flat(trace, tmp_path)


# What the new rank sends belongs to the sums of the node where its worker was. Each re-encoding
# gives it other rows, which the leader there must know of.
@pytest.mark.parametrize("scheme", ["cyclic --stragglers 1", *whole(("uncoded",), ("k-async",))])
def test_the_code_may_be_made_anew_for_the_rank_of_another_node(scheme, hosts, sparse, tmp_path):
    trace = tmp_path / "run.h5"
    changes = [f"{20 + 8 * i}r {'join' if i % 2 else 'leave'} {i // 2 % 2}" for i in range(12)]
    events = "; ".join(["3r kill 2,7", *changes])  # the leader of n3, and a worker of n4
    words = ["--scheme", *scheme.split(), "--rounds", 120, *resilient(0.01), "--timeout", 5]
    words += ["--standby", 2, "--events", events, *NODE]
    done = hosts.start({**FOUR, "n4": 4}, *run_words(sparse, trace, *words)).wait()
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    happened = membership(trace)
    assert (LOADING, 2) in happened
    assert close_to_flat(trace, tmp_path)


def test_a_leader_that_is_slow_is_replaced_and_comes_back(hosts, sparse, tmp_path):
    trace = tmp_path / "run.h5"
    words = ["--scheme", "frc", "--stragglers", 1]
    job = start_resilient(hosts, sparse, trace, *NODE, *words, timeout=1)
    worker, rank = leader_on(trace, "n2")
    process = hosts.rank(rank)
    os.kill(process, signal.SIGSTOP)
    wait_until(lambda: seen(trace, "workers_died") > 0)
    os.kill(process, signal.SIGCONT)
    done = job.wait()
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    assert membership(trace)[:2] == [(DIED, worker), (JOINED, worker)]


@pytest.mark.skipif(OPEN_MPI, reason="Open MPI's mpiexec does not end without a host")
@pytest.mark.whole
def test_a_round_begins_anew_whose_contributions_are_lost_with_their_host(hosts, sparse, tmp_path):
    trace = tmp_path / "run.h5"
    # Leaders pass points on and then compute, which the delay makes most of a round: a leader that
    # stops does so in its own computation, and long before it counts as dead.
    words = ["--scheme", "ignore", "--stragglers", 1]
    job = start_resilient(hosts, sparse, trace, *NODE, *words, timeout=12, rounds=40, delay=0.4)
    lost = workers_on(trace, "n4")
    # The others suffice for a step, but one of their contributions is on the host of the leader
    # that has stopped. So the step is decided and cannot be made.
    os.kill(hosts.rank(leader_on(trace, "n4")[1]), signal.SIGSTOP)
    seen = []

    def stands_still():
        seen.append(rounds_in(trace))
        time.sleep(0.5)
        return len(seen) > 4 and len(set(seen[-4:])) == 1

    wait_until(stands_still)
    hosts.kill("n4")
    done = job.wait()
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    happened = membership(trace)
    assert LOST in [kind for kind, _ in happened]
    assert {worker for kind, worker in happened if kind == DIED} == set(lost)


OTHER = {"n1": 5, "n2": 4}


@pytest.mark.parametrize(
    "scheme, places",
    [
        ("pgc-cyclic", OTHER),
        *whole(("pgc-cyclic", FOUR), ("k-async", FOUR), ("k-async", OTHER)),
    ],
)
def test_a_resumed_run_keeps_its_groups(scheme, places, hosts, sparse, tmp_path):
    trace, checkpoint = tmp_path / "run.h5", tmp_path / "run.checkpoint"
    words = ["--scheme", scheme, "--rounds", 400, "--delay", "exponential:0.02", *NODE]
    words = run_words(sparse, trace, *words, "--checkpoint", checkpoint, "--resume")
    job = hosts.start(FOUR, *words, "--checkpoint-every", "5r")
    wait_until(lambda: rounds_in(trace) > 10)
    os.kill(hosts.rank(0), signal.SIGTERM)
    assert job.wait().returncode == 75
    assert rounds_in(trace) < 400
    done = hosts.start(places, *words).wait()
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    with h5py.File(trace, "r") as file:
        assert attributes_of(file)["aggregate"] == "node"
        assert len(set(file["worker/node"][:])) == 4
