# SPDX-License-Identifier: BSD-2-Clause
"""What is there survives a mistake, and a full disk ends in one line."""

import resource
import subprocess

import pytest

from program import call, command_line, environment, our_lines


def on_a_disk_of(size, *words, ranks=None):
    """Runs the program where no file can grow beyond so many bytes."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run(
        command_line(words, ranks),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=limit,
    )


@pytest.mark.parametrize("content", ["my notes\n", "trace"])
def test_only_data_sets_are_replaced_by_data_sets(content, tmp_path):
    path = tmp_path / "mine.h5"
    if content == "trace":
        call("simulate", "--dry", "--workers", 2, "--rounds", 1, "--trace", path, "--quiet")
    else:
        path.write_text(content)
    before = path.read_bytes()
    rows = tmp_path / "rows.svm"
    rows.write_text("1 1:1\n-1 2:1\n")
    for words in [["generate"], ["import", "--input", rows]]:
        done = call(*words, "--output", path)
        assert done.returncode == 2
        assert done.stderr == (
            f"quorate: --output is {path}, which exists and is not a data set: remove it or give "
            "another name\n"
        )
        assert path.read_bytes() == before


def test_an_empty_file_and_a_data_set_are_replaced(tmp_path):
    path = tmp_path / "new.h5"
    path.touch()
    for _ in range(2):
        done = call("generate", "--rows", 10, "--columns", 2, "--output", path, "--quiet")
        assert (done.returncode, done.stderr) == (0, "")


def test_generate_on_a_full_disk_leaves_nothing(tmp_path):
    words = ["generate", "--rows", 20000, "--columns", 50, "--output", tmp_path / "d.h5"]
    done = on_a_disk_of(200_000, *words)
    assert done.returncode == 1
    assert done.stderr.startswith(f"quorate: HDF5: cannot append to a data set: {tmp_path}/d.h5.")
    assert done.stderr.endswith(".part: File too large\n")
    assert list(tmp_path.iterdir()) == []


def test_a_simulation_whose_trace_fills_the_disk_ends_with_one_line(tmp_path):
    trace = tmp_path / "t.h5"
    words = ["simulate", "--dry", "--workers", 100, "--rounds", 20000, "--trace-arrivals", "all"]
    done = on_a_disk_of(200_000, *words, "--trace", trace, "--quiet")
    assert done.returncode == 1
    assert our_lines(done.stderr) == [done.stderr.strip()]
    assert done.stderr.endswith(f"{trace}: File too large\n")


def test_a_run_whose_trace_fills_the_disk_ends_with_one_line(tmp_path):
    data, trace = tmp_path / "d.h5", tmp_path / "t.h5"
    words = ["--rows", 100, "--columns", 20000, "--test-rows", 0, "--output", data, "--quiet"]
    assert call("generate", *words).returncode == 0
    words = ["run", "--data", data, "--rounds", 1000, "--step", 0.1, "--trace", trace, "--quiet"]
    done = on_a_disk_of(64 << 20, *words, ranks=3)
    assert done.returncode == 1
    assert len(our_lines(done.stderr)) == 1, done.stderr
    assert our_lines(done.stderr)[0].endswith(f"{trace}: File too large")
