# SPDX-License-Identifier: BSD-2-Clause
"""Training without being told how: defaults, and runs that stop when they are done."""

import os
import re

import h5py
import numpy as np
import pytest

from program import REPOSITORY, call, inspect, whole

RECIPES = {
    "amazon": ["amazon/train.csv.gz"],
    "a9a": ["libsvm/a9a.gz", "libsvm/a9a.t.gz"],
    "credit": ["credit/train.liblinear.gz", "credit/test.liblinear.gz"],
    "kc-house": ["kc_house/kc_house_data.csv.gz"],
}


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """The table of the tutorial."""
    text = (REPOSITORY / "docs" / "tutorial.md").read_text()
    block = re.search(r"<<'END'\n(.*?)\n    END\n", text, re.DOTALL).group(1)
    lines = []
    program = re.sub(r"^    ", "", block, flags=re.MULTILINE)
    exec(program, {"print": lines.append})
    path = tmp_path_factory.mktemp("table") / "visits.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def imported(table, output, *words):
    words = ["--categorical", "city,device", "--interactions", 2, "--intercept", *words]
    words += ["--label", "bought", "--test-fraction", 0.2, "--output", output]
    done = call("import", "--input", table, *words)
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope="session")
def visits(table):
    """The tutorial's data."""
    return imported(table, table.with_name("visits.h5"), "--scale", "standardise")


@pytest.fixture(scope="session")
def unscaled(table):
    """The same with columns of different size, on which runs take long enough to be stopped."""
    return imported(table, table.with_name("unscaled.h5"))


def simulate(data, trace, *words):
    call_words = ["--data", data, "--workers", 4, "--trace", trace, "--overwrite", "--quiet"]
    return call("simulate", *call_words, *words)


def gap_of(data, trace, model):
    """Trains with no option but the data; how far its objective is above the optimum."""
    done = simulate(data, trace, "--model", model, "--evaluate-every", 5000)
    assert done.returncode == 0, done.stderr
    words = ["--tolerance", 1e-6] if model == "logistic" else []
    optimum = call("optimum", "--data", data, "--model", model, *words)
    assert optimum.returncode == 0, optimum.stderr
    bound = float(re.search(r"not below (\S+),", optimum.stdout).group(1))
    found = inspect(trace)
    assert found["faults"] == [] and found["status"] == "completed"
    proven = float(re.fullmatch(r"gap at most (\S+)", found["stopped_at"]).group(1))
    true = found["last_evaluation"]["objective"] / bound - 1
    assert found["rounds_done"] < found["rounds"] == 5000
    return proven, true


def test_the_tutorial_trains_to_its_optimum(visits, tmp_path):
    proven, true = gap_of(visits, tmp_path / "t.h5", "logistic")
    assert true <= proven <= 0.01


@pytest.mark.parametrize("name", ["a9a", "credit", *whole(("amazon",), ("kc-house",))])
def test_real_data_are_trained_to_their_optimum(real_data, tmp_path, name):
    sources = [real_data / one for one in RECIPES[name]]
    words = ["--config", REPOSITORY / "jobs" / "data" / f"{name}.ini", "--input", sources[0]]
    words += ["--test-input", sources[1]] if len(sources) > 1 else []
    data = tmp_path / f"{name}.h5"
    done = call("import", *words, "--output", data, "--quiet")
    assert done.returncode == 0, done.stderr
    model = "ridge" if name == "kc-house" else "logistic"
    proven, true = gap_of(data, tmp_path / "t.h5", model)
    assert true <= proven <= 0.01


@pytest.mark.parametrize("words", [[], ["--stop-at", "accuracy=0.76"], ["--patience", 4]])
def test_a_replay_ends_where_its_run_did(unscaled, tmp_path, words):
    trace, again = tmp_path / "t.h5", tmp_path / "again.h5"
    assert simulate(unscaled, trace, *words).returncode == 0
    done = call("simulate", "--replay", trace, "--trace", again, "--quiet")
    assert done.returncode == 0, done.stderr
    assert inspect(again)["rounds_done"] == inspect(trace)["rounds_done"] < 5000
    with h5py.File(trace) as a, h5py.File(again) as b:
        assert np.array_equal(a["model/final"], b["model/final"])
        assert np.array_equal(a["iterate/round"], b["iterate/round"])


def test_a_run_ends_where_its_scored_loss_is_low_and_not_where_its_estimate_is(unscaled, tmp_path):
    """An approximate scheme's estimates come to the value before the training loss does."""
    words = ["--scheme", "ignore", "--stragglers", 2, "--delay", "exponential:0.01"]
    whole, cut = tmp_path / "whole.h5", tmp_path / "cut.h5"
    assert simulate(unscaled, whole, *words, "--rounds", 60).returncode == 0
    with h5py.File(whole) as file:
        rounds, losses = file["evaluation/round"][:], file["evaluation/train_loss"][:]
        target, estimates = losses[40], file["round/loss_estimate"][:]
        first = rounds[losses <= target].min()
        assert rounds[40] >= first > np.argmax(estimates <= target) + 1
        before = dict(zip(rounds, losses))
    words += ["--rounds", 60, "--stop-at", f"train-loss={target}"]
    assert simulate(unscaled, cut, *words).returncode == 0
    with h5py.File(cut) as file:
        cut_at = len(file["round/time"])
        after = dict(zip(file["evaluation/round"][:], file["evaluation/train_loss"][:]))
    assert after == {round_: before[round_] for round_ in range(1, cut_at + 1)}
    assert after[cut_at] <= target and first <= cut_at < 60


@pytest.mark.parametrize("live", [False, True])
def test_a_run_with_trace_stops_and_is_replayed(unscaled, tmp_path, live):
    trace, again = tmp_path / "t.h5", tmp_path / "again.h5"
    words = ["--evaluate", "live", "--workers", 3, "--stop-at", "accuracy=0.75"] if live else []
    done = call("run", "--data", unscaled, "--trace", trace, *words, ranks=5)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"stopped at (accuracy 0\.7\d+ in round \d+|gap at most 0\.00\d+)", done.stdout
    )
    # Of the models that are scored meanwhile the last one alone is told.
    assert len(re.findall("^round .*training loss", done.stdout, re.M)) == 1
    done = call("simulate", "--replay", trace, "--trace", again, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(trace) as a, h5py.File(again) as b:
        assert np.array_equal(a["model/final"], b["model/final"])


@pytest.mark.parametrize("words", [[], ["--stop-at", "accuracy=0.76"], ["--patience", 4]])
def test_a_resumed_run_stops_where_the_whole_one_does(unscaled, tmp_path, words):
    whole, parts, checkpoint = (tmp_path / name for name in ("whole.h5", "parts.h5", "c.h5"))
    assert simulate(unscaled, whole, *words).returncode == 0
    words = ["--data", unscaled, "--workers", 4, "--trace", parts, "--quiet", *words]
    words += ["--checkpoint", checkpoint, "--checkpoint-every", "8r"]
    assert call("simulate", *words).returncode == 0
    # As if it had been killed after its last checkpoint but one.
    os.replace(f"{checkpoint}.1", checkpoint)
    with h5py.File(parts, "r+") as file:
        file.attrs["status"] = "running"
    done = call("simulate", *words, "--resume")
    assert done.returncode == 0, done.stderr
    assert inspect(parts)["stopped_at"] == inspect(whole)["stopped_at"] != ""
    with h5py.File(whole) as a, h5py.File(parts) as b:
        assert np.array_equal(a["model/final"], b["model/final"])
        assert np.array_equal(a["evaluation/test_loss"], b["evaluation/test_loss"])
    done = call("simulate", *words, "--resume")
    assert done.returncode == 0 and "the run is complete" in done.stdout


def test_a_step_that_is_too_long_ends_the_run_with_a_better_one(unscaled, tmp_path):
    words = ["--optimizer", "gd", "--step", 1, "--rounds", 2000]
    done = simulate(unscaled, tmp_path / "t.h5", *words)
    assert done.returncode == 1
    better = re.search(
        r"has grown from 0\.69\S* to \S+ in round \d+: --step 1 is too large: try --step (\S+),",
        done.stderr,
    )
    assert better, done.stderr
    assert inspect(tmp_path / "t.h5")["status"] == "failed"
    done = simulate(unscaled, tmp_path / "t.h5", *words[:2], "--step", better.group(1))
    assert done.returncode == 0, done.stderr
    done = simulate(unscaled, tmp_path / "t.h5", *words, "--on-divergence", "warn")
    assert done.returncode == 0 and done.stderr.count("is too large") == 1


def test_live_scores_are_asked_for_in_time(visits, tmp_path):
    done = call("run", "--data", visits, "--trace", tmp_path / "t.h5", "--patience", 3, ranks=3)
    assert done.returncode == 2
    assert "add --evaluate live, and a rank for it" in done.stderr
    assert not (tmp_path / "t.h5").exists()
