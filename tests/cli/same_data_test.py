# SPDX-License-Identifier: BSD-2-Clause
"""A data set that another one of the same name and shape has replaced is not taken for it."""

import shutil

import h5py
import pytest

from program import call, inspect, our_lines

SIZE = ["generate", "--rows", 60, "--columns", 4, "--test-rows", 12, "--quiet"]
SIMULATE = ["simulate", "--workers", 3, "--step", 0.1, "--rounds", 4, "--quiet"]


def ok(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def make(path, seed, *words):
    ok(call(*SIZE, "--seed", seed, "--output", path, "--overwrite", *words))


def content(path):
    return inspect(path)["content_sha256"]


@pytest.fixture
def run(tmp_path):
    """A trace; its data set is replaced then. The data set of before is kept as kept.h5."""
    data, trace = tmp_path / "d.h5", tmp_path / "t.h5"
    make(data, 1)
    ok(call(*SIMULATE, "--data", data, "--trace", trace))
    shutil.copy(data, tmp_path / "kept.h5")
    make(data, 2)
    return trace


def test_data_are_told_by_their_content(tmp_path):
    one, two, three, four = (tmp_path / f"{name}.h5" for name in "abcd")
    make(one, 1)
    make(two, 1)
    make(three, 2)
    make(four, 1, "--float32")
    assert content(one) == content(two)
    assert len({content(path) for path in (one, three, four)}) == 3
    rows = tmp_path / "rows.csv"
    found = set()
    for labels in ("aca", "acc", "bcb"):
        first, second, third = labels
        rows.write_text(f"x,y\n1,{first}\n3,{second}\n5,{third}\n")
        ok(call("import", "--input", rows, "--label", "y", "--output", one, "--overwrite"))
        found.add(content(one))
    assert len(found) == 3


def test_all_rows_count_wherever_the_file_is_flushed(tmp_path):
    """Two files that differ in the last of many labels only."""
    found = set()
    for last in ("1", "-1"):
        rows = tmp_path / "rows.svm"
        rows.write_text("1 1:1\n-1 2:1\n" * 70000 + f"{last} 1:1\n")
        words = ["--output", tmp_path / "d.h5", "--overwrite", "--quiet"]
        ok(call("import", "--input", rows, *words))
        found.add(content(tmp_path / "d.h5"))
    assert len(found) == 2


@pytest.mark.parametrize(
    "command, remedy",
    [
        (["predict", "{trace}"], "put that back, or give the rows to predict as --data"),
        (["simulate", "--replay", "{trace}"], "give its data set as --data"),
        (["simulate", "--replay", "{trace}", "--data", "{data}"], "give its data set as --data"),
        (["evaluate", "{trace}"], "give its data set as --data"),
        (["evaluate", "{trace}", "--data", "{data}"], "give its data set as --data"),
    ],
)
def test_other_data_are_refused(command, remedy, run, tmp_path):
    data = tmp_path / "d.h5"
    words = [word.format(trace=run, data=data) for word in command]
    if command[0] == "predict":
        words += ["--output", tmp_path / "scores.csv"]
    if command[0] == "simulate":
        words += ["--trace", tmp_path / "again.h5"]
    before = sorted(path.name for path in tmp_path.iterdir())
    done = call(*words)
    assert done.returncode == 2
    told = f"quorate: {data} holds other data than the run of {run} had: {remedy}"
    assert our_lines(done.stderr) == [told]
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    # The run's data are taken, wherever they are now and whatever they are called.
    words = [word for word in words if word not in ("--data", str(data))]
    ok(call(*words, "--data", tmp_path / "kept.h5"))


def test_rows_are_imported_like_the_data_of_the_run_only(run, tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 2:1\n")
    words = ["predict", run, "--data", tmp_path / "rows.svm", "--output", tmp_path / "s.csv"]
    done = call(*words)
    assert done.returncode == 2 and "put that back, as the rows are to be imported" in done.stderr
    shutil.copy(tmp_path / "kept.h5", tmp_path / "d.h5")
    ok(call(*words))


def test_a_complete_run_is_not_that_of_other_data(run, tmp_path):
    words = [*SIMULATE, "--data", tmp_path / "d.h5", "--trace", run, "--resume"]
    done = call(*words)
    assert done.returncode == 2 and "holds other data than the run" in done.stderr
    shutil.copy(tmp_path / "kept.h5", tmp_path / "d.h5")
    ok(call(*words))


def test_an_optimum_of_other_data_is_none(tmp_path):
    data, trace = tmp_path / "d.h5", tmp_path / "t.h5"
    make(data, 1)
    ok(call("optimum", "--data", data, "--quiet"))
    make(data, 2)
    ok(call(*SIMULATE, "--data", data, "--trace", trace))
    assert "optimum" not in inspect(trace)
    ok(call("optimum", "--data", data, "--quiet"))
    assert inspect(trace)["optimum"]["last_gap"] > 0


def test_data_whose_rows_were_changed_in_place_are_told_by_their_attributes(run, tmp_path):
    data = tmp_path / "d.h5"
    with h5py.File(data, "r+") as file:
        del file.attrs["content_sha256"]
    ok(call(*SIMULATE, "--data", data, "--trace", run, "--overwrite"))
    ok(call("predict", run, "--output", tmp_path / "scores.csv"))
    make(data, 3)
    assert call("predict", run, "--output", tmp_path / "scores.csv").returncode == 2
