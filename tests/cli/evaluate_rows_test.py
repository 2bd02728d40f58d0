# SPDX-License-Identifier: BSD-2-Clause
"""Models that are scored on some of the rows."""

import itertools

import h5py
import numpy as np
import pytest

from program import call, inspect


def losses_of(models, data, split):
    """Logistic losses by model and row."""
    with h5py.File(data) as file:
        group = file[split]
        if "values" in group:
            matrix = group["values"][:]
        else:
            starts = group["row_start"][:]
            matrix = np.zeros((len(starts) - 1, file.attrs["columns"]))
            rows = np.repeat(np.arange(len(matrix)), np.diff(starts))
            matrix[rows, group["column"][:]] = group["value"][:]
        return np.log1p(np.exp(-group["label"][:] * (models @ matrix.T)))


def scores(trace, name):
    with h5py.File(trace) as file:
        return file["iterate/model"][:], file[f"evaluation/{name}"][:]


@pytest.mark.parametrize("entries", [[], ["--nnz-per-row", 3]], ids=["dense", "sparse"])
def test_all_models_are_scored_on_the_rows_that_the_seed_draws(entries, tmp_path):
    data, trace, other = (tmp_path / name for name in ("data.h5", "a.h5", "b.h5"))
    words = ["--rows", 50, "--columns", 6, "--test-rows", 20, *entries, "--output", data]
    assert call("generate", *words, "--quiet").returncode == 0
    words = ["--data", data, "--workers", 2, "--rounds", 5, "--quiet"]
    for seed, path in enumerate((trace, other)):
        rows = ["--evaluate-rows", "train=1,test=2", "--seed", seed]
        assert call("simulate", *words, *rows, "--trace", path).returncode == 0
    drawn = []
    for path in (trace, other):
        models, found = scores(path, "train_loss")
        likely = np.isclose(losses_of(models, data, "train"), found[:, None], rtol=1e-12).all(0)
        drawn += np.flatnonzero(likely).tolist()
    assert len(drawn) == 2 and drawn[0] != drawn[1]
    models, found = scores(trace, "test_loss")
    losses = losses_of(models, data, "test")
    pairs = itertools.combinations(range(20), 2)
    assert sum(np.allclose(losses[:, p].mean(1), found, rtol=1e-12) for p in pairs) == 1
    # The optimum is one of all rows.
    assert call("optimum", "--data", data, "--quiet").returncode == 0
    assert "optimum" not in inspect(trace)


@pytest.mark.parametrize("wrong", ["0", "x", "train=", "train=1,train=2", "valid=3", "5,6", ""])
def test_other_numbers_of_rows_are_refused(wrong, tmp_path):
    data = tmp_path / "data.h5"
    assert call("generate", "--rows", 9, "--columns", 2, "--output", data).returncode == 0
    words = ["--data", data, "--workers", 2, "--evaluate-rows", wrong]
    done = call("simulate", *words, "--trace", tmp_path / "a.h5")
    assert done.returncode == 2 and "--evaluate-rows is" in done.stderr
    assert "give a number of rows of at least 1, train=N, test=N, or all" in done.stderr
