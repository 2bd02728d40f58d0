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


# --- times ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seconds, units",
    [
        ("--row-time 2e-6", "--row-time 2us"),
        ("--latency 0.05", "--latency 50ms"),
        ("--delay exponential:0.05", "--delay exponential:50ms"),
        (
            "--delay gilbert-elliott:0.3,0.5,60 --slowdown fixed:2,1 --row-time 0.001",
            "--delay gilbert-elliott:0.3,0.5,1min --slowdown fixed:2,1 --row-time 1ms",
        ),
        (
            "--scheme partial --deadline 0.35 --row-time 0.001",
            "--scheme partial --deadline 350ms --row-time 1ms",
        ),
        (
            "--row-time 0.001 --timeout 5 --load-time 0.0001 --events 0.15_kill_1",
            "--row-time 1ms --timeout 5s --load-time 100us --events 150ms_kill_1",
        ),
        (
            "--scheme amb --compute-time 0.2 --communication-time 1.5 --row-time 0.001",
            "--scheme amb --compute-time 200ms --communication-time 1500ms --row-time 1ms",
        ),
        (
            "--scheme k-batch-sync --batch 40 --restart-after 0.5 --delay exponential:0.3",
            "--scheme k-batch-sync --batch 40 --restart-after 500ms --delay exponential:300ms",
        ),
        (
            "--scheme ignore --deadline adaptive:2,5,20,0.01 --delay exponential:0.1",
            "--scheme ignore --deadline adaptive:2,5,20,10ms --delay exponential:100ms",
        ),
    ],
)
def test_a_time_with_a_unit_is_that_of_the_number(tmp_path, seconds, units):
    one, other = ([word.replace("_", " ") for word in line.split()] for line in (seconds, units))
    plain, _ = times(tmp_path / "plain.h5", *one)
    timed, about = times(tmp_path / "timed.h5", *other)
    assert plain == timed and len(plain) == 4
    # The record has the words of the user; what is computed with is a number.
    config = about["config"]
    config = config.decode() if isinstance(config, bytes) else config
    assert f"{other[-2].removeprefix('--')} = {other[-1]}" in config
    assert float(about["row_time"]) == pytest.approx(
        {"--row-time 2us": 2e-6}.get(units, 1e-3 if "1ms" in units.split() else 0)
    )


def test_a_time_that_is_none_is_refused_with_the_forms(tmp_path):
    forms = "give seconds, or a time such as 50ms, 10us, 2s or 5min"
    for option in ("--latency", "--load-time"):
        words = [*DRY, option, "1m", "--trace", tmp_path / "t.h5"]
        assert refused(tmp_path, *words) == f"{option} is 1m: {forms}"
    words = [*DRY, "--delay", "exponential:5sec", "--trace", tmp_path / "t.h5"]
    assert refused(tmp_path, *words) == (
        "--delay is exponential:5sec, but MEAN is 5sec, not a time of at least 0, such as 0.05 or "
        "50ms: write exponential:MEAN"
    )
    words = [*DRY, "--slowdown", "constant:2ms", "--row-time", 1, "--trace", tmp_path / "t.h5"]
    assert "SECONDS is 2ms, not a number of at least 0" in refused(tmp_path, *words)
    for times_of in ("simulate", "run", "advise", "doctor"):
        assert call(times_of, "--help").stdout.count("A time is a number of seconds, or") == 1
    assert "A time is" not in call("list", "--help").stdout
    assert ".SH TIMES" in call("help", "--man").stdout


def test_advice_takes_a_row_time_with_a_unit(tmp_path):
    words = ["advise", "--workers", 4, "--rows", 400, "--schemes", "frc", "--rounds", 5]
    words += ["--repeat", 2, "--delay", "exponential:50ms"]
    plain = call(*words, "--row-time", "1e-5")
    timed = call(*words, "--row-time", "10us")
    assert plain.returncode == timed.returncode == 0, plain.stderr + timed.stderr
    assert plain.stdout.splitlines()[:2] == timed.stdout.splitlines()[:2]


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
