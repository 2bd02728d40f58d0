# SPDX-License-Identifier: BSD-2-Clause
"""Workers that leave, die and join over MPI."""

import os
import re
import signal
import time

import h5py
import numpy
import pytest

from program import call, inspect, our_lines, rounds_in, seen, start, wait_until

JOINED, LEFT, DIED, RECODED, LOADING, APART = 1, 2, 3, 4, 5, 8
RANKS = 9
COMMON = ["--delay", "exponential:0.004", "--step", 0.1, "--timeout", 5, "--resilient", "--quiet"]

# Families of schemes, and options with which they survive two deaths in one way or another. All
# schemes do so in tests/unit, on threads.
FAMILIES = [
    ("frc", ["--stragglers", 1]),
    pytest.param("elastic", ["--needed", 3], marks=pytest.mark.launcher),
    ("cyclic", ["--stragglers", 2]),
    ("dsag", ["--subpartitions", 3, "--collect", 4]),
]
EXACT = {"frc", "cyclic", "elastic"}


def membership(path):
    """Changes after the start: (kind, worker)."""
    with h5py.File(path, "r") as trace:
        table = trace["membership"]
        later = (table["event"][:] > 0) & (table["kind"][:] != APART)
        return list(zip(table["kind"][:][later].tolist(), table["worker"][:][later].tolist()))


def replay(run, again, stopped=False):
    """stopped: a run that was told to stop has heard of more arrivals since its last round."""
    done = call("simulate", "--replay", run, "--trace", again, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(run, "r") as first, h5py.File(again, "r") as second:
        names = ["iterate/model", "round/used", "arrival/event", "arrival/used", "arrival/uses"]
        names += ["membership/event", "membership/kind", "membership/worker"]
        for name in names:
            recorded, replayed = first[name][:], second[name][:]
            if stopped and name.startswith("arrival/"):
                recorded = recorded[: len(replayed)]
            assert numpy.array_equal(recorded, replayed), name


@pytest.mark.parametrize("scheme, options", FAMILIES)
def test_a_run_survives_deaths_and_departures(scheme, options, gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--scheme", scheme, *options, "--trace", run, *COMMON]
    words += ["--rounds", 30, "--events", "3r kill 1; 6r leave 5; 9r kill 6; 15r join 5"]
    done = call(*words, ranks=RANKS)
    assert done.returncode == 0, done.stderr + done.stdout
    report = inspect(run)
    assert report["faults"] == []
    assert report["status"] == "completed"
    happened = membership(run)
    assert (LEFT, 5) in happened and (JOINED, 5) in happened
    replay(run, tmp_path / "again.h5")
    if scheme in EXACT:
        plain = tmp_path / "plain.h5"
        words = ["simulate", "--data", gaussians, "--workers", 8, "--rounds", 30, "--step", 0.1]
        assert call(*words, "--trace", plain, "--quiet").returncode == 0
        with h5py.File(run, "r") as one, h5py.File(plain, "r") as other:
            assert numpy.allclose(one["model/final"], other["model/final"], rtol=1e-9, atol=1e-12)


@pytest.mark.launcher
def test_standby_ranks_take_the_places_of_the_dead(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--scheme", "uncoded", "--trace", run, *COMMON]
    words += ["--rounds", 40, "--standby", 2, "--events", "3r kill 1; 9r kill 1,4; 12r kill 2"]
    done = call(*words, ranks=RANKS)
    assert done.returncode == 0, done.stderr
    happened = membership(run)
    assert [kind for kind, _ in happened].count(LOADING) == 2
    assert happened[:3] == [(DIED, 1), (LOADING, 1), (JOINED, 1)]
    # The third and the fourth death find nobody to take over.
    assert happened[-1][0] == RECODED
    replay(run, tmp_path / "again.h5")


@pytest.mark.parametrize("standby", [0, pytest.param(2, marks=pytest.mark.launcher)])
def test_a_death_after_the_last_round_does_not_stop_the_scoring(standby, gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--scheme", "ignore", "--stragglers", 3, "--trace", run]
    words += [*COMMON, "--rounds", 30, "--standby", standby]
    done = call(*words, "--events", "29r kill 1; 30r kill 4; 30r leave 2", ranks=RANKS)
    assert (done.returncode, our_lines(done.stderr)) == (0, [])
    report = inspect(run)
    assert (report["status"], report["faults"]) == ("completed", [])
    with h5py.File(run, "r") as trace:
        assert numpy.isfinite(trace["evaluation/train_loss"][:]).all()
        assert trace["evaluation/round"][-1] == 30


@pytest.mark.launcher
def test_kill_minus_nine_is_an_erasure(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--scheme", "frc", "--stragglers", 1, "--trace", run]
    options = [word for word in COMMON if word != "--quiet"]
    job = start(*words, *options, "--rounds", 600, ranks=RANKS)
    wait_until(lambda: rounds_in(run) > 0)
    os.kill(job.rank(4), signal.SIGKILL)
    done = job.wait()
    assert done.returncode == 0, done.stderr
    said = [line for line in our_lines(done.stderr) if "has died" in line]
    assert len(said) == 1
    assert re.fullmatch(r"quorate: worker 3 on \S+ has died in round \d+", said[0])
    assert membership(run) == [(DIED, 3)]
    report = inspect(run)
    assert (report["status"], report["faults"]) == ("completed", [])


@pytest.mark.launcher
def test_a_signalled_worker_leaves_with_notice(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, *COMMON, "--rounds", 400]
    job = start(*words, ranks=RANKS)
    wait_until(lambda: rounds_in(run) > 0)
    os.kill(job.rank(2), signal.SIGUSR2)
    os.kill(job.rank(5), signal.SIGTERM)
    done = job.wait()
    assert done.returncode == 0, done.stderr
    happened = membership(run)
    assert (LEFT, 1) in happened and (LEFT, 4) in happened and (DIED, 1) not in happened
    assert happened[-1] == (RECODED, 6)


@pytest.mark.launcher
def test_two_workers_leave_at_once(gaussians, tmp_path):
    # The coordinator learns of both together. Re-encoding for the first, it must not lose the
    # notice of the second, which is loading its new rows then.
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, *COMMON, "--rounds", 100000]
    job = start(*words, ranks=RANKS)
    wait_until(lambda: rounds_in(run) > 0)
    os.kill(job.rank(0), signal.SIGSTOP)
    for rank in 2, 5:
        os.kill(job.rank(rank), signal.SIGUSR2)
    time.sleep(0.5)  # workers give notice a moment after the signal
    os.kill(job.rank(0), signal.SIGCONT)
    wait_until(lambda: seen(run, "workers_left") == 2)
    last = rounds_in(run)
    wait_until(lambda: rounds_in(run) > last)
    os.kill(job.rank(0), signal.SIGTERM)
    done = job.wait()
    assert done.returncode == 75, done.stderr
    happened = membership(run)
    assert {(LEFT, 1), (LEFT, 4)} < set(happened)
    assert happened[-1] == (RECODED, 6)
    replay(run, tmp_path / "again.h5", stopped=True)


@pytest.mark.parametrize("more", [[], ["--evaluate", "live"]])
def test_ranks_that_have_nothing_to_do_stay_to_the_end(more, gaussians, tmp_path):
    # A rank that receives nothing from the coordinator for ten times --timeout leaves.
    words = ["--data", gaussians, "--workers", 2, "--rounds", 60, "--delay", "constant:0.1"]
    words += ["--timeout", 0.5, "--trace", tmp_path / "t.h5", "--quiet", *more]
    done = call("run", *words, ranks=5)
    assert done.returncode == 0, done.stderr
    assert rounds_in(tmp_path / "t.h5") == 60
    assert inspect(tmp_path / "t.h5")["status"] == "completed"


@pytest.mark.launcher
def test_a_loss_that_is_not_to_be_survived_ends_the_run(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, *COMMON, "--rounds", 50]
    done = call(*words, "--on-loss", "stop", "--events", "5r kill 3", ranks=RANKS)
    assert done.returncode == 1
    assert our_lines(done.stderr) == [
        "quorate: no estimate is possible any more: all workers that are left have answered; gone: "
        "worker 3"
    ]
    assert inspect(run)["status"] == "failed"


@pytest.mark.launcher
def test_all_workers_may_be_away_for_a_while(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, *COMMON, "--rounds", 60]
    done = call(*words, "--events", "0.1 leave 0,1; 0.3 join 1", ranks=3)
    assert done.returncode == 0, done.stderr
    replay(run, tmp_path / "again.h5")
