# SPDX-License-Identifier: BSD-2-Clause
"""watch: a run that goes on elsewhere, in one line."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from program import LAUNCHER, QUORATE, REPOSITORY
from traces import edited

from quorate.analysis import watch
from quorate.analysis.traces import BadInput, read_trace


def running(file):
    file.attrs["status"] = "running"
    file.attrs["rounds"] = 60


def test_the_line_has_round_loss_time_left_and_answers(simulated, tmp_path):
    trace = read_trace(edited(simulated["frc-1"], tmp_path, running))
    line = watch.line(trace, 0, pace=0.5)
    assert line.startswith("round 30/60  loss ") and "  15.0 s left  used " in line
    assert "/4" in line and "nothing new" not in line
    assert "left" not in watch.line(trace, 0)  # a simulated clock tells nothing of ours
    assert watch.line(trace, 100).endswith("nothing new for 1 min 40 s")


def test_the_time_left_of_a_real_run_is_that_of_its_last_rounds(runs, tmp_path):
    trace = read_trace(edited(runs["bare"], tmp_path, running))
    left = (60 - 6) * trace.durations.mean()
    assert f"{watch.duration(left)} left" in watch.line(trace, 0)


def test_who_is_slow_is_named(runs, tmp_path):
    def late(file):
        who = file["arrival/worker"][:] == 2
        file["arrival/sent"][:] = 0.0
        file["arrival/arrived"][:] = 1.0 + 4.0 * who

    trace = read_trace(edited(runs["uncoded"], tmp_path, late))
    assert watch.slow(trace) == [2]
    assert watch.line(trace, 0).endswith("  slow 2")

    def absent(file):
        late(file)
        file["arrival/worker"][:] = [max(1, w) for w in file["arrival/worker"][:]]

    assert watch.slow(read_trace(edited(runs["uncoded"], tmp_path, absent)))[0] == 0


def test_who_comes_and_goes_is_told_once(simulated, analyse):
    status, out, _ = analyse("watch", simulated["members"])
    assert status == 0
    *above, last = out.splitlines()
    assert above[0].startswith("worker 1 has left in round 5")
    assert any(line.startswith("worker 1 has joined in round ") for line in above)
    assert last.startswith("round 20/20") and last.endswith("completed")


def test_a_run_is_watched_while_it_writes_its_trace(runs, tmp_path):
    path = tmp_path / "live.h5"
    command = [*LAUNCHER, "-n", "5", QUORATE, "run"]
    command += ["--quiet", "--data", runs["data"], "--trace", path, "--step", "0.3"]
    command += ["--rounds", "100000", "--delay", "constant:0.02"]
    look = [sys.executable, REPOSITORY / "analysis" / "quorate-analysis", "watch", path]
    with subprocess.Popen([str(word) for word in command]) as job:
        limit = time.monotonic() + 60
        while not path.exists() or not read_trace_or_none(path):
            assert time.monotonic() < limit and job.poll() is None
            time.sleep(0.05)
        with subprocess.Popen(
            [*look, "--every", ".1"], stdout=subprocess.PIPE, text=True
        ) as watching:
            first = next(line for line in watching.stdout if "left" in line)
            job.send_signal(signal.SIGTERM)
            last = watching.stdout.read().splitlines()[-1]
    assert "/100000" in first
    assert "/100000" in last and last.endswith("interrupted")
    assert watching.returncode == 0


def read_trace_or_none(path):
    try:
        return read_trace(path)
    except BadInput:
        return None


def manifest(folder, *names):
    rows = "".join(f"{i}\t{name}\n" for i, name in enumerate(names, 1))
    (folder / "manifest.tsv").write_text("# made by\nrun\ttrace\n" + rows)
    return folder / "manifest.tsv"


def test_a_manifest_is_watched_until_all_runs_are_complete(simulated, tmp_path, analyse):
    path = manifest(tmp_path, "a.h5", "b.h5")
    status, out, _ = analyse("watch", path, "--once")
    assert (status, out) == (0, "0 of 2 runs are complete, and none goes on\n")
    shutil.copy(simulated["frc-1"], tmp_path / "a.h5")
    edited(simulated["frc-2"], tmp_path, running, "b")
    status, out, _ = analyse("watch", tmp_path, "--once")
    assert status == 0 and out.startswith("b.h5:\nround 30/60")

    def finish():
        whole = tmp_path / "whole.h5"
        shutil.copy(simulated["frc-2"], whole)
        os.replace(whole, tmp_path / "b.h5")

    timer = threading.Timer(0.3, finish)
    timer.start()
    status, out, _ = analyse("watch", path, "--every", "0.05")
    timer.join()
    assert status == 0
    assert out.splitlines()[-1] == "2 of 2 runs are complete, and none goes on"


def test_of_a_folder_of_runs_the_newest_is_watched(simulated, tmp_path, analyse):
    for number, name in enumerate(["frc-1", "uncoded-1", "amb"], 1):
        folder = tmp_path / f"{number:04}"
        folder.mkdir()
        shutil.copy(simulated[name], folder / "trace.h5")
        os.utime(folder / "trace.h5", (number, number))
    for word in (tmp_path, tmp_path / "0003", tmp_path / "0003" / "trace.h5"):
        status, out, _ = analyse("watch", word)
        assert status == 0 and out.startswith("round 40/40")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda path: None, "is not a file"),
        (lambda path: path.mkdir(), "holds neither runs nor a manifest.tsv"),
        (lambda path: path.write_text("what is this"), "neither a trace nor a manifest"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "cannot be read"),
    ],
)
def test_what_cannot_be_watched_is_refused_in_one_line(tmp_path, analyse, make, message):
    make(Path(tmp_path / "x"))
    status, out, err = analyse("watch", tmp_path / "x")
    assert (status, out) == (2, "") and message in err and err.count("\n") == 1
