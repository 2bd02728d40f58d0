# SPDX-License-Identifier: BSD-2-Clause
"""Runs over MPI that are stopped or killed, and go on."""

import contextlib
import os
import signal
import time

import h5py
import numpy
import pytest

from program import call, inspect, our_lines, parent, rounds_in, start, wait_until

ROUNDS = 300
COMMON = ["--rounds", ROUNDS, "--step", 0.02, "--delay", "exponential:0.004", "--seed", 3]
COMMON += ["--quiet", "--resilient", "--timeout", 5, "--checkpoint-every", "20r"]


def run(folder, data, scheme, options):
    words = ["run", "--data", data, "--scheme", scheme, *options, *COMMON]
    return [*words, "--trace", folder / "t.h5", "--checkpoint", folder / "c.h5", "--resume"]


def stop(folder, words, sign, rank=0, supervisor=False):
    """Starts a run and ends it after its first checkpoint."""
    job = start(*words, ranks=7)
    wait_until(lambda: (folder / "c.h5").exists() or job.process.poll() is not None)
    process = job.rank(rank)
    # Unless it was faster.
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        if process is not None and supervisor:
            os.kill(parent(process), sign)
        if process is not None:
            os.kill(process, sign)
    return job.wait()


# One that is the same however it is interrupted, and one with contributions of many rounds in use.
# All schemes go on from checkpoints in tests/unit, on threads.
CASES = [
    ("uncoded", [], signal.SIGTERM),
    pytest.param("uncoded", [], signal.SIGKILL, marks=pytest.mark.launcher),
    ("dsag", ["--subpartitions", 3], signal.SIGKILL),
]


@pytest.mark.parametrize("scheme, options, sign", CASES)
def test_a_run_goes_on_where_it_was_stopped(scheme, options, sign, gaussians, tmp_path):
    words = run(tmp_path, gaussians, scheme, options)
    if sign == signal.SIGKILL:
        words.remove("--resilient")  # with which others take the coordinator's place
    done = stop(tmp_path, words, sign)
    if rounds_in(tmp_path / "t.h5") < ROUNDS:
        assert done.returncode == 75 or (sign == signal.SIGKILL and done.returncode != 0)
    before = rounds_in(tmp_path / "t.h5")
    assert before > 0
    done = call(*words, ranks=7)
    assert done.returncode == 0, done.stderr
    report = inspect(tmp_path / "t.h5")
    assert (report["status"], report["faults"]) == ("completed", [])
    again = ["simulate", "--replay", tmp_path / "t.h5", "--trace", tmp_path / "r.h5", "--quiet"]
    assert call(*again).returncode == 0
    plain = ["simulate", "--data", gaussians, "--workers", 6, "--rounds", ROUNDS, "--step", 0.02]
    plain += ["--seed", 3, "--scheme", scheme, *options, "--trace", tmp_path / "p.h5", "--quiet"]
    if scheme == "uncoded":
        assert call(*plain).returncode == 0
    with h5py.File(tmp_path / "t.h5", "r") as ours, h5py.File(tmp_path / "r.h5", "r") as replayed:
        iterates = ours["iterate/model"][:]
        assert numpy.array_equal(iterates, replayed["iterate/model"][:])
        assert (numpy.diff(ours["round/time"][:]) >= 0).all()
        if scheme == "uncoded":
            with h5py.File(tmp_path / "p.h5", "r") as unbroken:
                assert numpy.array_equal(iterates, unbroken["iterate/model"][:])


@pytest.mark.launcher
def test_a_signal_to_rank_and_supervisor_is_one_signal(gaussians, tmp_path):
    words = run(tmp_path, gaussians, "uncoded", [])
    done = stop(tmp_path, words, signal.SIGTERM, supervisor=True)
    if rounds_in(tmp_path / "t.h5") < ROUNDS:
        assert done.returncode == 75, done.stderr
        assert inspect(tmp_path / "t.h5")["status"] == "interrupted"


@pytest.mark.launcher
def test_a_run_that_its_launcher_ends_with_a_worker_goes_on(gaussians, tmp_path):
    words = run(tmp_path, gaussians, "uncoded", [])
    words.remove("--resilient")
    done = stop(tmp_path, words, signal.SIGKILL, rank=3)
    if rounds_in(tmp_path / "t.h5") < ROUNDS:
        assert done.returncode != 0
    done = call(*words, ranks=7)
    assert done.returncode == 0, done.stderr
    report = inspect(tmp_path / "t.h5")
    assert (report["status"], report["faults"]) == ("completed", [])
    plain = ["simulate", "--data", gaussians, "--workers", 6, "--rounds", ROUNDS, "--step", 0.02]
    assert call(*plain, "--seed", 3, "--trace", tmp_path / "p.h5", "--quiet").returncode == 0
    with h5py.File(tmp_path / "t.h5", "r") as ours, h5py.File(tmp_path / "p.h5", "r") as unbroken:
        assert numpy.allclose(ours["model/final"], unbroken["model/final"], rtol=1e-9, atol=1e-12)


@pytest.mark.launcher
def test_the_dead_are_there_again_after_a_resumption(gaussians, tmp_path):
    words = run(tmp_path, gaussians, "uncoded", ["--events", "5r kill 2; 9r leave 4"])
    stop(tmp_path, words, signal.SIGTERM)
    done = call(*words, ranks=7)
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "t.h5", "r") as trace:
        last = (
            trace["membership/kind"][:].tolist()[-3:],
            trace["membership/worker"][:].tolist()[-3:],
        )
        assert last == ([1, 1, 4], [2, 4, 6])
    assert inspect(tmp_path / "t.h5")["faults"] == []


def test_a_run_stops_before_its_time_is_over(gaussians, tmp_path):
    words = run(tmp_path, gaussians, "uncoded", [])
    words[words.index("--rounds") + 1] = 100000
    done = call(*words, "--walltime", "6s", "--stop-before", "4s", ranks=7)
    assert done.returncode == 75, done.stderr
    assert "with --resume goes on" in done.stderr
    # Ranks that start on a machine that does much else take some of these seconds.
    end = {"SLURM_JOB_END_TIME": str(int(time.time()) + 15)}
    done = call(*words, "--stop-before", "5s", ranks=7, env=end)
    assert done.returncode == 75, done.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (["--stop-before", "5min"], "--stop-before is 5min, but nothing says when the job ends"),
        (["--stop-before", "soon", "--walltime", "1h"], "--stop-before is soon"),
        (["--walltime", "1 day"], "--walltime is 1 day"),
        (["--stop-before", "2h", "--walltime", "1h"], "is over already"),
    ],
)
def test_bad_times_are_refused(words, message, gaussians, tmp_path):
    given = ["run", "--data", gaussians, "--trace", tmp_path / "t.h5", *words]
    done = call(*given, ranks=3)
    assert done.returncode == 2
    assert len(our_lines(done.stderr)) == 1 and message in done.stderr


def test_a_checkpoint_that_cannot_be_written_does_not_stop_the_run(gaussians, tmp_path):
    folder = tmp_path / "full"
    folder.mkdir()
    words = ["run", "--data", gaussians, "--trace", tmp_path / "t.h5", "--rounds", 800]
    words += ["--delay", "constant:0.005", "--checkpoint", folder / "c.h5"]
    job = start(*words, "--checkpoint-every", "5r", ranks=3)
    wait_until(lambda: (folder / "c.h5").exists())
    folder.rename(tmp_path / "gone")
    done = job.wait()
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no checkpoint in") == 1
    assert inspect(tmp_path / "t.h5")["status"] == "completed"


@pytest.mark.launcher
def test_a_complete_resilient_run_is_done_each_time(gaussians, tmp_path):
    words = run(tmp_path, gaussians, "uncoded", [])
    words[words.index("--rounds") + 1] = 5
    assert call(*words, ranks=7).returncode == 0
    # Its coordinator leaves as soon as it has received all farewells.
    for _ in range(10):
        done = call(*words, ranks=7)
        assert (done.returncode, our_lines(done.stderr)) == (0, []), done.stdout + done.stderr
        assert "the run is complete" in done.stdout
