# SPDX-License-Identifier: BSD-2-Clause
"""Standard streams that are closed, full, or pipes that nobody reads."""

import os
import signal
import subprocess

import h5py
import pytest

from program import attributes_of, call, command_line, environment, inspect

FULL = "/dev/full"


@pytest.fixture(scope="module")
def trace(gaussians, tmp_path_factory):
    path = tmp_path_factory.mktemp("streams") / "t.h5"
    words = ["--data", gaussians, "--workers", 2, "--rounds", 3, "--trace", path]
    assert call("simulate", *words).returncode == 0
    return path


def with_streams(streams, *words):
    """Runs the program with what a shell makes of its streams."""
    return subprocess.run(
        ["bash", "-c", f'"$@" {streams}', "bash", *map(str, command_line(words))],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )


RESULTS = {
    "inspect": ["inspect", "TRACE", "--json"],
    "predict": ["predict", "TRACE", "--json"],
    "help": ["help"],
    "manual": ["help", "--man"],
    "options": ["run", "--help"],
    "version": ["--version"],
    "list": ["list", "schemes"],
    "advise": ["advise", "--workers", "3", "--rounds", "2", "--repeat", "1", "--quiet"],
    "analysis": ["analysis", "rounds", "TRACE"],
}


@pytest.mark.parametrize("streams", [f"> {FULL}", ">&-"])
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_that_cannot_be_written_is_a_failure(name, streams, trace):
    done = with_streams(streams, *[trace if word == "TRACE" else word for word in RESULTS[name]])
    assert done.returncode == 1
    why = "No space left on device" if FULL in streams else "Bad file descriptor"
    assert f"cannot write to standard output: {why}: make room" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("streams", ["2>&-", f"2> {FULL}", f"> {FULL} 2>&1", ">&- 2>&- <&-"])
def test_messages_that_cannot_be_written_are_no_failure(streams, gaussians, tmp_path):
    (tmp_path / "ids.csv").write_text(
        "label,id\n" + "".join(f"{i % 2},name{i}\n" for i in range(40))
    )
    words = ["--label", "label", "--categorical", "id", "--output", tmp_path / "d.h5"]
    done = with_streams(streams, "import", "--input", tmp_path / "ids.csv", *words)
    assert done.returncode == 0
    assert inspect(tmp_path / "d.h5")["columns"] == 41 - 1
    words = ["--data", gaussians, "--workers", 3, "--rounds", 30, "--folder", tmp_path / "runs"]
    assert with_streams(streams, "simulate", *words).returncode == 0
    with h5py.File(tmp_path / "runs" / "0001" / "trace.h5") as file:
        assert attributes_of(file)["status"] == "completed"


@pytest.mark.parametrize("streams", ["2>&-", f"2> {FULL}"])
def test_the_analysis_needs_nobody_who_reads_its_messages(streams, trace):
    done = with_streams(streams, "analysis", "rounds", trace)
    assert (done.returncode, done.stderr) == (0, "") and "uncoded" in done.stdout
    assert with_streams(streams, "analysis", "rounds", "none.h5").returncode == 2


def without_reader(*words, also_messages=False):
    """Runs the program with a pipe as its output that nobody reads any more."""
    reader, output = os.pipe()
    os.close(reader)
    with open(output, "w") as pipe:
        return subprocess.run(
            command_line(words),
            env=environment(),
            stdout=pipe,
            stderr=pipe if also_messages else subprocess.PIPE,
            text=True,
            timeout=120,
        )


def test_a_reader_that_stops_ends_what_prints_results_only(gaussians, tmp_path):
    done = without_reader("list", "schemes")
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")
    words = ["--data", gaussians, "--workers", 3, "--rounds", 30, "--trace", tmp_path / "t.h5"]
    assert without_reader("simulate", *words, also_messages=True).returncode == 0
