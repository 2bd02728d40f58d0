# SPDX-License-Identifier: BSD-2-Clause
"""Runs over hosts, each with its own network, processes and shared memory, all on this machine."""

import os
import signal
import time

import h5py
import numpy
import pytest

from many_hosts import Hosts, need_root
from membership_test import membership, replay
from program import (
    OPEN_MPI,
    QUORATE,
    REPOSITORY,
    attributes_of,
    call,
    inspect,
    our_lines,
    output,
    rounds_in,
    wait_until,
    whole,
)

JOINED, DIED, RECODED, LOADING = 1, 3, 4, 5
TWO = {"n1": 3, "n2": 2}
FOUR = {"n1": 3, "n2": 2, "n3": 2, "n4": 2}


def resilient(delay=0.05):
    return ["--resilient", "--delay", f"constant:{delay}"]


@pytest.fixture
def hosts(tmp_path):
    need_root()
    with Hosts(tmp_path / "hosts", 4) as hosts:
        yield hosts


def run_words(data, trace, *words):
    given = ["run", "--data", data, "--trace", trace, "--step", 0.1, "--quiet"]
    return [*given, *words]


def check(trace, again):
    """A trace is sound and complete, and its replay has the same bits."""
    report = inspect(trace)
    assert (report["status"], report["faults"]) == ("completed", [])
    replay(trace, again)


def workers_on(trace, host):
    with h5py.File(trace, "r") as file:
        node = attributes_of(file)["nodes"].split().index(host)
        return numpy.flatnonzero(file["worker/node"][:] == node).tolist()


@pytest.mark.launcher
@pytest.mark.parametrize(
    "places, words",
    [
        (FOUR, ["--resilient"]),
        (TWO, ["--transport", "messages"]),
        *whole((TWO, []), (TWO, ["--resilient"]), (FOUR, []), (FOUR, ["--transport", "messages"])),
    ],
)
def test_a_run_over_hosts_ends_and_shares_memory_on_the_coordinators_alone(
    places, words, hosts, sparse, tmp_path
):
    trace = tmp_path / "run.h5"
    options = ["--rounds", 20, *words]
    done = hosts.start(places, *run_words(sparse, trace, *options)).wait()
    assert (done.returncode, our_lines(done.stderr)) == (0, [])
    check(trace, tmp_path / "again.h5")
    for host, ranks in places.items():
        assert len(workers_on(trace, host)) == ranks - (host == "n1")
    with h5py.File(trace, "r") as file:
        shared = attributes_of(file)["shared_workers"]
    assert shared == (0 if "messages" in words else places["n1"] - 1)
    # The same bits as on one host.
    alone = tmp_path / "alone.h5"
    words = run_words(sparse, alone, "--rounds", 20)
    assert call(*words, ranks=sum(places.values())).returncode == 0
    with h5py.File(trace, "r") as first, h5py.File(alone, "r") as second:
        assert numpy.array_equal(first["iterate/model"][:], second["iterate/model"][:])


# Workers are interrupted, and answers come that nobody wants any more.
@pytest.mark.parametrize(
    "scheme", ["async", *whole(("agc --stragglers 1 --collect 4",), ("m-sgc",))]
)
def test_any_scheme_runs_over_hosts_of_which_one_has_a_slow_link(scheme, hosts, sparse, tmp_path):
    trace = tmp_path / "run.h5"
    for host in hosts.names:
        hosts.manage("link", host, "rate", "20mbit" if host == "n3" else "200mbit")
    words = ["--scheme", *scheme.split(), "--rounds", 40, "--delay", "exponential:0.001"]
    done = hosts.start(FOUR, *run_words(sparse, trace, *words)).wait()
    assert (done.returncode, our_lines(done.stderr)) == (0, [])
    check(trace, tmp_path / "again.h5")


def written(read):
    """What `read` finds in the trace of a run under way: nothing while it is half written."""
    try:
        return read()
    except (OSError, KeyError, ValueError):
        return []


def dead_in(trace):
    return {worker for kind, worker in written(lambda: membership(trace)) if kind == DIED}


def start_resilient(hosts, data, trace, *words, timeout=1, rounds=80, delay=0.05):
    """A run that has done some rounds."""
    words = [*resilient(delay), "--rounds", rounds, "--timeout", timeout, *words]
    job = hosts.start(FOUR, *run_words(data, trace, *words))
    wait_until(lambda: rounds_in(trace) > 10 or job.process.poll() is not None)
    if not trace.exists():
        pytest.fail(f"it has ended before it began: {job.wait()}")
    # Where tables grow before their rows are written, all workers are on the first host at first.
    wait_until(lambda: written(lambda: workers_on(trace, "n3")))
    return job


@pytest.mark.launcher
def test_a_worker_on_another_host_may_be_killed(hosts, gaussians, tmp_path):
    trace = tmp_path / "run.h5"
    job = start_resilient(hosts, gaussians, trace)
    os.kill(hosts.rank(4), signal.SIGKILL)
    done = job.wait()
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    dead = [worker for kind, worker in membership(trace) if kind == DIED]
    assert len(dead) == 1 and dead[0] in workers_on(trace, "n2")


@pytest.mark.skipif(OPEN_MPI, reason="Open MPI's mpiexec does not end without a host")
@pytest.mark.parametrize("standby", [0, 1])
def test_a_host_may_vanish(standby, hosts, gaussians, tmp_path):
    trace = tmp_path / "run.h5"
    job = start_resilient(hosts, gaussians, trace, "--standby", standby)
    lost = workers_on(trace, "n3")
    assert len(lost) == 2
    hosts.kill("n3")
    done = job.wait()
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    happened = membership(trace)
    assert {worker for kind, worker in happened if kind == DIED} == set(lost)
    # The first loss brings no re-encoding that reckons with the second.
    assert [kind for kind, _ in happened[:2]] == [DIED, DIED] or standby == 1
    assert len([kind for kind, _ in happened if kind == RECODED]) == 1
    # A standby rank, which is on n4, takes one of the places.
    replaced = [worker for kind, worker in happened if kind == LOADING]
    assert len(replaced) == standby and set(replaced) < set(lost)


@pytest.mark.launcher
@pytest.mark.parametrize(
    "timeout, way", [(1, "node"), *whole((1, "flat"), (20, "flat"), (20, "node"))]
)
def test_a_link_may_be_down_for_a_while(timeout, way, hosts, gaussians, tmp_path):
    trace = tmp_path / "run.h5"
    # It goes on when the link is up again.
    words = ["--aggregate", way]
    job = start_resilient(hosts, gaussians, trace, *words, timeout=timeout, rounds=200)
    cut = workers_on(trace, "n3")
    hosts.manage("link", "n3", "down")
    if timeout == 1:
        wait_until(lambda: dead_in(trace) == set(cut))
    else:
        time.sleep(5)
    hosts.manage("link", "n3", "up")
    done = job.wait()
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    happened = membership(trace)
    assert all(worker in cut for kind, worker in happened if kind in (DIED, JOINED))
    back = {worker for kind, worker in happened if kind == JOINED}
    assert back == (set(cut) if timeout == 1 else set())
    assert timeout == 1 or happened == []


def test_ranks_end_without_the_coordinators_host_and_the_run_goes_on_elsewhere(
    hosts, gaussians, tmp_path
):
    trace, checkpoint = tmp_path / "run.h5", tmp_path / "run.checkpoint"
    words = ["--checkpoint", checkpoint, "--checkpoint-every", "5r", "--resume"]
    job = start_resilient(hosts, gaussians, trace, *words, timeout=0.5)
    hosts.kill("n1")
    job.wait()
    # The others take the coordinator's place, unless the launcher, which was there, ends them too.
    wait_until(lambda: not any(hosts.processes(host) for host in hosts.names))
    places = {"n2": 3, "n3": 3, "n4": 3}
    words = run_words(gaussians, trace, *resilient(), "--rounds", 80, *words)
    done = hosts.start(places, *words, launcher="n2").wait()
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    assert rounds_in(trace) == 80


def test_hosts_that_ssh_reaches_are_ready_for_scripts(hosts, tmp_path):
    (tmp_path / "list").write_text("n1:3\nn2:2\n")
    words = ["script", "--experiment", "jobs/stragglers.ini", "--cluster", "hosts"]
    words += ["--hostfile", tmp_path / "list", "--output", tmp_path / "out", "--quiet"]
    output(*hosts.on("n1", QUORATE, *words))
    assert output(*hosts.on("n1", QUORATE, *words, "--check")) == ""


def test_the_host_file_of_machines_in_a_cloud_starts_an_experiment(hosts, gaussians, tmp_path):
    cloud = tmp_path / "cloud"
    (cloud / "bin").mkdir(parents=True)
    for tool in ("aws", "ssh"):
        (cloud / "bin" / tool).symlink_to(REPOSITORY / "tests" / "clouds.py")
    for file in ("key", "key.pub"):
        (cloud / file).write_text("ssh-ed25519 MINE me\n")
    words = ["launch", "try", "--cloud", "aws", "--key", cloud / "key", "--image", "ami-0abc"]
    words += ["--machines", 3, "--hostfile", cloud / "list"]
    path = f"{cloud / 'bin'}:/usr/bin:/bin"
    done = call("hosts", *words, env={"CLOUD": str(cloud), "PATH": path, "NETWORK": "10.77.0"})
    assert done.returncode == 0, done.stderr
    (tmp_path / "tiny.ini").write_text(
        "commands = run\nscheme = frc\nstragglers = 2\nworkers = 9\nrounds = 5\nstep = 0.1\n"
    )
    words = ["script", "--experiment", tmp_path / "tiny.ini", "--cluster", "hosts", "--quiet"]
    words += ["--data", gaussians, "--hostfile", cloud / "list", "--output", tmp_path / "out"]
    output(*hosts.on("n1", QUORATE, *words))
    output(*hosts.on("n1", "bash", tmp_path / "out" / "run.sh"))
    (trace,) = (tmp_path / "out").glob("*.h5")
    assert rounds_in(trace) == 5
    with h5py.File(trace, "r") as file:
        # The coordinator has the first machine for itself, and the second one has eight cores.
        assert attributes_of(file)["nodes"].split() == ["n2", "n3"]


def test_doctor_names_the_hosts(hosts):
    done = hosts.start(TWO, "doctor").wait()
    assert "5 ranks on 2 hosts" in done.stdout, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert {("n1", "0-2"), ("n2", "3-4")} <= {tuple(line[:2]) for line in lines}
