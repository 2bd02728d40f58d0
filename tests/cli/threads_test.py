# SPDX-License-Identifier: BSD-2-Clause
"""quorate run without a launcher. tests/unit/thread_runs_test.cpp has all schemes."""

import os
import pathlib
import signal

import h5py
import numpy as np
import pytest

from program import call, rounds_in, start, wait_until

RUN = ["--workers", 4, "--step", 0.02, "--delay", "exponential:0.004", "--seed", 3, "--quiet"]


def test_one_process_runs_until_it_is_told_to_stop_and_goes_on(gaussians, tmp_path):
    trace, checkpoint = tmp_path / "t.h5", tmp_path / "c.h5"
    words = ["run", "--data", gaussians, *RUN, "--rounds", 400, "--checkpoint-every", "20r"]
    words += ["--trace", trace, "--checkpoint", checkpoint, "--resume"]
    job = start(*words)
    wait_until(checkpoint.exists)
    os.kill(job.process.pid, signal.SIGTERM)
    assert job.wait().returncode == 75
    assert 0 < rounds_in(trace) < 400
    done = call(*words)
    assert done.returncode == 0, done.stderr
    assert rounds_in(trace) == 400
    again = tmp_path / "again.h5"
    assert call("simulate", "--quiet", "--replay", trace, "--trace", again).returncode == 0
    with h5py.File(trace) as one, h5py.File(again) as other:
        assert np.array_equal(one["model/final"], other["model/final"])


# SLURM sends what --signal says to all tasks; a shell that ends sends SIGHUP.
@pytest.mark.parametrize("number", ["SIGUSR1", "SIGUSR2", "SIGHUP", "SIGXCPU"])
def test_any_warning_signal_stops_a_run_in_order(number, gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    job = start("run", "--data", gaussians, *RUN, "--rounds", 100000, "--trace", trace)
    wait_until(lambda: rounds_in(trace) > 0)
    os.kill(job.process.pid, signal.Signals[number])
    assert job.wait().returncode == 75


@pytest.mark.parametrize("command", ["run", "simulate"])
def test_one_process_opens_no_port(command, gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    job = start(command, "--data", gaussians, *RUN, "--rounds", 1000000, "--trace", trace)
    wait_until(lambda: rounds_in(trace) > 0)
    files = [os.readlink(path) for path in pathlib.Path(f"/proc/{job.process.pid}/fd").iterdir()]
    os.kill(job.process.pid, signal.SIGTERM)
    assert job.wait().returncode == 75
    assert files and not [name for name in files if name.startswith("socket:")]


def test_who_comes_second_is_told_of_the_first_and_its_job(gaussians, tmp_path):
    words = ["--data", gaussians, *RUN, "--rounds", 1000000, "--trace", tmp_path / "t.h5"]
    job = start("run", *words, env={"SLURM_JOB_ID": "17"})
    wait_until(lambda: rounds_in(tmp_path / "t.h5") > 0)
    for more in (["--overwrite"], ["--resume", "--checkpoint", tmp_path / "c.h5"]):
        done = call("run", *words, *more)
        assert done.returncode == 2
        told = f"{tmp_path}/t.h5 is being written by process {job.process.pid} on "
        assert told in done.stderr and ", job 17, since " in done.stderr
    os.kill(job.process.pid, signal.SIGTERM)
    assert job.wait().returncode == 75


def test_machines_of_a_killed_run_go_on_as_if_nothing_had_happened(gaussians, tmp_path):
    """On the wall clock, too, because equal shares do not depend on who answers first."""
    words = ["run", "--data", gaussians, *RUN, "--scheme", "elastic", "--needed", 3]
    words += ["--rounds", 300]
    assert call(*words, "--trace", tmp_path / "whole.h5").returncode == 0
    files = ["--trace", tmp_path / "t.h5", "--checkpoint", tmp_path / "c.h5", "--resume"]
    job = start(*words, *files, "--checkpoint-every", "20r")
    wait_until((tmp_path / "c.h5").exists)
    job.kill()
    job.wait()
    done = call(*words, *files, "--checkpoint-every", "20r")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "whole.h5") as one, h5py.File(tmp_path / "t.h5") as other:
        assert np.array_equal(one["iterate/model"], other["iterate/model"])


@pytest.mark.parametrize("ranks", [None, 1])
def test_a_launcher_of_one_rank_changes_nothing(ranks, gaussians, tmp_path):
    done = call(
        "run", "--data", gaussians, *RUN, "--rounds", 5, "--trace", tmp_path / "t.h5", ranks=ranks
    )
    assert done.returncode == 0, done.stderr
    assert rounds_in(tmp_path / "t.h5") == 5
