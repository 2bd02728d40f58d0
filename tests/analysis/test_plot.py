# SPDX-License-Identifier: BSD-2-Clause
"""analysis/plot.py: figures are made, and what cannot be drawn is refused in one line."""

import shutil

import h5py
import pytest

import plot
from traces import read_trace


def refused(done, *words):
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(("plot: ", "table: ")) and done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def test_a_png_and_a_pdf_are_made_and_named(runs, script, tmp_path):
    done = script("plot.py", "--output", tmp_path / "figure", runs["uncoded"], runs["frc"])
    assert (done.returncode, done.stderr) == (0, "")
    png, pdf = tmp_path / "figure.png", tmp_path / "figure.pdf"
    assert done.stdout.split() == [str(png), str(pdf)]
    assert png.read_bytes().startswith(b"\x89PNG") and pdf.read_bytes().startswith(b"%PDF")


def test_a_suffix_in_the_output_is_not_doubled(runs, script, tmp_path):
    done = script("plot.py", "--output", tmp_path / "figure.png", runs["frc"])
    assert done.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.pdf", "figure.png"]


def test_each_panel_has_a_line_for_each_trace_with_its_numbers(runs):
    traces = [read_trace(runs["uncoded"]), read_trace(runs["frc"])]
    figure = plot.draw(traces)
    loss_time, loss_round, auc_time, auc_round = figure.axes
    assert loss_time.get_ylabel() == "training loss" and auc_time.get_ylabel() == "test AUC"
    assert auc_time.get_xlabel() == "wall time (s)" and auc_round.get_xlabel() == "round"
    for axis in figure.axes:
        named = [line for line in axis.get_lines() if not line.get_label().startswith("_")]
        assert [line.get_label() for line in named] == ["uncoded", "frc"]
    drawn = auc_time.get_lines()[0]
    assert list(drawn.get_xdata()) == list(traces[0].evaluation["time"])
    assert list(drawn.get_ydata()) == list(traces[0].evaluation["auc"])
    assert list(loss_round.get_lines()[0].get_xdata()) == [2, 4, 6]


def test_the_caption_says_what_all_traces_share(runs):
    traces = [read_trace(runs["uncoded"]), read_trace(runs["bare"])]
    text = plot.caption(traces)
    assert "data, 200 x 6" in text and "4 workers" in text
    assert "delay" not in text  # one has delays, one has none


def test_a_trace_without_evaluation_is_drawn_by_its_estimates_and_labelled_so(runs):
    figure = plot.draw([read_trace(runs["bare"])])
    loss_time, loss_round = figure.axes  # and no panel for the AUC, which it has not
    for axis in (loss_time, loss_round):
        assert axis.get_lines()[0].get_label() == "uncoded (estimate)"
        assert len(axis.get_lines()[0].get_xdata()) == 6
    both = [read_trace(runs[name]) for name in ("uncoded", "bare")]
    assert plot.names(both) == ["uncoded (uncoded)", "uncoded (bare, estimate)"]


def test_many_traces_have_lines_that_differ():
    seen = {(style["color"], str(style["linestyle"])) for style in plot.styles(28)}
    assert len(seen) == 28


def test_a_run_without_a_round_is_nothing_to_plot(runs, script, tmp_path):
    path = tmp_path / "begun.h5"
    shutil.copy(runs["frc"], path)
    with h5py.File(path, "r+") as file:
        for name in ("round", "evaluation"):
            for data in file[name].values():
                data.resize((0,))
    refused(script("plot.py", "--output", tmp_path / "figure", path), "nothing to plot")
    assert not (tmp_path / "figure.png").exists()


@pytest.mark.parametrize("tool", ["plot.py", "table.py"])
def test_what_is_not_a_trace_is_refused_in_one_line(tool, runs, script, tmp_path):
    text = tmp_path / "text.h5"
    text.write_text("not HDF5\n")
    refused(script(tool, tmp_path / "missing.h5"), "missing.h5", "is not a file")
    refused(script(tool, tmp_path), "is not a file")
    refused(script(tool, text), "is not an HDF5 file")
    refused(script(tool, runs["frc"], runs["data"]), "data.h5 is not a trace")


def test_output_that_cannot_be_written_is_refused_in_one_line(runs, script, tmp_path):
    refused(script("plot.py", "--output", tmp_path / "no/figure", runs["frc"]), "does not exist")
    refused(script("plot.py", "--output", tmp_path, runs["frc"]), "names no file")
    (tmp_path / "figure.png").mkdir()
    refused(script("plot.py", "--output", tmp_path / "figure", runs["frc"]), "cannot write")
