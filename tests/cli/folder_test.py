# SPDX-License-Identifier: BSD-2-Clause
"""Folders of runs: --folder runs makes runs/0001, ..., with trace, options and log."""

import json
import os
import shutil
import signal

import h5py
import numpy
import pytest

from program import attributes_of, call, our_lines, rounds_in, start, wait_until

SIMULATE = ["simulate", "--quiet", "--workers", 4, "--rounds", 6, "--step", 0.1]
DRY = ["simulate", "--quiet", "--dry", "--workers", 4, "--rounds", 6]


def ok(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def final(folder):
    with h5py.File(folder / "trace.h5") as trace:
        return trace["model/final"][:]


def test_each_run_gets_the_next_folder(gaussians, tmp_path):
    runs = tmp_path / "runs"
    for seed in (1, 2):
        ok(call(*SIMULATE, "--data", gaussians, "--seed", seed, "--folder", runs))
    (runs / "0041").mkdir()
    (runs / "notes").mkdir()
    ok(call(*DRY, "--folder", f"{runs}/"))
    assert files(runs) == ["0001", "0002", "0041", "0042", "notes"]
    assert files(runs / "0001") == ["log.txt", "options.ini", "trace.h5"]
    assert "seed = 2\n" in (runs / "0002" / "options.ini").read_text()
    log = (runs / "0001" / "log.txt").read_text()
    assert "--seed 1 --folder" in log and "status 0" in log


def test_the_log_has_what_the_run_printed(gaussians, tmp_path):
    words = [word for word in SIMULATE if word != "--quiet"]
    done = ok(call(*words, "--data", gaussians, "--folder", tmp_path))
    log = (tmp_path / "0001" / "log.txt").read_text()
    lines = [line.partition("  ")[2] for line in log.splitlines()]
    said = done.stdout.splitlines()
    assert said[0].startswith("data ") and any(line.startswith("setting ") for line in said)
    first = lines[1:].index(said[1])  # data are named by their whole path
    assert [line for line in lines[first + 1 :] if line in said] == said[1:]


@pytest.mark.parametrize("name", ["a #1", " a ", '"a"', "a\nb"])
def test_a_run_goes_on_whatever_its_paths_hold(name, gaussians, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    data = shutil.copy(gaussians, folder / "d.h5")
    ok(call(*SIMULATE, "--data", data, "--folder", folder / "runs"))
    run = folder / "runs" / "0001"
    (run / "trace.h5").unlink()
    ok(call("simulate", "--quiet", "--config", run / "options.ini", "--trace", run / "trace.h5"))
    ok(call("simulate", "--quiet", "--folder", run, "--resume"))


def test_the_options_make_the_same_run_again(gaussians, tmp_path):
    words = ["--data", os.path.relpath(gaussians), "--seed", 5, "--delay", "exponential:0.1"]
    ok(call(*SIMULATE, *words, "--folder", tmp_path))
    again = ["simulate", "--quiet", "--config", tmp_path / "0001" / "options.ini"]
    ok(call(*again, "--folder", tmp_path))
    assert (final(tmp_path / "0001") == final(tmp_path / "0002")).all()
    first, second = ((tmp_path / name / "options.ini").read_text() for name in ("0001", "0002"))
    assert first.split("\n", 1)[1] == second.split("\n", 1)[1]
    ok(call(*again, "--trace", tmp_path / "mine.h5"))


def test_a_run_with_trace_goes_on_in_its_folder(gaussians, tmp_path):
    runs = tmp_path / "runs"
    words = ["run", "--data", gaussians, "--step", 0.1, "--rounds", 400, "--seed", 3]
    words += ["--delay", "exponential:0.01", "--checkpoint-every", "5r"]
    job = start(*words, "--folder", runs, ranks=4)
    wait_until(lambda: rounds_in(runs / "0001" / "trace.h5") > 10)
    os.kill(job.rank(0), signal.SIGTERM)
    done = job.wait()
    assert done.returncode == 75
    assert f"--folder {runs}/0001 --resume goes on" in done.stderr
    assert files(runs / "0001")[:1] == ["checkpoint.h5"]
    done = ok(call("run", "--folder", runs / "0001", "--resume", ranks=4))
    assert "going on after round" in done.stderr and files(runs) == ["0001"]
    assert rounds_in(runs / "0001" / "trace.h5") == 400
    log = (runs / "0001" / "log.txt").read_text()
    assert "status 75" in log and "going on after round" in log and "status 0" in log
    done = ok(call("run", "--folder", runs / "0001", "--resume", ranks=4))
    assert "the run is complete" in done.stdout


def test_runs_that_begin_at_once_get_folders_of_their_own(tmp_path):
    jobs = [start(*DRY, "--seed", seed, "--folder", tmp_path / "runs") for seed in range(8)]
    for job in jobs:
        ok(job.wait())
    found = sorted((tmp_path / "runs").iterdir())
    assert [path.name for path in found] == [f"{i:04}" for i in range(1, 9)]
    seeds = []
    for path in found:
        with h5py.File(path / "trace.h5") as trace:
            seeds.append(int(attributes_of(trace)["seed"]))
            assert f"seed = {seeds[-1]}\n" in (path / "options.ini").read_text()
    assert sorted(seeds) == list(range(8))


def test_commands_take_the_folder_for_the_trace(gaussians, tmp_path):
    ok(call(*SIMULATE, "--data", gaussians, "--folder", tmp_path))
    folder = tmp_path / "0001"
    assert json.loads(ok(call("inspect", folder, "--json")).stdout)["rounds"] == 6
    ok(call("predict", folder, "--output", tmp_path / "scores.csv"))
    assert numpy.loadtxt(tmp_path / "scores.csv", delimiter=",", skiprows=1).size > 0


@pytest.mark.parametrize(
    "words, message",
    [
        (["--trace", "x.h5"], "--trace is x.h5, but --folder says where files are"),
        (["--checkpoint", "x"], "--checkpoint is x, but --folder says where files are"),
        (["--overwrite"], "--folder makes a new folder"),
        (["--resume"], "runs, which holds no options.ini of a run"),
        (["--rounds", 0], "--rounds is 0"),
        (["--checkpoint-every", "x"], "--checkpoint-every is x"),
        (["--stop-before", "x"], "--stop-before is x"),
    ],
)
def test_a_run_that_is_refused_leaves_no_folder(gaussians, tmp_path, words, message):
    runs = tmp_path / "runs"
    words = ["--data", gaussians, "--workers", 4, *words, "--folder", runs]
    done = call("simulate", "--quiet", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in our_lines(done.stderr)[0]
    assert files(tmp_path) == []


def test_the_folder_of_a_run_holds_no_others(tmp_path):
    ok(call(*DRY, "--folder", tmp_path))
    before = files(tmp_path / "0001")
    done = call(*DRY, "--folder", tmp_path / "0001")
    assert done.returncode == 2 and "the folder of a run: add --resume" in done.stderr
    assert files(tmp_path / "0001") == before
    (tmp_path / "file").write_text("")
    done = call(*DRY, "--folder", tmp_path / "file")
    assert done.returncode == 2 and "--folder is" in done.stderr


@pytest.mark.parametrize("option", ["init", "row-time", "delay", "events"])
def test_a_run_finds_the_files_of_its_options_from_any_folder(
    option, gaussians, tmp_path, monkeypatch
):
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    ok(call(*SIMULATE, "--data", gaussians, "--trace", "t.h5"))
    (work / "e.txt").write_text("2r leave 1\n4r join 1\n")
    value = {"delay": "trace:t.h5", "events": "e.txt"}.get(option, "t.h5")
    ok(call(*SIMULATE, "--data", gaussians, f"--{option}", value, "--folder", "runs"))
    name = value.removeprefix("trace:")
    assert f"{work}/{name}\n" in (work / "runs" / "0001" / "options.ini").read_text()
    (work / "runs" / "0001" / "trace.h5").unlink()
    monkeypatch.chdir(tmp_path)
    ok(call("simulate", "--quiet", "--folder", "work/runs/0001", "--resume"))


def stopped(job, folder):
    """Stops a run after a few rounds more than its folder holds."""
    before = rounds_in(folder / "trace.h5")
    wait_until(lambda: rounds_in(folder / "trace.h5") > before + 10)
    os.kill(job.process.pid, signal.SIGTERM)
    done = job.wait()
    assert done.returncode == 75, done.stderr
    return done


def test_a_run_says_how_it_goes_on_from_any_folder(gaussians, tmp_path, monkeypatch):
    (tmp_path / "my runs").mkdir()
    monkeypatch.chdir(tmp_path)
    words = ["--data", gaussians, "--workers", 3, "--step", 0.1, "--rounds", 100000]
    job = start("run", *words, "--folder", "my runs")
    done = stopped(job, tmp_path / "my runs" / "0001")
    assert f"--folder '{tmp_path}/my runs/0001' --resume goes on" in done.stderr


def test_a_run_does_not_go_on_with_other_events(gaussians, tmp_path):
    events = tmp_path / "e.txt"
    events.write_text("2r leave 1\n4r join 1\n")
    words = ["--data", gaussians, "--workers", 3, "--step", 0.1, "--rounds", 1000000, "--quiet"]
    stopped(start("run", *words, "--events", events, "--folder", tmp_path), tmp_path / "0001")
    resume = ["run", "--folder", tmp_path / "0001", "--resume", "--quiet"]
    events.write_text("2r leave 2\n4r join 2\n")
    done = call(*resume)
    assert done.returncode == 2 and "holds other events than when the run began" in done.stderr
    events.write_text("2r leave 1\n4r join 1\n")
    stopped(start(*resume), tmp_path / "0001")


def test_a_replay_takes_the_folder_for_the_trace(gaussians, tmp_path):
    ok(call(*SIMULATE, "--data", gaussians, "--folder", tmp_path))
    folder, again = tmp_path / "0001", tmp_path / "again.h5"
    ok(call("simulate", "--quiet", "--replay", folder, "--trace", again))
    with h5py.File(again) as trace:
        assert (trace["model/final"][:] == final(folder)).all()
    done = call("simulate", "--quiet", "--replay", folder, "--trace", folder / "trace.h5")
    assert done.returncode == 2 and "is the trace that is replayed" in done.stderr


def test_a_run_whose_workers_cache_gradients_goes_on_from_its_folder(tmp_path):
    """Its checkpoint has the points at which these were taken."""
    data, folder, again = tmp_path / "data.h5", tmp_path / "0001", tmp_path / "again.h5"
    size = ["--rows", 400, "--columns", 20000, "--nnz-per-row", 30, "--seed", 5]
    assert call("generate", *size, "--output", data).returncode == 0
    words = ["--data", data, "--workers", 6, "--scheme", "dsag", "--cache", "worker"]
    words += ["--subpartitions", 3, "--collect", 3, "--batch", 100, "--step", 0.1]
    words += ["--rounds", 150, "--delay", "exponential:0.02", "--quiet"]
    stopped(start("run", *words, "--folder", tmp_path), folder)
    done = call("run", "--folder", folder, "--resume", "--quiet")
    assert done.returncode == 0, done.stderr
    trace = folder / "trace.h5"
    done = call("simulate", "--replay", trace, "--trace", again, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(trace, "r") as one, h5py.File(again, "r") as other:
        assert numpy.array_equal(one["iterate/model"][:], other["iterate/model"][:])
