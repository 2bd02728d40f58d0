# SPDX-License-Identifier: BSD-2-Clause
"""What is meant is understood, or named: times with units, several values, options that other
programs call otherwise."""

import h5py
import pytest

from program import attributes_of, call

DRY = ["simulate", "--dry", "--workers", 4, "--rounds", 4, "--rows", 400]


def refused(folder, *words):
    before = sorted(folder.iterdir())
    done = call(*words)
    assert done.returncode == 2 and done.stdout == "", done
    assert sorted(folder.iterdir()) == before, "something was written"
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr.removeprefix("quorate: ").strip()


def times(path, *words):
    done = call(*DRY, *words, "--trace", path, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(path) as file:
        return list(file["round/time"][:]), attributes_of(file)


# --- several values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, several",
    [
        (["--scheme", "uncoded,agc"], "scheme = uncoded, agc"),
        (["--scheme", "uncoded agc"], "scheme = uncoded, agc"),
        (["--seed", "1,2"], "seed = 1, 2"),
        (["--seed", "1-2"], "seed = 1..2"),
        (["--seed", "1..2"], "seed = 1..2"),
        (["--workers", "4,8"], "workers = 4, 8"),
        (
            ["--delay", "exponential:0.1,pareto:1,2"],
            "delay = exponential:0.1, pareto:1,2",
        ),
    ],
)
def test_several_values_name_their_spelling(tmp_path, words, several):
    trace = ["--trace", tmp_path / "t.h5"]
    workers = [] if "--workers" in words else ["--workers", 4]
    assert refused(tmp_path, "simulate", "--dry", *workers, *words, *trace) == (
        f"{words[0]} is {words[1]}: give one; an experiment file takes several, as {several}"
    )


@pytest.mark.parametrize(
    "line, wanted",
    [
        ("scheme = uncoded,agc", "scheme is uncoded,agc: write uncoded, agc for several values"),
        ("seed = 1-2", "seed is 1-2: write 1..2 for several values"),
        ("seed = 1,2", "seed is 1,2: write 1, 2 for several values"),
        ("latency = soon", "latency is soon: write seconds, or a time such as 50ms or 5min"),
        ("lr = 0.1", "quorate simulate has no option lr; did you mean step?"),
        ("Learning_Rate = 0.1", "has no option Learning_Rate; did you mean step?"),
        ("epochs = 3", "quorate simulate has no option epochs; did you mean rounds?"),
        ("l2 = 1e-5..1e-1", "l2 is 1e-5..1e-1, a range that does not say of how many values"),
    ],
)
def test_an_experiment_names_what_was_meant(tmp_path, line, wanted):
    (tmp_path / "x.ini").write_text(f"workers = 4\ndry = on\nrows = 40\n{line}\n")
    words = ["--command", "simulate", "--cluster", "hosts", "--output", tmp_path / "out"]
    said = refused(tmp_path, "script", "--experiment", tmp_path / "x.ini", *words)
    assert said.startswith(f"{tmp_path}/x.ini:") and wanted in said


def test_an_experiment_has_ranges_of_equal_ratios_and_times_with_units(tmp_path):
    text = "workers = 4\ndry = on\nrows = 40\nlatency = 1e-5..1e-3x3, 50ms\n"
    (tmp_path / "x.ini").write_text(text)
    words = ["--command", "simulate", "--cluster", "hosts", "--output", tmp_path / "out"]
    done = call("script", "--experiment", tmp_path / "x.ini", *words)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in (tmp_path / "out/manifest.tsv").read_text().splitlines()]
    rows = [row for row in rows if not row[0].startswith("#")]
    at = rows[0].index("latency")
    assert [row[at] for row in rows[1:]] == ["1e-5", "0.0001", "1e-3", "50ms"]


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, meant",
    [
        ("--lr", "--step"),
        ("--learning-rate", "--step"),
        ("--learning_rate", "--step"),
        ("--batch-size", "--batch"),
        ("--epochs", "--rounds"),
        ("--LR", "--step"),
        ("--Rounds", "--rounds"),
        ("--DELAY", "--delay"),
    ],
)
def test_names_of_other_programs_find_their_option(tmp_path, given, meant):
    said = refused(tmp_path, "simulate", "--dry", "--workers", 4, given, 1)
    assert said == f"quorate simulate has no option {given}; did you mean {meant}?"
    (tmp_path / "x.ini").write_text(f"{given.removeprefix('--')} = 1\n")
    said = refused(tmp_path, "simulate", "--dry", "--config", tmp_path / "x.ini")
    assert said.endswith(f":1: quorate simulate has no option {given}; did you mean {meant}?")


def test_values_in_other_letters_and_order_find_theirs(tmp_path):
    for given in ("acg", "AGC", "Agc"):
        said = refused(tmp_path, *DRY, "--scheme", given, "--trace", tmp_path / "t.h5")
        assert said == f"--scheme is {given}; did you mean agc?"
    assert call("simulate", "-h").stdout == call("simulate", "--help").stdout
    assert call("-h").stdout == call("help").stdout


# --- grids ----------------------------------------------------------------------------------------


def test_tune_takes_ranges_and_says_first_how_many_trials_there_are(gaussians, tmp_path):
    words = ["tune", "--data", gaussians, "--folds", 2, "--rounds", 2]
    output = tmp_path / "scores.csv"
    grid = "l2=1e-5..1e-1x5,step=0.1:0.2"
    done = call(*words, "--grid", grid, "--output", output)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "quorate: 20 trials: l2 5 x step 2 x 2 folds"
    rows = [line.split(",") for line in output.read_text().splitlines()]
    assert rows[0][:3] == ["l2", "step", "fold"] and len(rows) == 21
    assert [row[0] for row in rows[1::4]] == ["1e-5", "0.0001", "0.001", "0.01", "1e-1"]
    done = call(*words, "--grid", "seed=1..3")
    assert done.stderr.splitlines()[0] == "quorate: 6 trials: seed 3 x 2 folds"
    # A list of two that looks like a range is one, and says how that is written.
    done = call(*words, "--grid", "l2=1e-5:1e-1")
    assert done.stderr.splitlines()[0] == (
        "quorate: 4 trials: l2 2 x 2 folds; l2=1e-5:1e-1 is two values, a range of five at equal "
        "ratios is l2=1e-5..1e-1x5"
    )
    assert call(*words, "--grid", "l2=1e-5:1e-1", "--quiet").stderr == ""


@pytest.mark.parametrize(
    "grid, wanted",
    [
        ("l2=1e-5..1e-1", "--grid: l2 is 1e-5..1e-1, a range that does not say of how many"),
        ("l2=1e-1..1e-5x5", "write the smaller number first"),
        ("l2=0..1x5", "between two numbers above 0"),
        ("l2=1:2,l2=3", "which names l2 twice: name it once"),
        ("l2", "write l2=1e-5..1e-1x5,step=1:10"),
    ],
)
def test_a_grid_that_is_wrong_is_refused(gaussians, tmp_path, grid, wanted):
    words = ["tune", "--data", gaussians, "--folds", 2, "--rounds", 2, "--grid", grid]
    assert wanted in refused(tmp_path, *words)
