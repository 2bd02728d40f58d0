# SPDX-License-Identifier: BSD-2-Clause
"""quorate tune --workers: each worker tunes on its own rows, and the models are averaged."""

import re

import h5py
import numpy as np
import pytest
from program import call, our_lines
from traces import quorate

GRID = "step=0.1:1:4,l2=0.001:0.1"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("tune") / "data.h5"
    words = "--rows 330 --columns 6 --test-rows 90 --seed 2".split()
    quorate("generate", *words, "--output", path)
    return path


def tune(data, *words, ranks=None):
    common = ("--rounds", 20, "--folds", 3, "--metric", "f1", "--seed", 5, "--quiet")
    done = call("tune", "--data", data, "--grid", GRID, *common, *words, ranks=ranks)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_average_is_that_of_what_each_worker_trains_by_its_own_best_point(data, tmp_path):
    average, table = tmp_path / "average.h5", tmp_path / "table.csv"
    told = tune(data, "--workers", 4, "--average", average, "--output", table)
    lines = table.read_text().splitlines()
    assert lines[0] == "worker,step,l2,fold,loss,accuracy,auc,f1,mse" and len(lines) == 1 + 72
    scores = {}
    for line in lines[1:]:
        worker, step, l2, _, _, _, _, f1, _ = line.split(",")
        scores.setdefault(int(worker), {}).setdefault((step, l2), []).append(float(f1))
    best = re.findall(r"worker (\d): best: f1 (\S+) with --step (\S+) --l2 (\S+)", told)
    assert [int(worker) for worker, *_ in best] == [0, 1, 2, 3]
    for worker, f1, step, l2 in best:
        means = {point: np.mean(some) for point, some in scores[int(worker)].items()}
        assert means[step, l2] == max(means.values()) == pytest.approx(float(f1), abs=1e-6)
    # A run from the average scores it before its first step.
    trace = tmp_path / "t.h5"
    words = ("--init", average, "--rounds", 1, "--workers", 2, "--step", 1e-9, "--quiet")
    quorate("simulate", "--data", data, *words, "--trace", trace)
    with h5py.File(average) as file, h5py.File(trace) as run:
        assert np.allclose(file["model/final"][:], run["model/final"][:], atol=1e-8)
        f1 = run["evaluation/f1"][-1]
    assert float(re.search(r"average of 4 models on the test rows,.*F1 (\S+)", told)[1]) == (
        pytest.approx(f1, abs=1e-4)
    )


def test_ranks_find_what_one_process_does(data):
    assert tune(data, "--workers", 3, ranks=3) == tune(data, "--workers", 3)


def test_one_worker_that_has_all_rows_is_the_plain_command(data, tmp_path):
    assert tune(data, "--workers", 1) == tune(data)


@pytest.mark.parametrize(
    "said, words",
    [
        ("--workers is 200", "--workers 200"),
        ("--folds is 20", "--workers 30 --folds 20"),
        ("leave options of their size out", "--workers 3 --model mlp --grid hidden=2:3"),
        ("one model has no average", "--average a.h5"),
        ("workers is no option that a trial has", "--grid workers=1:2"),
    ],
)
def test_what_cannot_be_averaged_is_refused(data, said, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = () if "--grid" in words else ("--grid", GRID)
    done = call("tune", "--data", data, *grid, "--rounds", 2, *words.split())
    (line,) = our_lines(done.stderr)
    assert done.returncode == 2 and said in line, line
    assert not list(tmp_path.iterdir())
