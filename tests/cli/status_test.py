# SPDX-License-Identifier: BSD-2-Clause
"""status and cancel: what has become of the runs of a manifest, with stand-ins for schedulers."""

import json
import os
import signal
import time

import h5py
import numpy
import pytest

from program import call, our_lines, rounds_in, start, wait_until

OLD = time.time() - 7200
# run, trace, options; five workers are six ranks.
HEADER = "run\ttrace\tscheme\tseed\tworkers\trounds\tthreads\n"
QUIET = {"squeue": "exit 0", "sacct": "exit 1"}
BEGUN = "quorate: there is no 1.ckpt yet: the run begins\n"
HYDRA = f"""
{83 * "="}
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 4242 RUNNING AT host
=   EXIT CODE: %s
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
{83 * "="}
"""
KILLED = (
    HYDRA % 9
    + """YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)
This typically refers to a problem with your application.
Please see the FAQ page for debugging suggestions
"""
)


def manifest(folder, count=5):
    folder.mkdir(exist_ok=True)
    rows = [f"{i}\t{i}-agc-seed{i}.h5\tagc\t{i}\t5\t100\t2\n" for i in range(1, count + 1)]
    (folder / "manifest.tsv").write_text(HEADER + "".join(rows))
    return folder / "manifest.tsv"


def trace(path, status, rounds, *, job="", scored=None, age=OLD, seconds=0.5):
    """A trace as a run leaves it, or as it stands while the run goes on."""
    with h5py.File(path, "w") as file:
        attributes = {"format": "quorate trace", "status": status, "clock": "wall", "data": "d"}
        file.attrs.update({**attributes, "scheduler_job_id": job, "rounds": 100})
        file["round/time"] = seconds * numpy.arange(1.0, rounds + 1)
        file["round/loss_estimate"] = 1 / numpy.arange(1.0, rounds + 1)
        file["evaluation/round"] = numpy.array([] if scored is None else [5, 2], dtype=int)
        file["evaluation/train_loss"] = [] if scored is None else [scored, 9.0]
    if age:
        os.utime(path, (age, age))


def jobs(folder, *lines):
    (folder / "jobs.tsv").write_text("job\tscript\truns\tscheduler\n" + "".join(lines))


def programs(folder, stands):
    """An environment in which these programs stand for those of a scheduler."""
    (folder / "bin").mkdir(exist_ok=True)
    for name, text in stands.items():
        path = folder / "bin" / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >> "$(dirname "$0")/calls"\n{text}\n')
        path.chmod(0o755)
    return {"PATH": f"{folder}/bin:/usr/bin:/bin"}


def calls(folder):
    path = folder / "bin" / "calls"
    return path.read_text().splitlines() if path.exists() else []


def told(path, *words, env=None):
    done = call("status", path, "--json", *words, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def states(report):
    return [one["state"] for one in report["runs"]]


def text(path, *words, env=None):
    done = call("status", path, *words, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_traces_tell_stages_losses_times_and_core_hours(tmp_path):
    path = manifest(tmp_path)
    trace(tmp_path / "1-agc-seed1.h5", "completed", 100, scored=0.25)
    trace(tmp_path / "2-agc-seed2.h5", "interrupted", 40)
    trace(tmp_path / "3-agc-seed3.h5", "running", 20, age=None)
    trace(tmp_path / "4-agc-seed4.h5", "running", 10)
    before = sorted(tmp_path.iterdir())
    report = told(path)
    assert sorted(tmp_path.iterdir()) == before
    assert states(report) == ["completed", "left", "running", "failed", "left"]
    runs = report["runs"]
    assert [one["rounds"] for one in runs] == [100, 40, 20, 10, 0]
    assert {one["rounds_wanted"] for one in runs} == {100}
    assert [one["loss"] for one in runs] == pytest.approx([0.25, 1 / 40, 1 / 20, 1 / 10, None])
    assert [one["seconds_left"] for one in runs] == pytest.approx([None, 30, 40, 45, 50])
    # 6 ranks of 2 threads, a second each two rounds.
    spent = [12 * 0.5 * rounds / 3600 for rounds in (100, 40, 20, 10)]
    assert [one["core_hours"] for one in runs] == pytest.approx([*spent, None])
    assert report["total"]["core_hours"] == pytest.approx(sum(spent))
    assert report["total"]["core_hours_left"] == pytest.approx(12 * (30 + 40 + 45 + 50) / 3600)
    assert report["total"]["runs"] == dict(completed=1, running=1, queued=0, failed=1, left=2)
    assert "its trace has not changed for 2" in runs[3]["reason"]


def test_it_fits_a_terminal_and_takes_the_folder_too(tmp_path):
    path = manifest(tmp_path)
    trace(tmp_path / "1-agc-seed1.h5", "completed", 100, scored=0.25)
    trace(tmp_path / "4-agc-seed4.h5", "failed", 10)
    said = text(path)
    assert said == text(tmp_path)
    lines = said.splitlines()
    assert lines[0].split() == "run state rounds loss left core-h needed name".split()
    assert lines[1].split() == "1 completed 100/100 0.25 - 0.167 - agc-seed1".split()
    assert lines[-2] == "5 runs: 1 completed, 1 failed, 3 left"
    assert lines[-1].startswith("core-hours: 0.183 spent, 0.65 still needed; longest run: 50 s")
    assert "  4  its trace says failed, and there is no log" in lines
    assert max(map(len, lines)) <= 80


def test_many_runs_are_told_in_few_lines(tmp_path):
    path = manifest(tmp_path, 1000)
    for i in (1, 2, 3, 7):
        trace(tmp_path / f"{i}-agc-seed{i}.h5", "completed", 100)
    trace(tmp_path / "9-agc-seed9.h5", "running", 10, age=None)
    lines = text(path).splitlines()
    assert len(lines) == 6
    assert "completed  1-3, 7" in lines[2] and "left       4-6, 8, 10-1000" in lines[3]
    assert len(text(path, "--all").splitlines()) == 1003


def test_the_queue_tells_who_waits_runs_and_is_gone(tmp_path):
    path = manifest(tmp_path, 6)
    jobs(tmp_path, "100\tprepare.sh\t\tslurm\n", "101\trun.sh\t1-5\tslurm\n")
    jobs_of_others = "printf '77 6 RUNNING None\\n101 1 RUNNING None\\n101 2 PENDING Dependency\\n'"
    env = programs(tmp_path, {**QUIET, "squeue": jobs_of_others})
    trace(tmp_path / "3-agc-seed3.h5", "running", 10, job="4711", age=None)
    trace(tmp_path / "4-agc-seed4.h5", "running", 10, age=None)  # by hand
    report = told(path, env=env)
    assert states(report) == ["running", "queued", "failed", "running", "left", "left"]
    assert report["runs"][1]["reason"] == "Dependency" and report["queue_error"] is None
    assert "queued for: Dependency" in text(path, env=env)
    env = programs(tmp_path, {**QUIET, "squeue": "echo no socket >&2; exit 1"})
    report = told(path, env=env)
    assert states(report) == ["left", "left", "running", "running", "left", "left"]
    assert report["queue_error"] == "squeue failed with status 1: no socket"
    assert "the queue does not answer" in text(path, env=env)


@pytest.mark.parametrize("state, stage", [("R", "running"), ("Q", "queued"), ("C", "left")])
def test_pbs_is_asked_too(tmp_path, state, stage):
    path = manifest(tmp_path, 2)
    jobs(tmp_path, "5.host\trun.sh\t1\topenpbs\n")
    env = programs(tmp_path, {"qstat": f"echo '$1 run me 0 {state} main'"})
    assert states(told(path, env=env)) == [stage, "left"]


@pytest.mark.parametrize("job", ["--user=root", "-u", "7 8", ""])
def test_what_is_no_number_of_a_job_reaches_no_scheduler(job, tmp_path):
    path = manifest(tmp_path, 1)
    jobs(tmp_path, f"{job}\trun.sh\t1\tslurm\n")
    env = programs(tmp_path, {"squeue": "", "scancel": ""})
    for words in ["status", path], ["cancel", path]:
        done = call(*words, env=env)
        assert done.returncode == 2
        assert "is no job: remove the line" in done.stderr
    assert calls(tmp_path) == []


@pytest.mark.parametrize(
    "log, state, reason",
    [
        ("quorate: cannot write x\nsrun: error: task 0: Exited", "", "quorate: cannot write x"),
        ("round 3/100\n", "TIMEOUT", "TIMEOUT"),
        ("quorate: a note\nslurmstepd: error: oom\n", "OUT_OF_MEMORY", "OUT_OF_MEMORY: slurmstepd"),
        ("bash: module: command not found\n", "", "bash: module: command not found"),
        ("round 1/9\rquorate[rank 2 of 6]: bad news\n", "", "quorate[rank 2 of 6]: bad news"),
        # Before the first checkpoint: what ended it, not what it said as it began.
        (BEGUN + KILLED, "", "launcher: Killed (signal 9)"),
        (BEGUN + HYDRA % 127, "", "launcher: EXIT CODE: 127"),
        (BEGUN + "quorate: cannot read d.h5\n" + HYDRA % 2, "", "quorate: cannot read d.h5"),
        (
            BEGUN + "srun: error: n1: task 3: Killed\nsrun: error: n1: task 4: Terminated\n",
            "",
            "srun: error: n1: task 3: Killed",
        ),
        (BEGUN + "run.sh: line 9: mpiexec: command not found\nabsent\n", "", "run.sh: line 9: mpi"),
        (
            BEGUN + "quorate: memory: 4 GiB a rank, at least\n",
            "",
            "its job failed, and its log says",
        ),
        ("", "FAILED", "its job failed with status 127, and its log says nothing of it"),
    ],
)
def test_a_failure_has_a_reason_and_a_log(tmp_path, log, state, reason):
    path = manifest(tmp_path, 1)
    jobs(tmp_path, "99\trun.sh\t1\tslurm\n", "101\trun.sh\t1\tslurm\n")
    (tmp_path / "x.99_1.log").write_text("quorate: an older one\n")
    (tmp_path / "x.101_1.log").write_text(log)
    (tmp_path / "x.101_11.log").write_text("quorate: of another run\n")
    ended = "99_1|FAILED|3600|1:0\\n101_1|%s|1800|127:0\\n" % state
    account = f"printf '{ended}'" if state else "exit 1"
    env = programs(tmp_path, {**QUIET, "sacct": account})
    (run,) = told(path, env=env)["runs"]
    assert run["state"] == "failed" and run["reason"].startswith(reason)
    assert run["log"] == str(tmp_path / "x.101_1.log")
    assert run["core_hours"] == (1.5 if state else None)
    assert f"({tmp_path}/x.101_1.log)" in text(path, env=env)
    assert len([line for line in text(path, env=env).splitlines() if "x.101" in line]) == 1


@pytest.mark.parametrize(
    "log, reason",
    [
        (BEGUN + "quorate: rounds of 0.5 s\n" + KILLED, "launcher: Killed (signal 9)"),
        (
            BEGUN + "quorate: rounds of 0.5 s\nquorate[rank 2 of 6]: bad news\n" + HYDRA % 1,
            "quorate[rank 2 of 6]: bad news",
        ),
        (
            BEGUN + "quorate: no checkpoint in 1.ckpt: no space; the run goes on\n",
            "killed, or lost: its trace has not changed for 2",
        ),
    ],
)
def test_what_ended_a_run_counts_more_than_what_it_said_on_the_way(tmp_path, log, reason):
    path = manifest(tmp_path, 1)
    jobs(tmp_path, "101\trun.sh\t1\tslurm\n")
    (tmp_path / "x.101_1.log").write_text(log)
    trace(tmp_path / "1-agc-seed1.h5", "running", 10, job="101")
    (run,) = told(path, env=programs(tmp_path, QUIET))["runs"]
    assert run["state"] == "failed" and run["reason"].startswith(reason)


def test_a_run_that_was_killed_before_its_first_checkpoint_says_by_what(gaussians, tmp_path):
    """A real one, with the notes and the launcher that runs have."""
    path, name = manifest(tmp_path, 1), "1-agc-seed1.h5"
    jobs(tmp_path, "101\trun.sh\t1\tslurm\n")
    words = ["--data", gaussians, "--scheme", "uncoded", "--rounds", 10**6, "--step", 0.3]
    words += ["--checkpoint", tmp_path / "1.ckpt", "--resume", "--delay", "exponential:0.01"]
    job = start("run", "--trace", tmp_path / name, *words, ranks=3)
    wait_until(lambda: rounds_in(tmp_path / name) > 0)
    os.kill(job.rank(2), signal.SIGKILL)
    done = job.wait()
    assert "there is no " in done.stderr and not (tmp_path / "1.ckpt").exists()
    (tmp_path / "x.101_1.log").write_text(done.stdout + done.stderr)
    os.utime(tmp_path / name, (OLD, OLD))
    (run,) = told(path, env=programs(tmp_path, QUIET))["runs"]
    assert run["state"] == "failed"
    assert "signal 9" in run["reason"] or "died" in run["reason"], run["reason"]


def test_runs_that_lost_workers_are_marked_whatever_became_of_them(tmp_path):
    path = manifest(tmp_path, 4)
    joined, left, died, reencoded = 1, 2, 3, 4
    changes = [
        [(joined, 1), (joined, 2), (died, 2), (reencoded, 4)],
        [(joined, 1), (joined, 2), (left, 2)],
        [(joined, 3), (died, 3), (joined, 3), (died, 3)],
        [(died, 0), (died, 1), (reencoded, 3)],
    ]
    for i, rows in enumerate(changes, 1):
        name = tmp_path / f"{i}-agc-seed{i}.h5"
        trace(name, "completed", 100)
        with h5py.File(name, "r+") as file:
            file["membership/kind"] = numpy.array([kind for kind, _ in rows])
            file["membership/worker"] = numpy.array([worker for _, worker in rows])
    lines = text(path).splitlines()
    assert "runs that lost 1 worker: 1, 3" in lines and "runs that lost 2 workers: 4" in lines
    assert [run["lost_workers"] for run in told(path)["runs"]] == [1, 0, 1, 2]


@pytest.mark.parametrize("state, stage", [("CANCELLED by 1000", "left"), ("NODE_FAIL", "failed")])
def test_a_run_that_was_cancelled_before_its_trace_is_left(tmp_path, state, stage):
    path = manifest(tmp_path, 1)
    jobs(tmp_path, "101\trun.sh\t1\tslurm\n")
    (tmp_path / "x.101_1.log").write_text("slurmstepd: error: *** JOB 101 CANCELLED ***\n")
    env = programs(tmp_path, {**QUIET, "sacct": f"echo '101_1|{state}|60'"})
    assert states(told(path, env=env)) == [stage]


def test_a_trace_that_cannot_be_read_does_not_hide_the_others(tmp_path):
    path = manifest(tmp_path, 2)
    (tmp_path / "1-agc-seed1.h5").write_text("no HDF5")
    trace(tmp_path / "2-agc-seed2.h5", "completed", 100)
    report = told(path)
    assert states(report) == ["failed", "completed"]
    assert "1-agc-seed1.h5" in report["runs"][0]["reason"]


def test_watch_ends_when_nothing_is_under_way(tmp_path):
    path = manifest(tmp_path, 2)
    assert text(path, "--watch", "--every", "0.1s").count("2 runs: 2 left") == 2
    for i in (1, 2):
        trace(tmp_path / f"{i}-agc-seed{i}.h5", "completed", 100)
    assert text(path, "--watch", "--every", "0.1s").count("2 runs: 2 completed") == 1


def test_simulated_runs_have_no_core_hours(tmp_path):
    path = manifest(tmp_path, 2)
    (tmp_path / "run.sh").write_text("quorate simulate --manifest manifest.tsv --row 1\n")
    trace(tmp_path / "1-agc-seed1.h5", "completed", 100)
    report = told(path)
    assert [one["core_hours"] for one in report["runs"]] == [None, None]
    assert report["total"]["core_hours_left"] is None


def test_cancel_ends_what_is_queued_last_jobs_first(tmp_path):
    path = manifest(tmp_path, 4)
    chain = ["100\tprepare.sh\t\t", "101\trun.sh\t1-4\t", "102\tanalyse.sh\t\t", "90\trun.sh\t1\t"]
    jobs(tmp_path, *[f"{one}slurm\n" for one in chain])
    queued = ["77 6 RUNNING x", "101 2 RUNNING x", "101 3 PENDING x", "102 N/A PENDING x"]
    queue = "".join(f"echo {one};" for one in queued)
    env = programs(tmp_path, {"squeue": queue, "scancel": "exit 0"})
    done = call("cancel", path, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "cancelled 101 (run.sh, runs 2-3)\ncancelled 102 (analyse.sh)\n"
    assert calls(tmp_path)[-1] == "scancel 102 101"


def test_cancel_is_harmless_when_nothing_is_queued(tmp_path):
    path = manifest(tmp_path, 2)
    for record in (False, True):
        if record:
            jobs(tmp_path, "101\trun.sh\t1-2\tslurm\n")
        stand_ins = {"squeue": "exit 0", "scancel": "exit 0"}
        done = call("cancel", path, env=programs(tmp_path, stand_ins))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("nothing to cancel: ")
    assert not any(one.startswith("scancel") for one in calls(tmp_path))


def test_cancel_fails_if_the_scheduler_does_not_answer_or_refuses(tmp_path):
    path = manifest(tmp_path, 2)
    jobs(tmp_path, "5.host\trun.sh\t1\ttorque\n")
    down = programs(tmp_path, {"qstat": "echo qstat: no server >&2; exit 111", "qdel": "exit 0"})
    done = call("cancel", path, env=down)
    assert done.returncode == 1 and "qstat failed with status 111: qstat: no server" in done.stderr
    assert "qdel 5.host" not in calls(tmp_path)
    mine = programs(tmp_path, {"qstat": "echo x a b 0 R main", "qdel": "echo not yours; exit 159"})
    done = call("cancel", path, env=mine)
    assert done.returncode == 1 and "qdel failed with status 159: not yours" in done.stderr
    assert calls(tmp_path)[-1] == "qdel 5.host"


@pytest.mark.parametrize("command", ["status", "cancel"])
def test_bad_input_is_refused(tmp_path, command):
    path = manifest(tmp_path / "a", 2)
    (tmp_path / "b").mkdir()
    jobs(path.parent, "what is this\n")
    for words, message in [
        ([], f"quorate {command} needs MANIFEST"),
        ([tmp_path / "b"], "cannot read " + str(tmp_path / "b" / "manifest.tsv")),
        ([path], "'what is this' is no job"),
    ]:
        done = call(command, *words)
        assert done.returncode == 2, done.stdout
        lines = our_lines(done.stderr)
        assert len(lines) == 1 and message in lines[0]


@pytest.mark.parametrize(
    "words, message",
    [
        (["--every", "never"], "--every is never"),
        (["--every", "0"], "--every is 0"),
        (["--json", "--watch"], "leave out one of the two"),
    ],
)
def test_bad_options_of_status_are_refused(tmp_path, words, message):
    done = call("status", manifest(tmp_path), *words)
    assert done.returncode == 2 and message in done.stderr
