# SPDX-License-Identifier: BSD-2-Clause
"""Models, minibatches and threads in runs, and the commands that go on with a run."""

import csv
import re
import shutil

import h5py
import numpy as np
import pytest

from program import REPOSITORY, attributes_of, call, inspect


def run(data, trace, *words, workers=3):
    options = ["--overwrite", "--quiet", *words]
    done = call("run", "--data", data, "--trace", trace, "--workers", workers, *options)
    assert done.returncode == 0, done.stderr
    return trace


def columns(trace, name):
    with h5py.File(trace) as file:
        return file[name][:]


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """Dense images of 1 x 4 x 5 pixels in three classes."""
    path = tmp_path_factory.mktemp("classes") / "classes.h5"
    words = ["--model", "softmax", "--classes", 3, "--rows", 400, "--columns", 20]
    words += ["--test-rows", 100, "--seed", 2, "--output", path, "--quiet"]
    assert call("generate", *words).returncode == 0
    with h5py.File(path, "r+") as file:
        file.attrs["image"] = "1x4x5"
    return path


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """Sparse rows with numbers to predict."""
    path = tmp_path_factory.mktemp("numbers") / "numbers.h5"
    words = ["--model", "ridge", "--rows", 300, "--columns", 40, "--nnz-per-row", 6]
    words += ["--test-rows", 60, "--noise", 0.1, "--output", path, "--quiet"]
    assert call("generate", *words).returncode == 0
    return path


@pytest.fixture(scope="module")
def credit(real_data, tmp_path_factory):
    """The credit data in their binary form."""
    folder, data = real_data / "credit", tmp_path_factory.mktemp("credit") / "credit.h5"
    words = ["--config", REPOSITORY / "jobs/data/credit.ini"]
    words += ["--input", folder / "train.liblinear.gz"]
    words += ["--test-input", folder / "test.liblinear.gz"]
    assert call("import", *words, "--output", data, "--quiet").returncode == 0
    return data


CNN = ["--model", "cnn", "--layers", "conv:4x3,pool:2,dense:8"]


@pytest.mark.parametrize(
    "words",
    [
        ["--model", "softmax", "--step", 0.5],
        ["--model", "softmax", "--step", 0.5, "--batch", 60],
        ["--model", "mlp", "--hidden", "8", "--optimizer", "adam", "--step", 0.01, "--batch", 90],
        ["--model", "mlp", "--hidden", "8,4", "--threads", 2, "--init", "glorot", "--step", 0.1],
        [*CNN, "--optimizer", "momentum", "--step", 0.02, "--batch", 100],
    ],
)
def test_a_run_is_replayed_bit_by_bit(words, classes, tmp_path):
    words = [*words, "--scheme", "agc", "--stragglers", 1, "--collect", 2, "--rounds", 12]
    trace = run(classes, tmp_path / "run.h5", *words, "--delay", "exponential:0.002", workers=4)
    again = tmp_path / "again.h5"
    done = call("simulate", "--replay", trace, "--trace", again, "--quiet")
    assert done.returncode == 0, done.stderr
    assert np.array_equal(columns(trace, "iterate/model"), columns(again, "iterate/model"))
    loss = columns(trace, "evaluation/train_loss")
    assert loss[-1] < loss[0]
    # Two ranks have scored it, of the simulation one.
    assert np.array_equal(loss, columns(again, "evaluation/train_loss"))


def test_replicas_draw_the_same_samples(classes, tmp_path):
    """Whichever replica of a group answers, the minibatch is the same: so are the iterates."""
    words = ["--model", "softmax", "--batch", 40, "--rounds", 10, "--scheme", "frc"]
    words += ["--stragglers", 1, "--delay", "exponential:0.003"]
    first = run(classes, tmp_path / "a.h5", *words, workers=4)
    other = run(classes, tmp_path / "b.h5", *words, "--slowdown", "exponential:1", workers=4)
    assert np.array_equal(columns(first, "iterate/model"), columns(other, "iterate/model"))
    assert set(columns(first, "round/samples")) == {40}


def test_the_mean_minibatch_gradient_is_the_full_one(classes, tmp_path):
    """With a tiny step the model hardly moves: it goes where the mean gradient points."""
    words = ["--model", "softmax", "--l2", 0, "--optimizer", "gd", "--step", 1e-6]
    words += ["--evaluate-every", 400]
    full = run(classes, tmp_path / "f.h5", *words, "--rounds", 400, workers=2)
    some = run(classes, tmp_path / "s.h5", *words, "--rounds", 400, "--batch", 40, workers=2)
    a, b = columns(full, "model/final"), columns(some, "model/final")
    assert np.linalg.norm(a - b) < 0.15 * np.linalg.norm(a)


def test_thread_counts_agree_to_rounding(classes, numbers, tmp_path):
    for data, model in [(classes, "mlp"), (numbers, "ridge")]:
        traces = [
            run(data, tmp_path / f"{model}{t}.h5", "--model", model, "--threads", t, "--rounds", 5)
            for t in (1, 3)
        ]
        a, b = (columns(trace, "model/final") for trace in traces)
        assert np.allclose(a, b, rtol=1e-9, atol=1e-12)


def test_metrics_are_those_of_the_task(classes, numbers, tmp_path):
    trace = run(classes, tmp_path / "c.h5", "--model", "softmax", "--rounds", 3, "--top-k", 2)
    last = inspect(trace)["last_evaluation"]
    assert last["auc"] is None and last["mse"] is None
    assert last["top_k"] >= last["accuracy"] > 0.4 and last["train_accuracy"] > 0.4
    trace = run(numbers, tmp_path / "n.h5", "--model", "ridge", "--rounds", 3, "--step", 0.1)
    last = inspect(trace)["last_evaluation"]
    assert last["accuracy"] is None and last["mse"] == last["test_loss"]


def test_models_that_do_not_fit_the_data_are_refused(classes, numbers, tmp_path):
    def refusal(data, *words):
        where = ["--trace", tmp_path / "t.h5", "--workers", 1]
        done = call("run", "--data", data, *where, *words)
        assert done.returncode == 2
        assert not (tmp_path / "t.h5").exists()
        return done.stderr

    assert "--model is logistic, but the data set has 3 classes" in refusal(classes)
    assert "labels of the data set are numbers" in refusal(numbers, "--model", "softmax")
    assert "--batch is 500, more than the 400 training rows" in refusal(
        classes, "--model", "softmax", "--batch", 500
    )
    assert "--clip is -1: use at least 0" in refusal(classes, "--model", "softmax", "--clip", -1)


# --- optimum --------------------------------------------------------------------------------------


def newton(x, y, l2, steps=30):
    """Logistic regression's optimum by Newton's method, in NumPy."""
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-x @ w))
        g = x.T @ (p - (y > 0)) / len(y) + 2 * l2 * w
        h = (x.T * (p * (1 - p))) @ x / len(y) + 2 * l2 * np.eye(len(w))
        w -= np.linalg.solve(h, g)
    return np.mean(np.log1p(np.exp(-y * (x @ w)))) + l2 * w @ w


@pytest.mark.whole
def test_the_optimum_of_a9a_is_that_of_newton(real_data, tmp_path):
    folder, data = real_data / "libsvm", tmp_path / "a9a.h5"
    words = ["--config", REPOSITORY / "jobs/data/a9a.ini", "--input", folder / "a9a.gz"]
    assert call("import", *words, "--output", data, "--quiet").returncode == 0
    for ranks in (None, 2):
        # Two ranks answer each other thousands of times: slow where much else runs.
        done = call("optimum", "--data", data, ranks=ranks, timeout=600)
        assert done.returncode == 0, done.stderr
    with h5py.File(data) as file:
        start, column = file["train/row_start"][:], file["train/column"][:]
        y = file["train/label"][:]
    x = np.zeros((len(y), 123))
    x[np.repeat(np.arange(len(y)), np.diff(start)), column] = 1
    with h5py.File(tmp_path / "a9a.optima.h5") as file:
        assert len(file) == 1  # found twice, kept once
        found = attributes_of(file["0"])
    assert found["gradient_norm"] <= 1e-8
    assert abs(found["objective"] - newton(x, y, 1 / len(y))) <= 1e-9
    assert found["objective"] - found["bound"] < 1e-9

    trace = run(data, tmp_path / "t.h5", "--rounds", 60, "--optimizer", "agd", "--step", 1.5)
    shown = inspect(trace)
    objective = columns(trace, "evaluation/objective")
    assert shown["optimum"]["last_gap"] == pytest.approx(objective[-1] - found["objective"])
    near = np.nonzero(objective - found["objective"] <= 0.01)[0][0]
    assert shown["gap_reached"]["1e-2"]["round"] == near + 1
    assert shown["gap_reached"]["1e-6"] is None


@pytest.mark.parametrize(
    "ranks, words",
    [
        (2, ["--model", "squared-hinge"]),
        (None, ["--model", "hinge", "--tolerance", 1e-3]),
        (None, ["--l1", 1e-3]),
        (None, ["--model", "ridge", "--l2", 0.01]),
    ],
)
def test_an_optimum_is_below_all_models_and_above_its_bound(ranks, words, gaussians, tmp_path):
    data = shutil.copy(gaussians, tmp_path / "d.h5")
    done = call("optimum", "--data", data, *words, "--quiet", ranks=ranks)
    assert done.returncode == 0, done.stderr
    objective = [word for word in words if word not in ("--tolerance", 1e-3)]
    if "--l1" in words:
        objective = words
    rounds = ["--optimizer", "agd", "--step", 0.005, "--rounds", 300]
    trace = run(data, tmp_path / "t.h5", *objective, *rounds)
    with h5py.File(tmp_path / "d.optima.h5") as file:
        found = attributes_of(file["0"])
    assert found["bound"] <= found["objective"]
    assert found["objective"] <= columns(trace, "evaluation/objective").min() + 1e-3


def test_optimum_refuses_what_has_none(classes, gaussians, tmp_path):
    def refusal(*words):
        done = call("optimum", *words, ranks=2)
        assert done.returncode == 2 and done.stderr.count("quorate:") == 1
        return done.stderr

    assert "a network, which has no optimum" in refusal("--data", classes, "--model", "mlp")
    assert "use --l2 above 0" in refusal("--data", gaussians, "--model", "hinge", "--l2", 0)
    assert "needs --data FILE" in refusal()


# --- evaluate, predict, tune ----------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [None, 3])
def test_evaluate_scores_what_was_not_scored(ranks, classes, tmp_path):
    words = ["--model", "softmax", "--rounds", 9]
    trace = run(classes, tmp_path / "t.h5", *words)
    whole = {name: columns(trace, f"evaluation/{name}") for name in ("round", "train_loss", "f1")}
    with h5py.File(trace, "r+") as file:
        for column in file["evaluation"].values():
            column.resize((4,))
        file.attrs["status"] = "interrupted"
    done = call("evaluate", trace, ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert "5 models scored, 4 were before" in done.stdout
    for name, values in whole.items():
        assert np.array_equal(columns(trace, f"evaluation/{name}"), values)
    done = call("evaluate", trace, ranks=ranks)
    assert "0 models scored, 9 were before" in done.stdout


def test_evaluate_refuses_traces_that_keep_no_models(classes, tmp_path):
    trace = run(classes, tmp_path / "t.h5", "--model", "softmax", "--evaluate-every", 0)
    done = call("evaluate", trace)
    assert done.returncode == 2 and "keeps no models" in done.stderr
    with h5py.File(trace, "r+") as file:
        file.attrs["status"] = "running"
        file["iterate/round"].resize((1,))
        file["iterate/model"].resize((1, 60))
    assert "says that its run goes on" in call("evaluate", trace).stderr


def test_predict_gives_the_scores_of_the_final_model(numbers, classes, tmp_path):
    trace = run(numbers, tmp_path / "t.h5", "--model", "ridge", "--step", 0.1, "--rounds", 50)
    output = tmp_path / "scores.csv"
    assert call("predict", trace, "--output", output).returncode == 0
    with open(output, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    score = np.array([float(row["score"]) for row in rows])
    label = np.array([float(row["label"]) for row in rows])
    mse = columns(trace, "evaluation/mse")[-1]
    assert np.mean((score - label) ** 2) == pytest.approx(mse)

    trace = run(classes, tmp_path / "c.h5", "--model", "softmax", "--rounds", 5)
    output = tmp_path / "scores.h5"
    assert call("predict", trace, "--split", "train", "--output", output).returncode == 0
    best = columns(output, "score").argmax(axis=1)
    accuracy = columns(trace, "evaluation/train_accuracy")[-1]
    assert np.mean(best == columns(output, "label")) == pytest.approx(accuracy)

    done = call("predict", trace, "--data", numbers, "--output", tmp_path / "x.csv")
    assert done.returncode == 2 and "has 40 columns, the data of" in done.stderr
    assert not (tmp_path / "x.csv").exists()


def test_tune_searches_as_the_elastic_computing_report_did(credit, tmp_path):
    """Twelve points and five folds of the credit data."""
    grid = ["--grid", "l2=1e-5:1e-4:1e-3,step=0.03:0.1:0.3:1", "--metric", "accuracy"]
    words = ["--data", credit, "--model", "hinge", "--optimizer", "agd", "--rounds", 60, *grid]
    said = {}
    for ranks in (None, 3):
        output = tmp_path / f"{ranks}.csv"
        done = call("tune", *words, "--folds", 5, "--output", output, ranks=ranks)
        assert done.returncode == 0, done.stderr
        said[ranks] = done.stdout
        with open(output, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 60
    assert said[None] == said[3]
    best = float(re.search(r"best: accuracy ([\d.]+)", said[3]).group(1))
    lines = re.findall(r"^accuracy ([\d.]+)", said[3], re.MULTILINE)
    assert len(lines) == 12 and best == max(float(line) for line in lines) > 0.80


def test_tune_says_that_the_best_value_is_at_an_end_of_the_grid(tmp_path):
    data = tmp_path / "data.h5"
    assert call("generate", "--rows", 100, "--columns", 3, "--output", data).returncode == 0
    words = ("tune", "--data", data, "--rounds", 5, "--optimizer", "gd", "--folds", 2, "--grid")
    said = "at an end of the grid: try values beyond, or a better one may be missed"
    done = call(*words, "step=1e-3:1e-2:1e-1,l2=0")
    assert done.returncode == 0 and f"quorate: step 1e-1 {said}\n" in done.stderr, done.stderr
    done = call(*words, "step=1e-3:1:1e3")  # the middle one
    assert done.returncode == 0 and said not in done.stderr, done.stderr


def test_credit_beats_the_elastic_computing_report(credit, tmp_path):
    """Accuracy 80.28 %, F1 .34 in its table 1; rows with a score above 0 are called positive."""
    for model in ("hinge", "logistic"):
        words = ["--model", model, "--optimizer", "agd", "--step", 0.1, "--rounds", 500]
        trace = run(credit, tmp_path / "t.h5", *words, "--evaluate-every", 500, workers=4)
        last = inspect(trace)["last_evaluation"]
        assert last["accuracy"] >= 0.8028 and last["f1"] >= 0.34


@pytest.mark.parametrize("optimizer", ["gd", "agd-eh"])
def test_kc_house_follows_the_reference_trajectory(optimizer, real_data, tmp_path):
    expected = {
        "gd": [(0.16256, 0.14030), (0.12189, 0.10078), (0.10632, 0.08712), (0.08872, 0.07210)]
        + [(0.08059, 0.06536)],
        "agd-eh": [(0.16256, 0.14030), (0.10336, 0.08473), (0.07393, 0.06007)]
        + [(0.04313, 0.03752), (0.03179, 0.02994)],
    }
    data = tmp_path / "kc.h5"
    words = ["--config", REPOSITORY / "jobs/data/kc-house.ini"]
    words += ["--input", real_data / "kc_house" / "kc_house_data.csv.gz"]
    assert call("import", *words, "--output", data, "--quiet").returncode == 0
    words = ["--model", "ridge", "--optimizer", optimizer, "--step", 0.098, "--rounds", 100]
    trace = run(data, tmp_path / "t.h5", *words, "--schedule", "geometric:0.98", workers=30)
    loss, mse = columns(trace, "evaluation/train_loss"), columns(trace, "evaluation/mse")
    for at, (train, test) in zip((1, 10, 20, 50, 100), expected[optimizer]):
        assert abs(loss[at - 1] - train) <= 2e-3 and abs(mse[at - 1] - test) <= 2e-3


@pytest.mark.launcher
def test_models_are_scored_on_a_spare_rank_while_the_run_goes_on(classes, tmp_path):
    words = ["--model", "softmax", "--rounds", 40, "--evaluate-every", 3]
    words += ["--delay", "constant:0.01"]
    after = run(classes, tmp_path / "after.h5", *words, workers=2)
    trace = tmp_path / "live.h5"
    words += ["--workers", 2]
    done = call("run", "--data", classes, "--trace", trace, *words, "--evaluate", "live", ranks=4)
    assert done.returncode == 0, done.stderr
    assert re.search(r"accuracy 0\.\d", done.stderr)  # the live line tells the newest
    scored, every = (columns(t, "evaluation/round") for t in (trace, after))
    assert scored[-1] == every[-1] and set(scored) <= set(every)
    assert ("were not scored" in done.stderr) == (len(scored) < len(every))
    for name in ("train_loss", "objective", "accuracy"):
        live, plain = (columns(t, f"evaluation/{name}") for t in (trace, after))
        assert np.allclose(live, plain[np.isin(every, scored)], rtol=1e-12)
    assert call("evaluate", trace, "--quiet").returncode == 0
    assert sorted(columns(trace, "evaluation/round")) == list(every)
    done = call("run", "--data", classes, "--trace", trace, *words, "--evaluate", "live", ranks=3)
    assert done.returncode == 2
    assert "--evaluate is live, but of 3 ranks none is to spare" in done.stderr


def test_new_rows_get_the_columns_classes_and_scaling_of_the_old_ones(tmp_path):
    header, rows = "y,city,age\n", ["3,rome,20", "8,oslo,40", "3,rome,30", "8,bonn,50"]
    (tmp_path / "old.csv").write_text(header + "\n".join(rows) + "\n")
    (tmp_path / "new.csv").write_text(header + "8,bonn,30\n8,paris,40\n")
    words = ["--label", "y", "--categorical", "city", "--scale", "min-max"]
    old, new = tmp_path / "old.h5", tmp_path / "new.h5"

    def imported(name, output, *more):
        done = call("import", "--input", tmp_path / name, "--output", output, *words, *more)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    imported("old.csv", old, "--storage", "dense")
    assert "1 columns that" in imported("new.csv", new, "--like", old)
    with h5py.File(old) as file:
        names = [name.decode() for name in file["feature/name"]]
    with h5py.File(new) as file:
        values = [dict(zip(names, row)) for row in file["train/values"]]
        assert list(file["train/label"]) == [1, 1]
    expected = {"city=rome": 0, "city=oslo": 0, "city=bonn": 1, "age": 1 / 3}
    assert values[0] == pytest.approx(expected)
    assert values[1] == pytest.approx({**expected, "city=bonn": 0, "age": 2 / 3})
    trace = run(old, tmp_path / "t.h5", "--rounds", 3, workers=1)
    done = call("predict", trace, "--data", new, "--split", "train", "--output", tmp_path / "s.csv")
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "s.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == ["8", "8"]
    for row in rows:
        one, other = float(row["probability_3"]), float(row["probability_8"])
        assert one + other == pytest.approx(1, abs=1e-15)
        assert other == pytest.approx(1 / (1 + np.exp(-float(row["score"]))))
        assert row["predicted"] == ("8" if other > 0.5 else "3")
    (tmp_path / "new.csv").write_text(header + "5,bonn,30\n")
    words = ["--input", tmp_path / "new.csv", "--like", old, "--output", new, *words]
    done = call("import", *words, "--overwrite")
    assert "label 5 is none of the classes 3, 8 of the data set that --like names" in done.stderr
    (tmp_path / "new.svm").write_text("8 1:2 2:1\n")
    done = call(
        "import", "--input", tmp_path / "new.svm", "--output", new, "--like", old, "--overwrite"
    )
    assert done.returncode == 2
    assert f"has no column city, which {old} was made of" in done.stderr
