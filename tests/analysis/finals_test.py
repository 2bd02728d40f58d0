# SPDX-License-Identifier: BSD-2-Clause
"""compare --final: metrics of the last models with intervals over seeds."""

import numpy as np
import pytest
from traces import column
from quorate.analysis.finals import cell, mean_interval, student


def test_the_interval_is_students():
    assert mean_interval([1, 2, 3, 4, 5]) == pytest.approx((3, 2.776 * np.sqrt(2.5 / 5)))
    assert student(10) == pytest.approx(2.228, abs=0.004)
    assert student(30) == pytest.approx(2.042, abs=0.002)


def test_one_run_has_no_interval_and_a_run_without_the_number_leaves_no_mean():
    assert cell([0.25]) == "0.2500"
    assert cell([0.25, np.nan]) == "-"


def test_a_table_of_the_last_models_follows_that_of_compare(simulated, analyse):
    traces = [simulated[f"{name}-{seed}"] for name in ("uncoded", "frc") for seed in (1, 2, 3)]
    status, out, _ = analyse("compare", *traces, "--final", "precision,recall,f1")
    assert status == 0
    _, table = out.split("\n\n")
    header, uncoded, frc = table.splitlines()[:3]
    assert header.split() == ["scheme", "seeds", "precision", "recall", "F1"]
    assert uncoded.split()[:2] == ["uncoded", "3"] and frc.split()[:2] == ["frc", "3"]
    last = np.mean([column(trace, "evaluation/f1")[-1] for trace in traces[:3]])
    assert f"{last:.4f} ± " in uncoded


def test_what_is_no_metric_of_a_model_is_refused(simulated, analyse):
    for bad in ("beauty", "round"):
        status, _, error = analyse("compare", simulated["uncoded-1"], "--final", bad)
        assert status == 2 and error.count("\n") == 1
