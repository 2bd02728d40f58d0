# SPDX-License-Identifier: BSD-2-Clause
"""report: one page that needs nothing else; and bad input of every command in one line."""

import os
import re
import subprocess
import sys
from html import escape

import h5py
import pytest
from program import REPOSITORY, attributes_of
from traces import edited
from quorate.analysis import appendix
from quorate.analysis.groups import group, read_all


def test_a_report_holds_its_figures_and_names_nothing_outside(runs, simulated, analyse, tmp_path):
    paths = [runs["uncoded"], *(simulated[name] for name in ("frc-1", "frc-2", "diverged", "twin"))]
    status, out, error = analyse("report", *paths, "--out", tmp_path / "report")
    assert (status, error) == (0, "")
    page = (tmp_path / "report/index.html").read_text()
    assert out == f"{tmp_path}/report/index.html\n"
    assert page.count("src=") == page.count('src="data:image/png;base64,')
    assert not re.search(r'(src|href)="?(https?:|//)', page) and "@import" not in page
    for words in ("Comparison", "Rounds", "Cost", "Workers: ", "Runs", "diverged", "Fitted delay"):
        assert words in page
    assert "Measured and simulated time of the same run" in page
    shown = page.count(">Workers: ") // 2  # in the headings, and the links to them
    assert (
        page.count("What stragglers cost.</b>") == page.count("the run took so many times") == shown
    )
    written = {path.name for path in (tmp_path / "report").iterdir()} - {"index.html"}
    held = set(re.findall(r'download="([^"]+)"', page))
    named = set(re.findall("beside this page: ([^,)<]+)", page))
    assert held | named == {name for name in written if not name.endswith(".png")}
    assert not re.findall(r'href="(?!#|data:)', page)
    assert {name.rsplit(".", 1)[1] for name in written - {"appendix.html"}} == {"png", "pdf", "csv"}


def test_names_of_traces_stand_in_the_page_as_text(runs, analyse, tmp_path):
    script = "<script>alert(1)</script>"
    path = edited(runs["uncoded"], tmp_path, lambda file: file.attrs.update({"scheme": script}))
    status, _, error = analyse("report", path, runs["frc"], "--out", tmp_path / "report")
    assert (status, error) == (0, "")
    for page in (tmp_path / "report").glob("*.html"):
        assert script not in page.read_text() and escape(script) in page.read_text()


def test_the_appendix_says_all_that_it_takes_to_do_it_again(simulated):
    names = [f"{scheme}-{seed}" for scheme in ("uncoded", "frc") for seed in (1, 2, 3)]
    page = appendix.page(group(read_all([simulated[name] for name in names]))).html()
    for name in names:
        with h5py.File(simulated[name]) as file:
            attributes = attributes_of(file)
        assert escape(attributes["command_line"]) in page
        assert escape(attributes["libraries"]) in page and attributes["git_revision"] in page
    rows = re.findall(r'<tr>(<th scope="row">.*?)</tr>', page)
    cells = [re.findall("<t[dh].*?>(.*?)</t[dh]>", row) for row in rows]
    assert ["training rows", "200"] in cells and ["injected delay", "exponential:0.01"] in cells
    assert ["--step", "0.3"] in cells and ["clock", "virtual"] in cells
    mine = {row[0]: row[1:] for row in cells if len(row) == 6}
    assert mine["uncoded"] == ["-", "4", "30", "3", "1, 2, 3"]
    assert mine["frc"][0].startswith("--") and mine["frc"][-1] == "1, 2, 3"
    assert "Python 3" in page and "numpy" in page and "src=" not in page


@pytest.mark.whole
def test_a_report_of_times_only(tmp_path, analyse):
    from traces import simulate

    words = ("--dry", "--workers", 4, "--rounds", 5, "--delay", "exponential:2")
    trace = simulate(tmp_path, "dry", *words)
    assert analyse("report", trace, "--out", tmp_path / "report")[0] == 0
    none = simulate(tmp_path, "none", *words, "--trace-arrivals", "none")
    assert analyse("report", none, "--out", tmp_path / "report")[0] == 0
    assert "--trace-arrivals all" in (tmp_path / "report/index.html").read_text()


@pytest.mark.parametrize("command", ["report", "compare", "workers", "rounds", "cost", "export"])
def test_what_is_not_a_trace_is_refused_in_one_line(command, runs, analyse, tmp_path):
    text = tmp_path / "text.h5"
    text.write_text("not HDF5\n")
    empty = tmp_path / "empty.h5"
    empty.touch()
    for path, words in (
        (tmp_path / "missing.h5", "is not a file"),
        (tmp_path, "is a folder"),
        (text, "is not an HDF5 file"),
        (empty, "is not an HDF5 file"),
        (runs["data"], "data.h5 is not a trace"),
    ):
        status, out, error = analyse(command, path)
        assert (status, out) == (2, "")
        assert error.startswith("quorate analysis: ") and error.count("\n") == 1
        assert words in error


def test_output_that_cannot_be_written_is_refused_in_one_line(runs, analyse, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "figure.png").mkdir()
    for words in (
        ("compare", runs["frc"], "--panel", "--out", tmp_path / "file"),
        ("compare", runs["frc"], "--panel", "--out", tmp_path, "--name", "figure"),
        ("report", runs["frc"], "--out", tmp_path / "file" / "report"),
    ):
        status, _, error = analyse(*words)
        assert status == 2 and error.count("\n") == 1 and "cannot" in error


@pytest.mark.parametrize(
    "words", [[], ["dance"], ["compare"], ["watch", "x.h5", "--every", "0"], ["report", "--wide"]]
)
def test_wrong_words_are_told_in_one_line(words, script):
    done = script(*words)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("quorate analysis") and done.stderr.count("\n") == 1


def test_the_package_runs_as_a_module_and_prints_its_help():
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "analysis")}
    done = subprocess.run(
        [sys.executable, "-m", "quorate.analysis", "--help"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0
    for command in ("report", "compare", "workers", "rounds", "cost", "export", "watch"):
        assert command in done.stdout
