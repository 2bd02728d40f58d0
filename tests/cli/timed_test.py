# SPDX-License-Identifier: BSD-2-Clause
"""Schemes that use time or staleness, by the wall clock."""

import h5py
import numpy
import pytest

from program import call, inspect


def run(folder, data, scheme, *words, ranks=None):
    """Columns of the trace of one run."""
    trace = folder / "t.h5"
    command = ["run", "--data", data, "--scheme", scheme, "--trace", trace, "--quiet"]
    done = call(*command, "--overwrite", "--workers", 4, "--step", 0.1, *words, ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert inspect(trace)["faults"] == []
    with h5py.File(trace, "r") as file:
        columns = {f"{t}/{c}": file[t][c][:] for t in ("round", "arrival") for c in file[t]}
        return {**columns, "iterates": file["iterate/model"][:]}


@pytest.mark.launcher
def test_a_worker_that_sleeps_ten_times_as_long_costs_no_time(gaussians, tmp_path):
    words = ["--compute-time", 0.05, "--rounds", 20, "--delay", "fixed:0.5,2"]
    got = run(tmp_path, gaussians, "amb", *words, ranks=5)
    asleep = got["arrival/worker"] == 2
    assert (got["arrival/samples"][asleep] == 0).all()
    assert (got["arrival/samples"][~asleep] > 0).any()
    # Far less than the twenty times 0.5 s that it would have slept.
    assert got["round/time"][-1] < 5
    assert (got["arrival/delay"][asleep] < 0.3).all()


def test_rows_keep_their_pace_within_the_time(gaussians, tmp_path):
    words = ["--compute-time", 0.05, "--row-time", 0.001, "--rounds", 10, "--micro-batch", 5]
    got = run(tmp_path, gaussians, "amb", *words)
    # A row takes a millisecond at least: 50 of them, and none that would end too late.
    assert got["arrival/samples"].max() <= 50
    assert (got["arrival/samples"] % 5 == 0).all()


def test_a_round_ends_when_all_have_their_share_of_the_cap(gaussians, tmp_path):
    words = ["--compute-time", 5, "--samples-cap", 40, "--rounds", 10, "--micro-batch", 4]
    got = run(tmp_path, gaussians, "amb", *words)
    assert (got["arrival/samples"] == 10).all() and (got["round/samples"] == 40).all()
    # Far less than ten times 5 s.
    assert got["round/time"][-1] < 5
    # Nothing of it depends on the clock: a simulation makes the same bits.
    trace = tmp_path / "simulated.h5"
    command = ["simulate", "--data", gaussians, "--scheme", "amb", "--workers", 4, "--step", 0.1]
    done = call(*command, *words, "--row-time", 0.001, "--trace", trace, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(trace, "r") as file:
        assert numpy.array_equal(file["iterate/model"][:], got["iterates"])


def test_items_that_time_cuts_off_do_not_count(gaussians, tmp_path):
    words = ["--messages", "prefix", "--stragglers", 3, "--deadline", 0.12, "--rounds", 10]
    words += ["--slowdown", "fixed:4,2"]
    with h5py.File(gaussians, "r") as file:
        rows = len(file["train/label"])
    sizes = numpy.diff([rows * j // 4 for j in range(5)])
    whole = [
        {0, *(numpy.cumsum(numpy.roll(sizes, -worker)).tolist())} for worker in range(4)
    ]  # a worker begins with the partition of its own number
    for pace in (["--row-time", 0.001], []):
        got = run(tmp_path, gaussians, "partial", *words, *pace)
        for worker, samples in zip(got["arrival/worker"], got["arrival/samples"]):
            assert samples in whole[worker]
        if pace:
            # Two of four items fit, and none at a fourth of the pace.
            assert got["arrival/samples"].max() <= 120
            assert (got["arrival/samples"][got["arrival/worker"] == 2] == 0).all()


def test_an_epoch_follows_the_other_and_belongs_to_one_version(gaussians, tmp_path):
    got = run(tmp_path, gaussians, "amb-dg", "--compute-time", 0.01, "--rounds", 30)
    assert numpy.array_equal(got["arrival/version"], got["arrival/version_oldest"])
    for worker in range(4):
        mine = got["arrival/worker"] == worker
        order = numpy.argsort(got["arrival/event"][mine])
        draws = got["arrival/draw"][mine][order]
        assert numpy.array_equal(draws, numpy.arange(len(draws)))
        versions = got["arrival/version"][mine][order]
        assert (numpy.diff(versions) >= 0).all()


def test_k_async_of_all_and_pipelined_of_one_are_uncoded_bit_by_bit(gaussians, tmp_path):
    words = ["--rounds", 8, "--delay", "exponential:0.002", "--optimizer", "gd"]
    uncoded = run(tmp_path, gaussians, "uncoded", *words)["iterates"]
    k_async = run(tmp_path, gaussians, "k-async", "--collect", 4, *words)["iterates"]
    pipelined = run(tmp_path, gaussians, "pgc-frc", "--stragglers", 0, *words)["iterates"]
    assert numpy.array_equal(uncoded, k_async)
    assert numpy.array_equal(uncoded, pipelined)


def test_an_interrupted_gradient_goes_on(gaussians, tmp_path):
    # Worker 1 needs almost two rounds for a gradient; begun anew each time it would never end.
    words = ["--rounds", 40, "--stragglers", 1, "--collect", "group"]
    words += ["--row-time", 5e-4, "--slowdown", "fixed:1.7,1"]
    got = run(tmp_path, gaussians, "pgc-frc", *words)
    mine = got["arrival/worker"] == 1
    assert (got["arrival/version"][mine] > 0).any()


def test_models_in_turn_are_those_of_runs_of_their_own(gaussians, tmp_path):
    words = ["--delay", "exponential:0.002", "--optimizer", "gd"]
    turns = run(tmp_path, gaussians, "m-sgc", "--models", 3, "--rounds", 12, *words)
    alone = run(tmp_path, gaussians, "uncoded", "--rounds", 4, *words)
    # Full batches: each of the three does what one model alone does.
    for model in range(3):
        assert numpy.allclose(turns["iterates"][model::3], alone["iterates"], rtol=1e-9)
