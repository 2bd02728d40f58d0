# SPDX-License-Identifier: BSD-2-Clause
"""Advice, cross-validation, optima, predictions and data sets from Python."""

import json

import numpy as np
import pytest

from program import output, QUORATE


def test_advice_is_that_of_the_program(q):
    advice = q.advise(
        workers=6, delay=q.exponential(1), rounds=20, repeat=2, schemes=["frc", "agc"]
    )
    words = (
        "advise --workers 6 --delay exponential:1 --rounds 20 --repeat 2 --schemes frc,agc --json"
    )
    told = json.loads(output(QUORATE, *words.split()))
    assert [one["seconds"] for one in told] == list(advice.table["seconds"])
    assert [one["recommended"] for one in told] == list(advice.table["recommended"])
    best = advice.table[advice.table["recommended"]].iloc[0]
    assert advice.best.label == best["scheme"] and best["doubt"] == ""
    inexact = advice.table[advice.table["scheme"].str.startswith("agc")]
    assert "not exact" in inexact["doubt"].iloc[0]
    assert q.simulate(scheme=advice.best, workers=6, rounds=3).status == "completed"
    assert "time_per_round" in advice._repr_html_()


def test_advice_takes_an_array_of_times(q):
    times = np.random.default_rng(2).exponential(size=(6, 40))
    advice = q.advise(workers=6, delay=times, rounds=20, repeat=2, schemes="frc")
    assert (advice.table["seconds"] > 0).all()
    with pytest.raises(q.BadInput, match="--schemes is frk"):
        q.advise(workers=6, schemes="frk")


def test_cross_validation(q, data):
    tuning = q.tune(data, {"l2": [1e-4, 10.0]}, optimizer="agd", step=0.3, rounds=30, folds=3)
    assert tuning.best == {"l2": 1e-4} and len(tuning.table) == 6


def test_a_grid_may_have_ranges(q, data):
    tuning = q.tune(data, {"l2": "1e-4..1x5", "step": [0.3]}, rounds=3, folds=2)
    assert len(tuning.table) == 10
    assert np.allclose(sorted(set(tuning.table["l2"])), [1e-4, 1e-3, 1e-2, 1e-1, 1])
    assert tuning.best["l2"] in set(tuning.table["l2"])


def test_missing_values_of_ones_own(q, tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,1\n-999,0\n3,1\nunknown,0\n")
    words = {"label": "y", "missing": "mean", "missing_values": ["unknown", -999]}
    data = q.import_(tmp_path / "a.csv", tmp_path / "d.h5", shuffle="no", **words)
    assert data.arrays()[0].ravel().tolist() == [1, 2, 3, 2]


def test_the_optimum_is_below_what_runs_reach(q, data):
    best = q.optimum(data, l2=0.01)
    result = q.simulate(
        data, workers=4, optimizer="agd", step=0.5, rounds=200, l2=0.01, evaluate_every=200
    )
    assert best.bound <= best.objective <= result.evaluations["objective"].iloc[-1] + 1e-9


def test_predictions_are_the_scores_of_the_model(q, data):
    result = q.simulate(data, workers=4, step=0.5, rounds=20)
    X, _ = data.arrays("test")
    assert np.allclose(q.predict(result), X @ result.model)


def test_probabilities_of_a_raw_file_sum_to_one(q, tmp_path):
    rows = "".join(f"{i},{i % 5},{'yes' if i % 5 > 2 else 'no'}\n" for i in range(30))
    (tmp_path / "rows.csv").write_text("a,b,y\n" + rows)
    data = q.import_(tmp_path / "rows.csv", tmp_path / "d.h5", label="y", scale="standardise")
    result = q.simulate(data, workers=3, step=1, rounds=30)
    (tmp_path / "new.csv").write_text("b,a\n4,1\n0,2\n")
    both = q.predict(result, tmp_path / "new.csv", probabilities=True)
    assert both.shape == (2, 2) and np.allclose(both.sum(axis=1), 1)
    assert both[0, 1] > 0.5 > both[1, 1]
    score = q.predict(result, tmp_path / "new.csv")
    assert np.allclose(both[:, 1], 1 / (1 + np.exp(-score)))
    result = q.simulate(data, workers=3, model="hinge", rounds=3)
    with pytest.raises(q.BadInput, match="tells no probabilities"):
        q.predict(result, probabilities=True)


def test_data_sets_are_generated_imported_and_inspected(q, tmp_path):
    made = q.generate(tmp_path / "made.h5", rows=50, columns=4, test_rows=10, seed=2)
    assert (made.rows, made.test_rows, made.columns) == (50, 10, 4)
    assert q.inspect(made)["kind"] == "data set"
    (tmp_path / "rows.csv").write_text("y,a,b\n1,0.5,2\n-1,1,0\n1,2,1\n")
    got = q.import_(tmp_path / "rows.csv", tmp_path / "got.h5", label="y", categorical="none")
    assert got.columns == 2
    assert [one["name"] for one in q.inspect(got)["named_columns"]] == ["a", "b"]
    run = q.simulate(got, workers=2, rounds=4)
    told = q.inspect(run.save(tmp_path / "t.h5"), coefficients=1)["model_coefficients"]
    assert abs(told["coefficients"][0]["value"]) == max(abs(run.model)) and told["left_out"] == 1
    with pytest.raises(q.BadInput, match="which holds a data set: .* --overwrite"):
        q.generate(made.path)
    assert q.generate(made.path, rows=7, overwrite=True).rows == 7
    with pytest.raises(q.BadInput, match="there already"):
        q.dataset(np.eye(2), [0, 1], path=made.path)
    assert q.dataset(np.eye(2), [0, 1], path=made.path, overwrite=True).rows == 2
    with pytest.raises(q.BadInput, match="rows.csv"):
        q.dataset(np.eye(2), [0, 1], path=tmp_path / "rows.csv", overwrite=True)


def test_estimates_of_a_run_are_computed_again(q, tmp_path):
    import h5py

    made = q.generate(tmp_path / "made.h5", rows=50, columns=4, test_rows=0, seed=2)
    trace = tmp_path / "t.h5"
    q.simulate(made, workers=4, rounds=6, trace_weights=True, evaluate_every=1, trace=trace)
    check = q.inspect(trace, check=made, check_rounds="all")["check"]
    assert check["agree"] and check["rounds_checked"] == check["rounds_possible"] == 6
    assert q.inspect(trace, check=made, check_rounds=2)["check"]["rounds_checked"] == 2
    with h5py.File(trace, "r+") as file:
        file["weight/weight"][5] *= 2
    with pytest.raises(q.Failure, match="its estimate differs by"):
        q.inspect(trace, check=made, check_rounds="all")


def test_data_of_a_run_that_were_replaced_are_not_taken_for_them(q, tmp_path):
    made = q.generate(tmp_path / "made.h5", rows=50, columns=4, test_rows=10, seed=2)
    trace = q.simulate(made, workers=3, rounds=3, step=0.1).save(tmp_path / "t.h5")
    y = np.where(np.arange(50) % 3, 1, -1)
    first, second = (q.dataset(np.eye(50), order) for order in (y, y[::-1]))
    assert first.attributes["content_sha256"] != second.attributes["content_sha256"]
    q.generate(made.path, rows=50, columns=4, test_rows=10, seed=3, overwrite=True)
    for wrong in (lambda: q.predict(trace), lambda: q.simulate(replay=trace)):
        with pytest.raises(q.BadInput, match="holds other data than the run"):
            wrong()
    q.predict(trace, made)


def test_docstrings_have_the_options_of_the_command(q):
    for function, own, parameter in (
        (q.advise, "target_loss: X", None),
        (q.tune, "folds: K", "grid"),
        (q.optimum, "tolerance: EPS", None),
        (q.import_, "test_input: FILE", "input"),
        (q.generate, "columns: P", "output"),
    ):
        assert f"    {own}\n" in function.__doc__
        assert f"    {parameter}: " not in function.__doc__


def test_tune_knows_the_options_of_what_was_added_after_the_first_command(q, data):
    q.tune(data, grid={"step": [0.1]}, rounds=2)

    class Damped(q.Optimizer):
        def __init__(self, damping: float = 0.5):
            self.damping = damping

        def update(self, w, gradient, step):
            return w - self.damping * step * gradient

    q.add(Damped)
    scores = q.tune(data, grid={"damping": [0.25, 0.75]}, optimizer=Damped, step=0.5, rounds=3)
    assert len(set(scores.table["loss"])) > 1
