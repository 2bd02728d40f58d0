# SPDX-License-Identifier: BSD-2-Clause
"""What is there survives a mistake, and a full disk ends in one line."""

import resource
import subprocess

import h5py
import pytest

from program import call, command_line, environment, inspect, our_lines


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


def test_an_empty_file_is_replaced_and_a_data_set_only_with_overwrite(tmp_path):
    path, rows = tmp_path / "new.h5", tmp_path / "rows.svm"
    rows.write_text("1 1:1\n-1 2:1\n")
    path.touch()
    make = ["generate", "--rows", 10, "--columns", 2, "--output", path, "--quiet"]
    assert (call(*make).returncode, path.stat().st_size > 0) == (0, True)
    for words in [make, ["import", "--input", rows, "--output", path, "--quiet"]]:
        before = path.read_bytes()
        done = call(*words)
        assert (done.returncode, path.read_bytes()) == (2, before)
        assert done.stderr == (
            f"quorate: --output is {path}, which holds a data set: give another name, or "
            "--overwrite to replace it\n"
        )
        assert call(*words, "--overwrite").returncode == 0
        assert path.read_bytes() != before


def test_generate_on_a_full_disk_leaves_nothing(tmp_path):
    words = ["generate", "--rows", 20000, "--columns", 50, "--output", tmp_path / "d.h5"]
    done = on_a_disk_of(200_000, *words)
    assert done.returncode == 1
    assert done.stderr.startswith(f"quorate: HDF5: cannot append to a data set: {tmp_path}/d.h5.")
    assert done.stderr.endswith(".part: File too large\n")
    assert list(tmp_path.iterdir()) == []


def check_that_it_gave_up(done, trace):
    assert done.returncode == 75, done.stderr
    first, last = our_lines(done.stderr)
    why = f"({trace}: File too large)"
    kept = "what the run does is kept in memory, and tried again for 0.1 s"
    assert first == f"quorate: {trace} cannot be written {why}: {kept}"
    remedy = "free space, and run it again"
    assert last == f"quorate: {trace} could not be written for 0.1 s {why}: {remedy}"
    assert inspect(trace)["status"] == "running"


def test_a_simulation_whose_trace_fills_the_disk_is_to_be_run_again(tmp_path):
    trace = tmp_path / "t.h5"
    words = ["simulate", "--dry", "--workers", 100, "--rounds", 20000, "--trace-arrivals", "all"]
    done = on_a_disk_of(200_000, *words, "--trace", trace, "--quiet", "--unsaved", "0.1s")
    check_that_it_gave_up(done, trace)


def test_a_run_whose_trace_fills_the_disk_stops_long_before_its_last_round(tmp_path):
    data, trace = tmp_path / "d.h5", tmp_path / "t.h5"
    words = ["--rows", 100, "--columns", 20000, "--test-rows", 0, "--output", data, "--quiet"]
    assert call("generate", *words).returncode == 0
    words = ["run", "--data", data, "--rounds", 100000, "--step", 0.1, "--trace", trace, "--quiet"]
    done = on_a_disk_of(64 << 20, *words, "--unsaved", "0.1s", ranks=3)
    check_that_it_gave_up(done, trace)


# --- what took time is replaced only when asked ---------------------------------------------------


def small(data, trace, *words, ranks=None, **more):
    """A run of a moment, under the virtual clock or over MPI."""
    command = ["run"] if ranks else ["simulate", "--workers", 3]
    words = ["--data", data, "--rounds", 5, "--step", 0.1, "--trace", trace, "--quiet", *words]
    return call(*command, *words, ranks=ranks, **more)


@pytest.mark.parametrize("ranks", [None, 4])
def test_a_complete_trace_is_replaced_only_with_overwrite(ranks, gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    assert small(gaussians, trace, ranks=ranks).returncode == 0
    before = trace.read_bytes()
    done = small(gaussians, trace, "--seed", 2, ranks=ranks)
    assert done.returncode == 2
    assert our_lines(done.stderr) == [
        f"quorate: --trace is {trace}, which holds a complete run: give another name, or "
        "--overwrite to replace it"
    ]
    assert trace.read_bytes() == before
    assert small(gaussians, trace, "--seed", 2, "--overwrite", ranks=ranks).returncode == 0
    assert trace.read_bytes() != before


@pytest.mark.parametrize("ranks", [None, 4])
def test_a_complete_run_is_not_resumed_but_done(ranks, gaussians, tmp_path):
    trace, words = tmp_path / "t.h5", ["--checkpoint", tmp_path / "c.h5", "--resume"]
    assert small(gaussians, trace, *words, ranks=ranks).returncode == 0
    assert not (tmp_path / "c.h5").exists()  # it was too short for one
    before = trace.read_bytes()
    done = small(gaussians, trace, *words, ranks=ranks)
    assert (done.returncode, done.stdout) == (0, f"{trace}: the run is complete\n")
    assert trace.read_bytes() == before
    done = small(gaussians, trace, *words, "--seed", 2, ranks=ranks)
    assert done.returncode == 2
    assert "--seed was 0 and is 2; give the options of that run, or another --trace" in done.stderr
    assert trace.read_bytes() == before


def test_a_dry_run_that_is_complete_is_done(tmp_path):
    words = ["simulate", "--dry", "--workers", 3, "--rounds", 5, "--trace", tmp_path / "t.h5"]
    for said in ("5 rounds in", "the run is complete"):
        done = call(*words, "--resume")
        assert done.returncode == 0 and said in done.stdout


def test_a_run_that_can_go_on_is_not_begun_anew(gaussians, tmp_path):
    trace, checkpoint = tmp_path / "t.h5", tmp_path / "c.h5"
    keeps = ["--checkpoint", checkpoint, "--checkpoint-every", "2r"]
    assert small(gaussians, trace, *keeps).returncode == 0
    with h5py.File(trace, "r+") as file:
        file.attrs["status"] = "interrupted"
    before = trace.read_bytes(), checkpoint.read_bytes()
    refusals = [
        (keeps, f"--checkpoint is {checkpoint}, from which a run can go on: add --resume, or"),
        ([], f"whose run can go on from {checkpoint}: add --checkpoint {checkpoint} --resume, or"),
        (["--checkpoint", tmp_path / "d.h5", "--resume"], "whose run can go on from"),
        ([*keeps, "--resume", "--overwrite"], "leave out one of the two"),
    ]
    for words, line in refusals:
        done = small(gaussians, trace, *words)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert line in done.stderr
        assert (trace.read_bytes(), checkpoint.read_bytes()) == before
    assert small(gaussians, trace, *keeps, "--resume").returncode == 0
    assert small(gaussians, trace, *keeps, "--overwrite").returncode == 0


def test_a_replayed_run_does_not_inherit_overwrite(gaussians, tmp_path):
    run, again = tmp_path / "t.h5", tmp_path / "again.h5"
    assert small(gaussians, run, "--overwrite").returncode == 0
    words = ["simulate", "--replay", run, "--trace", again, "--quiet"]
    assert [call(*words).returncode for _ in range(2)] == [0, 2]


def test_an_older_generation_of_others_is_kept(gaussians, tmp_path):
    mine = tmp_path / "c.h5.1"
    mine.write_text("my notes\n")
    done = small(gaussians, tmp_path / "t.h5", "--checkpoint", tmp_path / "c.h5")
    assert done.returncode == 2 and str(mine) in done.stderr
    assert mine.read_text() == "my notes\n"


def test_a_folder_for_temporary_files_that_is_missing_is_named(gaussians, tmp_path):
    trace, rows = tmp_path / "t.h5", tmp_path / "rows.csv"
    rows.write_text("a,b\n1,2\n")
    words = ["--data", gaussians, "--workers", 2, "--rounds", 2, "--quiet", "--trace", trace]
    assert call("simulate", *words).returncode == 0
    env = {"TMPDIR": str(tmp_path / "none")}
    done = call("predict", trace, "--data", rows, "--json", env=env)
    assert done.returncode == 2
    assert our_lines(done.stderr) == [
        f"quorate: TMPDIR is {tmp_path / 'none'}, which is no folder that can be written: "
        "make it, or name another one"
    ]


@pytest.mark.parametrize("name", ["scores.csv", "scores.h5"])
def test_scores_replace_scores_only(name, gaussians, tmp_path):
    trace, path = tmp_path / "t.h5", tmp_path / name
    assert small(gaussians, trace).returncode == 0
    words = ["predict", trace, "--output", path, "--quiet"]
    path.write_text("name,age\nAnn,7\n")
    done = call(*words)
    assert done.returncode == 2 and "which exists and is not a" in done.stderr
    assert path.read_text() == "name,age\nAnn,7\n"
    path.unlink()
    mine = tmp_path / f"{name}.part"
    mine.write_text("my notes\n")
    assert [call(*words).returncode for _ in range(2)] == [0, 0]
    assert mine.read_text() == "my notes\n"


def test_a_table_of_trials_replaces_such_tables_only(gaussians, tmp_path):
    path = tmp_path / "t.csv"
    words = ["tune", "--data", gaussians, "--grid", "step=0.1:0.2", "--folds", 2, "--rounds", 3]
    words += ["--output", path, "--quiet"]
    path.write_text("name,age\nAnn,7\n")
    done = call(*words)
    assert done.returncode == 2 and "a table with the columns step,fold" in done.stderr
    assert path.read_text() == "name,age\nAnn,7\n"
    path.unlink()
    assert [call(*words).returncode for _ in range(2)] == [0, 0]


def test_optima_replace_optima_only(tmp_path):
    data, path = tmp_path / "d.h5", tmp_path / "d.optima.h5"
    size = ["--rows", 60, "--columns", 4, "--test-rows", 0]
    assert call("generate", *size, "--output", data, "--quiet").returncode == 0
    path.write_text("my notes\n")
    done = call("optimum", "--data", data, "--quiet")
    assert done.returncode == 2 and str(path) in done.stderr and done.stderr.count("\n") == 1
    assert path.read_text() == "my notes\n"
