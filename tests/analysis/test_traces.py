# SPDX-License-Identifier: BSD-2-Clause
"""analysis/traces.py and analysis/table.py against traces read by hand."""

import os
import shutil
import subprocess

import h5py
import numpy as np
import pytest

import table
from traces import BadInput, curve, labels, read_trace


def column(path, name):
    with h5py.File(path, "r") as file:
        return file[name][:]


def edited(path, folder, edit):
    """A copy of a trace, changed by edit(file)."""
    copy = folder / "edited.h5"
    shutil.copy(path, copy)
    with h5py.File(copy, "r+") as file:
        edit(file)
    return copy


def test_a_trace_is_read_as_it_stands_in_the_file(runs):
    trace = read_trace(runs["uncoded"])
    assert (trace.scheme, trace.rounds, trace.evaluated) == ("uncoded", 6, True)
    assert trace.attributes["workers"] == 4
    assert list(trace.evaluation["round"]) == [2, 4, 6]
    assert trace.time == column(runs["uncoded"], "round/time")[-1]
    assert len(trace.arrival["worker"]) == 6 * 4


def test_a_curve_is_a_column_of_the_evaluation_at_the_times_of_its_rounds(runs):
    trace = read_trace(runs["uncoded"])
    rounds, times, values = curve(trace, "auc")
    assert list(rounds) == [2, 4, 6]
    assert np.all(times >= trace.round["time"][rounds - 1])
    assert np.all(times[:-1] < trace.round["time"][rounds[:-1]])  # before the next round's end
    assert list(values) == list(column(runs["uncoded"], "evaluation/auc"))


def test_a_trace_without_evaluation_gives_estimates_of_the_loss_and_no_auc(runs):
    trace = read_trace(runs["bare"])
    assert not trace.evaluated
    rounds, times, values = curve(trace, "train_loss")
    assert list(rounds) == [0, 1, 2, 3, 4, 5]  # an estimate is of the point before its update
    assert list(times) == [0, *trace.round["time"][:-1]]
    assert list(values) == list(column(runs["bare"], "round/loss_estimate"))
    assert len(curve(trace, "auc")[0]) == 0
    assert trace.final_loss == values[-1] and np.isnan(trace.final_auc)


def test_columns_that_a_killed_run_left_uneven_are_cut_to_the_shortest(runs, tmp_path):
    path = edited(runs["frc"], tmp_path, lambda file: file["round/time"].resize((3,)))
    trace = read_trace(path)
    assert trace.rounds == 3
    assert len(trace.round["loss_estimate"]) == 3


def test_labels_name_the_file_where_schemes_repeat_and_the_path_where_files_do(runs, tmp_path):
    shutil.copy(runs["uncoded"], tmp_path / "uncoded.h5")
    uncoded, frc, bare = (read_trace(runs[name]) for name in ("uncoded", "frc", "bare"))
    assert labels([uncoded, frc]) == ["uncoded", "frc"]
    assert labels([uncoded, bare]) == ["uncoded (uncoded)", "uncoded (bare)"]
    again = read_trace(tmp_path / "uncoded.h5")
    assert labels([uncoded, again]) == [f"uncoded ({uncoded.path})", f"uncoded ({again.path})"]


def test_the_table_holds_the_numbers_of_the_traces(runs):
    first, second = table.rows([read_trace(runs["uncoded"]), read_trace(runs["frc"])])
    times = [column(runs[name], "round/time")[-1] for name in ("uncoded", "frc")]
    loss = column(runs["frc"], "evaluation/train_loss")[-1]
    auc = column(runs["frc"], "evaluation/auc")[-1]
    assert first[0] == "uncoded" and first[3] == "1.00"
    assert second == (
        "frc",
        f"{times[1]:.3f}",
        f"{1000 * times[1] / 5:.2f}",
        f"{(times[0] / 6) / (times[1] / 5):.2f}",  # runs of different length compare by round
        "0",
        f"{loss:.4f}",
        f"{auc:.4f}",
    )


def test_the_table_marks_estimates_and_says_so(runs, script):
    done = script("table.py", runs["uncoded"], runs["bare"])
    assert done.returncode == 0, done.stderr
    header, _, bare, note = done.stdout.splitlines()
    assert header.split() == (
        "scheme time (s) ms per round speed-up decode error final loss AUC".split()
    )
    estimate = column(runs["bare"], "round/loss_estimate")[-1]
    assert bare.split()[-2:] == [f"~{estimate:.4f}", "-"]
    assert note.startswith("~")


def test_the_table_of_a_run_that_has_just_begun_has_no_numbers(runs, tmp_path):
    def empty(file):
        for name in ("round", "evaluation"):
            for data in file[name].values():
                data.resize((0,))

    (row,) = table.rows([read_trace(edited(runs["frc"], tmp_path, empty))])
    assert row == ("frc", "0.000", "-", "-", "-", "-", "-")


def test_a_dry_run_has_times_and_no_loss(script, tmp_path):
    trace = tmp_path / "dry.h5"
    words = ["--dry", "--workers", "4", "--rounds", "5", "--delay", "constant:2", "--quiet"]
    words += ["--scheme", "ignore", "--trace", str(trace)]
    subprocess.run([os.environ["QUORATE"], "simulate", *words], check=True, timeout=60)
    (row,) = table.rows([read_trace(trace)])
    assert row == ("ignore", "10.000", "2000.00", "1.00", "1.33", "-", "-")
    done = script("plot.py", "--output", tmp_path / "figure", trace)
    assert done.returncode == 2
    assert done.stderr.endswith("holds no finite loss or AUC: nothing to plot\n")


def missing_table(file):
    del file["evaluation"]


def empty_table(file):
    del file["round"]
    file.create_group("round")


def other_version(file):
    file.attrs["format_version"] = 5


def no_scheme(file):
    del file.attrs["scheme"]


@pytest.mark.parametrize(
    "edit, message",
    [
        (missing_table, "cannot be read as a trace"),
        (empty_table, "cannot be read as a trace"),
        (other_version, "has trace format 5"),
        (no_scheme, "no attribute scheme"),
    ],
)
def test_a_damaged_trace_is_refused(runs, tmp_path, edit, message):
    path = edited(runs["frc"], tmp_path, edit)
    with pytest.raises(BadInput, match=message) as refused:
        read_trace(path)
    assert "\n" not in str(refused.value)


def test_a_truncated_trace_is_refused(runs, tmp_path):
    path = tmp_path / "cut.h5"
    path.write_bytes(runs["frc"].read_bytes()[:2000])
    with pytest.raises(BadInput, match="cannot be read as a trace"):
        read_trace(path)
