# SPDX-License-Identifier: BSD-2-Clause
"""rounds and cost: against closed forms, sums by hand, and the same run under another clock."""

import os

import numpy as np
import pytest
from conftest import column, edited, simulate
from quorate.analysis import cost, rounds
from quorate.analysis.groups import group
from quorate.analysis.traces import BadInput, read_trace

H10, H5 = 2.9289682539682538, 2.283333333333333


@pytest.mark.parametrize(
    "delay, options, expected",
    [
        ("exponential:1", "uncoded", H10),
        ("shifted-exponential:2,1", "uncoded", 2 + H10),
        ("exponential:1", "ignore --stragglers 5", H10 - H5),
        ("exponential:1", "cyclic --stragglers 5", H10 - H5),
        ("exponential:1", "frc --stragglers 1", H5 / 2),
        ("exponential:1", "bernoulli --collect 5", H10 - H5),
        ("exponential:1", "reed-solomon --stragglers 5", H10 - H5),
        ("constant:3", "uncoded", 3),
        ("pareto:1,3", "ignore --stragglers 2", None),
        ("exponential:1", "agc --stragglers 1 --collect 5", None),
    ],
)
def test_the_expected_time_is_that_of_a_long_simulation(tmp_path, delay, options, expected):
    words = ("--dry", "--workers", 10, "--rounds", 2000, "--delay", delay, "--seed", 1)
    trace = read_trace(simulate(tmp_path, "long", *words, "--scheme", *options.split()))
    found = rounds.expected_mean(trace)
    if expected is not None:
        assert found == pytest.approx(expected)
    assert trace.time_per_round == pytest.approx(found, rel=0.05)


def test_what_has_no_closed_form_has_none(simulated):
    assert np.isnan(rounds.expected_mean(read_trace(simulated["asynchronous"])))
    assert np.isnan(rounds.expected_mean(read_trace(simulated["members"])))


@pytest.mark.parametrize(
    "delay, options",
    [
        ("gilbert-elliott:0.1,0.5,5", "uncoded"),
        ("exponential:1", "ignore --stragglers 5 --deadline 3"),
        ("pareto:1,0.9", "uncoded"),
        ("exponential:1 --slowdown exponential:1 --row-time 1e-3", "uncoded"),
    ],
)
def test_what_is_not_known_is_not_in_the_trace(tmp_path, delay, options):
    words = ("--dry", "--workers", 10, "--rounds", 3, "--delay", *delay.split())
    trace = read_trace(simulate(tmp_path, "short", *words, "--scheme", *options.split()))
    assert "expected_delay" not in trace.attributes


def test_the_table_and_the_figures_of_rounds(simulated, analyse, tmp_path):
    paths = [simulated[name] for name in ("uncoded-1", "uncoded-2", "frc-1", "asynchronous")]
    status, out, _ = analyse("rounds", *paths, "--out", tmp_path)
    assert status == 0 and "expected" in out
    assert (tmp_path / "rounds.png").exists() and (tmp_path / "round-times.pdf").exists()
    groups = group([read_trace(path) for path in paths])
    table = rounds.table(groups)
    both = np.concatenate([t.durations for t in groups[0].traces])
    assert table["ms mean"][0] == f"{1000 * both.mean():.2f}" and table["rounds"][0] == "60"
    assert list(table["used"]) == ["4.0", "2.0", "1.0"]


def test_measured_and_simulated_times_of_the_same_run(runs, simulated, analyse, tmp_path):
    words = ("--against", simulated["twin"], "--out", tmp_path)
    status, out, _ = analyse("rounds", runs["uncoded"], *words)
    assert status == 0 and "ratio per round: median" in out
    lines = np.genfromtxt(tmp_path / "against.csv", delimiter=",", skip_header=1)
    measured = np.diff(column(runs["uncoded"], "round/time"), prepend=0)
    expected = np.diff(column(simulated["twin"], "round/time"), prepend=0)
    assert np.allclose(lines[:, 3], measured / expected)
    assert np.all(lines[:, 3] > 0.9)  # a machine can be slower than the model, not much faster
    with pytest.raises(BadInput, match="has scheme frc"):
        rounds.same_run(read_trace(runs["frc"]), read_trace(simulated["twin"]))
    assert analyse("rounds", runs["uncoded"], runs["frc"], "--against", simulated["twin"])[0] == 2


def test_cost_is_cores_times_time(simulated, analyse, tmp_path):
    trace = read_trace(simulated["frc-1"])
    found = cost.Cost(trace)
    assert found.core_hours == pytest.approx(5 * trace.time / 3600)
    assert found.shares.sum() == pytest.approx(1)
    samples = column(simulated["frc-1"], "arrival/samples").sum()
    assert found.redundancy == pytest.approx(samples / (30 * 200))
    assert cost.Cost(read_trace(simulated["uncoded-1"])).redundancy == pytest.approx(1)
    status, out, _ = analyse("cost", simulated["frc-1"], simulated["amb"], "--out", tmp_path)
    assert status == 0 and "core-hours" in out and (tmp_path / "cost.png").exists()


def test_the_scheduler_is_asked_for_its_line(runs, tmp_path, monkeypatch):
    def job(file):
        file.attrs["scheduler_job_id"] = "17"

    assert cost.scheduler_line(read_trace(runs["frc"])) is None
    path = edited(runs["frc"], tmp_path, job)
    fake = tmp_path / "sacct"
    fake.write_text('#!/bin/sh\necho "17|COMPLETED|00:01:00|00:03:00|5|300||"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    line = cost.scheduler_line(read_trace(path))
    assert line.startswith("edited.h5: JobID 17, State COMPLETED") and "AllocCPUS 5" in line
