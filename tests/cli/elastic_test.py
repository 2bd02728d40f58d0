# SPDX-License-Identifier: BSD-2-Clause
"""Coded elastic computing, virtual clock: whoever is there, the iterates of an uncoded run."""

import itertools

import h5py
import numpy
import pytest

from program import call, inspect

MODELS = ["ridge", "logistic", "hinge", "squared-hinge", "softmax"]
# 8, 5, 7, 3, 8 machines.
CHANGES = "5r leave 0,3,7; 10r join 0,3; 20r leave 1,2,4,5; 30r join 1,2,4,5,7"
COMMON = ["--workers", 8, "--step", 0.1, "--quiet"]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """203 rows of a regression."""
    path = tmp_path_factory.mktemp("numbers") / "numbers.h5"
    size = ["--rows", 203, "--columns", 12, "--test-rows", 41, "--model", "ridge"]
    assert call("generate", *size, "--output", path, "--quiet").returncode == 0
    return path


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """The same in text, of which three quarters of the entries are zero."""
    folder = tmp_path_factory.mktemp("sparse")
    random = numpy.random.default_rng(4)
    lines = []
    for _ in range(203):
        columns = sorted(random.choice(40, 10, replace=False) + 1)
        entries = " ".join(f"{c}:{random.normal():.6f}" for c in columns)
        lines.append(f"{random.choice([-1, 1])} {entries}\n")
    (folder / "rows.svm").write_text("".join(lines))
    words = ["--input", folder / "rows.svm", "--format", "libsvm", "--test-fraction", 0.2]
    done = call("import", *words, "--output", folder / "rows.h5", "--quiet")
    assert done.returncode == 0, done.stderr
    return folder / "rows.h5"


def iterates(path, *words):
    done = call("simulate", *words, "--trace", path, "--overwrite")
    assert done.returncode == 0, done.stderr
    assert inspect(path)["faults"] == []
    with h5py.File(path, "r") as trace:
        return trace["iterate/model"][:]


def elastic(path, data, model, *words):
    given = ["--data", data, "--model", model, *COMMON, "--row-time", 0.01]
    return iterates(path, *given, "--scheme", "elastic", *words)


def uncoded(path, data, model, rounds=40):
    return iterates(path, "--data", data, "--model", model, *COMMON, "--rounds", rounds)


@pytest.mark.parametrize("storage", ["one", "two"])
@pytest.mark.parametrize("model", MODELS)
def test_the_trajectory_is_the_uncoded_one_while_machines_come_and_go(
    model, storage, gaussians, numbers, tmp_path
):
    data = numbers if model == "ridge" else gaussians
    expected = uncoded(tmp_path / "u.h5", data, model)
    words = ["--needed", 3, "--rounds", 40, "--events", CHANGES, "--storage", storage]
    ours = elastic(tmp_path / "e.h5", data, model, *words)
    assert numpy.abs(ours - expected).max() < 1e-9
    again = iterates(tmp_path / "r.h5", "--replay", tmp_path / "e.h5", "--quiet")
    assert numpy.array_equal(ours, again)


@pytest.mark.parametrize("allocation", ["cyclic", "shifted-cyclic", "flow", "speeds"])
@pytest.mark.parametrize("generator", ["haar", "systematic", "fourier"])
@pytest.mark.parametrize("storage", ["one", "two"])
def test_every_allocation_and_generator_on_sparse_rows(
    allocation, generator, storage, sparse, tmp_path
):
    expected = uncoded(tmp_path / "u.h5", sparse, "logistic")
    words = ["--needed", 3, "--rounds", 40, "--events", CHANGES, "--slowdown", "pareto:1,3"]
    words += ["--allocation", allocation, "--generator", generator, "--storage", storage]
    ours = elastic(tmp_path / "e.h5", sparse, "logistic", *words)
    assert numpy.abs(ours - expected).max() < 1e-9


# 203 rows, L = 3: 68 coded rows, of which each of 8 machines has about 26, half a row time each: a
# stage takes 0.13 s. So machines die with none, some and all of their tasks done, in either stage.
@pytest.mark.parametrize("when", numpy.arange(0.005, 0.30, 0.0123).round(4))
@pytest.mark.parametrize("storage", ["one", "two"])
def test_a_machine_may_die_at_any_moment(when, storage, gaussians, tmp_path):
    expected = uncoded(tmp_path / "u.h5", gaussians, "logistic", 4)
    kills = f"{when} kill 2; {when + 0.31} leave 5"
    words = ["--needed", 3, "--rounds", 4, "--events", kills, "--timeout", 0, "--storage", storage]
    ours = elastic(tmp_path / "e.h5", gaussians, "logistic", *words)
    assert numpy.abs(ours - expected).max() < 1e-9


@pytest.mark.parametrize("late", itertools.combinations(range(8), 2))
def test_stragglers_within_the_slack_cost_no_time(late, gaussians, tmp_path):
    expected = uncoded(tmp_path / "u.h5", gaussians, "hinge", 5)
    words = ["--needed", 3, "--slack", 2, "--rounds", 5]
    words += ["--delay", f"fixed:50,{late[0]},{late[1]}"]
    ours = elastic(tmp_path / "e.h5", gaussians, "hinge", *words)
    assert numpy.abs(ours - expected).max() < 1e-9
    with h5py.File(tmp_path / "e.h5", "r") as trace:
        assert trace["round/time"][-1] < 5
        used = trace["arrival/used"][:] > 0
        assert not numpy.isin(trace["arrival/worker"][:][used], late).any()


def test_with_two_codes_a_loss_in_the_second_stage_costs_no_time(gaussians, tmp_path):
    # Five of eight compute each row and column: a stage of about 0.2 s each.
    def time(storage, *words):
        path = tmp_path / "e.h5"
        given = ["--needed", 3, "--slack", 2, "--rounds", 1, "--storage", storage, *words]
        elastic(path, gaussians, "logistic", *given, "--evaluate-every", 1)
        with h5py.File(path, "r") as trace:
            return trace["round/time"][-1]

    killed = ["--events", "0.25 kill 2; 0.26 kill 4", "--timeout", 0]
    assert time("one", *killed) > time("one")
    assert time("two", *killed) == time("two")


def test_machines_of_different_speeds_end_together(gaussians, tmp_path):
    def time(allocation):
        path = tmp_path / f"{allocation}.h5"
        words = ["--needed", 3, "--rounds", 30, "--allocation", allocation]
        elastic(path, gaussians, "logistic", *words, "--slowdown", "fixed:3,0,1,2")
        with h5py.File(path, "r") as trace:
            return numpy.diff(trace["round/time"][:])[10:].mean()

    # Five of speed 1 and three of 1/3 share what eight of speed 1 would do in 1: 8 / 6 against 3.
    assert time("speeds") < 0.5 * time("cyclic")


def test_little_changes_hands(gaussians, tmp_path):
    def waste(allocation):
        path = tmp_path / f"{allocation}.h5"
        events = "random:leave=0.05,join=0.2,least=4"
        words = ["--needed", 3, "--rounds", 100, "--events", events, "--allocation", allocation]
        elastic(path, gaussians, "logistic", *words)
        with h5py.File(path, "r") as trace:
            return trace["round/waste"][:].sum()

    assert waste("flow") <= waste("shifted-cyclic") < waste("cyclic")


@pytest.mark.parametrize(
    "words, message",
    [
        (["--needed", 9], "--needed is 9"),
        (["--needed", 6, "--slack", 3], "use at most 2, or more workers"),
        (["--batch", 50], "coded products are over all rows"),
        (["--model", "mlp"], "coded storage serves linear models only"),
        (["--generator", "vandermonde"], "--generator is vandermonde"),
        (["--allocation", "best"], "--allocation is best"),
        (["--storage", "three"], "--storage is three"),
    ],
)
def test_what_cannot_be_coded_is_refused(words, message, gaussians, tmp_path):
    given = ["--data", gaussians, "--scheme", "elastic", *COMMON, "--trace", tmp_path / "t.h5"]
    done = call("simulate", *given, *words)
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_a_dry_run_of_two_codes_needs_columns(tmp_path):
    words = ["--dry", "--scheme", "elastic", "--storage", "two", "--row-time", 1e-3, "--rounds", 3]
    done = call("simulate", *words, *COMMON, "--columns", 3, "--trace", tmp_path / "t.h5")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "4 (--needed) are more than the 3 of the data" in done.stderr
    done = call("simulate", *words, *COMMON, "--columns", 4, "--trace", tmp_path / "t.h5")
    assert done.returncode == 0, done.stderr


def test_fewer_machines_than_needed_end_the_run(gaussians, tmp_path):
    given = ["--data", gaussians, "--scheme", "elastic", *COMMON, "--trace", tmp_path / "t.h5"]
    done = call("simulate", *given, "--needed", 6, "--events", "5r leave 0,1,2")
    assert done.returncode == 1
    assert "5 machines are left, and 6 are needed" in done.stderr
    done = call("simulate", *given, "--needed", 6, "--events", "5r leave 0,1,2; 9 join 1")
    assert done.returncode == 1
    # Waiting for those who come back is another way.
    late = ["--events", "5r leave 0,1,2; 9 join 1", "--row-time", 0.01, "--on-loss", "wait"]
    done = call("simulate", *given, "--needed", 6, *late)
    assert done.returncode == 0, done.stderr
