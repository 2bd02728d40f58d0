# SPDX-License-Identifier: BSD-2-Clause
"""Runs over MPI, and again from their traces: the same iterates, bit for bit."""

import h5py
import numpy
import pytest

from program import attributes_of, call, inspect, our_lines

# Schemes that need contributions of many rounds, and tasks of which no row is computed in time.
WAYS = [("dsag", ["--subpartitions", 3, "--cache", "worker"]), ("amb", ["--compute-time", 1e-6])]


@pytest.mark.parametrize("scheme, options", WAYS)
def test_a_replayed_run_gives_the_same_bits(scheme, options, gaussians, tmp_path):
    run, again = tmp_path / "run.h5", tmp_path / "again.h5"
    words = ["run", "--data", gaussians, "--scheme", scheme, *options, "--trace", run]
    words += ["--rounds", 12, "--delay", "exponential:0.003", "--step", 0.1, "--quiet"]
    done = call(*words, ranks=8)
    assert done.returncode == 0, done.stderr
    assert inspect(run)["faults"] == []
    done = call("simulate", "--replay", run, "--trace", again, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(run, "r") as first, h5py.File(again, "r") as second:
        assert attributes_of(second)["clock"] == "replayed"
        for name in ["iterate/model", "model/final", "round/used", "round/loss_estimate"]:
            assert numpy.array_equal(first[name][:], second[name][:]), name
        for name in ["event", "worker", "task", "part", "draw", "version_oldest", "used", "uses"]:
            assert numpy.array_equal(first[f"arrival/{name}"][:], second[f"arrival/{name}"][:])


def test_a_trace_without_all_arrivals_is_not_replayed(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, "--rounds", 3, "--quiet"]
    assert call(*words, "--trace-arrivals", "used", ranks=3).returncode == 0
    assert inspect(run)["faults"] == []
    done = call("simulate", "--replay", run, "--trace", tmp_path / "again.h5")
    assert done.returncode == 2
    assert our_lines(done.stderr) == [
        f"quorate: --replay is {run}, which does not list all contributions: give a trace of "
        "--trace-arrivals all"
    ]


def test_a_trace_is_not_replayed_into_itself(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, "--rounds", 3, "--quiet"]
    assert call(*words, ranks=3).returncode == 0
    done = call("simulate", "--replay", run, "--trace", run)
    assert done.returncode == 2
    assert "which is the trace that is replayed" in done.stderr
    assert inspect(run)["rounds_done"] == 3


@pytest.mark.launcher
def test_a_byzantine_worker_that_nobody_tolerates_is_seen_where_it_can_be(gaussians, tmp_path):
    words = ["--data", gaussians, "--rounds", 3, "--quiet", "--trace", tmp_path / "t.h5"]
    done = call("run", *words, "--byzantine", "nan:1", ranks=4)
    assert done.returncode == 1
    assert "the estimate of round 1 is not finite" in done.stderr
    draco = ["--scheme", "draco-repetition", "--stragglers", 0]
    done = call("run", *words, *draco, "--byzantine", "random:0,1", ranks=4)
    assert done.returncode == 1
    assert "no 2 answers of group 0 are equal" in done.stderr


@pytest.mark.parametrize("model", ["logistic", "softmax", "mlp"])
def test_bits_do_not_depend_on_where_rows_begin(model, tmp_path):
    data, run, again = (tmp_path / f"{name}.h5" for name in ("data", "run", "again"))
    size = ["--rows", 203, "--columns", 13, "--test-rows", 41]
    assert call("generate", *size, "--output", data, "--quiet").returncode == 0
    words = ["--scheme", "cyclic", "--stragglers", 2, "--rounds", 5, "--step", 0.1, "--quiet"]
    words += ["--data", data, "--model", model, "--trace", run]
    assert call("run", *words, ranks=8).returncode == 0
    words = ["--replay", run, "--trace", again, "--quiet"]
    assert call("simulate", *words).returncode == 0
    with h5py.File(run, "r") as first, h5py.File(again, "r") as second:
        for name in ["iterate/model", "model/final", "round/loss_estimate"]:
            assert numpy.array_equal(first[name][:], second[name][:]), name


def test_row_time_and_slowdown_pad_the_computation(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, "--rounds", 5, "--quiet"]
    words += ["--row-time", 1e-4, "--slowdown", "fixed:3,1", "--evaluate-every", 0]
    assert call(*words, ranks=4).returncode == 0
    with h5py.File(run, "r") as trace:
        worker, rows = trace["arrival/worker"][:], trace["arrival/samples"][:]
        compute = trace["arrival/compute"][:]
    least = rows * 1e-4 * numpy.where(worker == 1, 3, 1)
    assert numpy.all(compute >= least * 0.999)


def test_a_worker_that_drew_no_partition_answers(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, "--rounds", 5, "--quiet"]
    words += ["--scheme", "stochastic", "--degree", 1]
    assert call(*words, ranks=9).returncode == 0
    with h5py.File(run, "r") as trace:
        idle = trace["arrival/samples"][:] == 0
        assert idle.any()
        assert numpy.array_equal(trace["arrival/version"][:], trace["arrival/version_oldest"][:])
        assert (trace["arrival/version"][:] >= 0).all()
