# SPDX-License-Identifier: BSD-2-Clause
"""rounds and cost: against closed forms, sums by hand, and the same run under another clock."""

import os
import re

import numpy as np
import pytest
from program import inspect
from traces import column, edited, simulate
from quorate.analysis import cost, quantities, rounds
from quorate.analysis.curves import reached
from quorate.analysis.groups import group
from quorate.analysis.tasks import COMPUTING, DELAY
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
        ("exponential:1", "async", 0.1),
        ("exponential:1", "k-batch-async --collect 5", 0.5),
        ("lognormal:1,1", "ia2sgd", np.exp(0.5) / 10),
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


def test_who_never_waits_computes_a_share_of_a_round(tmp_path):
    words = ("--dry", "--workers", 10, "--rounds", 5000, "--delay", "exponential:1", "--seed", 1)
    words = (*words, "--rows", 100, "--row-time", 0.3, "--scheme", "k-batch-async", "--collect", 2)
    trace = read_trace(simulate(tmp_path, "long", *words))
    assert rounds.expected_mean(trace) == pytest.approx(2 * (3 + 1) / 10)
    assert trace.time_per_round == pytest.approx(rounds.expected_mean(trace), rel=0.02)


def test_what_has_no_closed_form_has_none(simulated):
    assert np.isnan(rounds.expected_mean(read_trace(simulated["members"])))


@pytest.mark.parametrize(
    "delay, options",
    [
        ("gilbert-elliott:0.1,0.5,5", "uncoded"),
        ("exponential:1", "ignore --stragglers 5 --deadline 3"),
        ("pareto:1,0.9", "uncoded"),
        ("exponential:1", "async --staleness-cap 3"),
        ("exponential:1", "ringleader"),
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
    assert found.answered_rate == pytest.approx(samples / trace.time)
    assert found.used_rate == pytest.approx(30 * 200 / trace.time)
    assert cost.Cost(read_trace(simulated["uncoded-1"])).redundancy == pytest.approx(1)
    status, out, _ = analyse("cost", simulated["frc-1"], simulated["amb"], "--out", tmp_path)
    assert status == 0 and "core-hours" in out and (tmp_path / "cost.png").exists()
    amb = read_trace(simulated["amb"])
    for rate in (found.used_rate, amb.round["samples"].sum() / amb.time):
        assert f" {rate:.4g} " in out


@pytest.mark.parametrize("name", ["frc-1", "uncoded-1", "amb"])
def test_inspect_and_cost_agree(simulated, name):
    facts, found = inspect(simulated[name]), cost.Cost(read_trace(simulated[name]))
    assert facts["samples_per_second"] == pytest.approx(found.used_rate)
    assert facts["samples_answered_per_second"] == pytest.approx(found.answered_rate)
    shares = [facts["computing_share"], facts["delay_share"]]
    assert shares == pytest.approx([found.shares[COMPUTING], found.shares[DELAY]])


def test_a_code_is_no_faster_for_samples_that_it_holds_twice(simulated):
    trace = read_trace(simulated["frc-1"])
    trace.round["samples"] *= 2
    assert quantities.used_samples(trace).tolist() == [200.0] * 30
    trace.config["local-steps"] = "10"
    assert np.isnan(cost.Cost(trace).used_rate) and np.isnan(cost.Cost(trace).answered_rate)


def test_money_is_price_times_hours(simulated, analyse):
    paths = [simulated[name] for name in ("uncoded-1", "uncoded-2", "frc-1")]
    traces = [read_trace(path) for path in paths]

    def cells(*words):
        status, out, error = analyse("cost", *paths, *words)
        assert status == 0, error
        head, *lines = (re.split("  +", line) for line in out.splitlines()[:3])
        return [dict(zip(head, line)) for line in lines]

    hours = [trace.time / 3600 for trace in traces]
    target = traces[0].evaluation["train_loss"].iloc[3]
    words = ("--price", "spot=2000/core-hour", "--price", "on-demand=6000/core-hour")
    uncoded, frc = cells(*words, "--target", f"loss={target!r}")
    assert uncoded["cost (spot)"] == f"{2000 * 5 * (hours[0] + hours[1]) / 2:.4g}"
    assert frc["cost (on-demand)"] == f"{6000 * 5 * hours[2]:.4g}"
    until = [reached(trace, "train_loss", target)[0] / 3600 for trace in traces]
    assert until[0] == traces[0].evaluation["time"].iloc[3] / 3600 and until[2] < hours[2]
    assert uncoded[f"to train loss {target:g} (spot)"] == f"{2000 * 5 * np.mean(until[:2]):.4g}"
    # Ranks 0 and 1, 2 and 3, and 4.
    _, frc = cells("--price", "1000/machine-hour", "--per-node", 2)
    assert frc["cost"] == f"{1000 * 3 * hours[2]:.4g}"
    _, frc = cells("--price", "1/core-hour", "--target", "loss=1e-9")
    assert frc["to train loss 1e-09"] == "-"


def test_machines_of_a_measured_run_are_its_hosts(runs, tmp_path, analyse):
    def two_hosts(file):
        file.attrs["nodes"] = "east west"
        file.attrs["host"] = "north"

    seconds = read_trace(runs["frc"]).time
    _, out, _ = analyse("cost", runs["frc"], "--price", "1e9/machine-hour")
    assert f"  {1e9 * seconds / 3600:.4g}" in out
    _, out, _ = analyse(
        "cost", edited(runs["frc"], tmp_path, two_hosts), "--price", "1e9/machine-hour"
    )
    assert f"  {3e9 * seconds / 3600:.4g}" in out


@pytest.mark.parametrize(
    "words, said",
    [
        (("--price", "0.05"), "'0.05' is no price: write 0.05/core-hour"),
        (("--price", "0/core-hour"), "is no price"),
        (("--price", "nan/core-hour"), "is no price"),
        (("--price", "=1/core-hour"), "is no price"),
        (("--price", "1/gpu-hour"), "is no price"),
        (("--price", "1/core-hour", "--price", "2/core-hour"), "two prices have one name"),
        (("--price", "1/machine-hour"), "was simulated, on no machines: give --per-node N"),
        (("--target", "loss=1"), "--target needs --price"),
        (("--per-node", 2), "--per-node needs --price"),
        (("--price", "1/core-hour", "--target", "loss"), "is no METRIC=VALUE"),
    ],
)
def test_wrong_prices_are_refused_in_one_line(simulated, analyse, words, said):
    status, out, error = analyse("cost", simulated["frc-1"], *words)
    assert (status, out) == (2, "") and said in error and error.count("\n") == 1


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
