# SPDX-License-Identifier: BSD-2-Clause
"""Job scripts under a real SLURM on this machine (slurm/local-cluster), from data to report."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import numpy
import pytest

from cluster import DATA, LIMIT, OPEN_MPI_LAUNCHER, RESILIENT, RUN, Cluster
from cluster import dead_workers, experiment, free_ports, left, logs, model_of
from pages import blocks, run, shell
from program import OPEN_MPI, PACKAGE, QUORATE, REPOSITORY, call, environment, rounds_in, wait_until

SLURM_PROFILES = sorted(
    path.stem
    for path in (REPOSITORY / "slurm").glob("*.ini")
    if re.search("^scheduler = slurm$", path.read_text(), re.M)
)


@pytest.fixture(scope="module")
def cluster(programs, tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        # A job that gives way does so at once.
        cluster.call("scontrol", "update", "PartitionName=main", "GraceTime=0")
        yield cluster


@pytest.mark.whole
@pytest.mark.skipif(OPEN_MPI, reason="Debian's Open MPI does not start by srun")
def test_a_program_of_pytorch_is_a_job(cluster, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "text.txt").write_text("to be or not to be, " * 200)
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    variables = {"PYTHONPATH": PACKAGE, "PYTHON": os.environ["PYTHON"]}
    exported = ",".join(f"{name}={value}" for name, value in variables.items())
    words = ["--wait", "--ntasks=3", f"--export=ALL,{exported}"]
    small = "--text text.txt --layers 1 --width 16 --batch 8 --rounds 10".split()
    done = cluster.try_call(
        "sbatch", *words, "--output=job.log", "examples/characters.sbatch", *small, cwd=tmp_path
    )
    log = (tmp_path / "job.log").read_text()
    assert done.returncode == 0, done.stderr + log
    assert "test_loss" in log and (tmp_path / "characters.pt").is_file()


@pytest.mark.whole
def test_an_experiment_goes_from_data_to_report(cluster, profile, tmp_path):
    text = RUN.replace("seed = 1", "seed = 1..2") + "rounds = 10\nscheme = uncoded, frc, agc\n"
    text += "[scheme frc]\nstragglers = 1\n[scheme agc]\nstragglers = 1\ncollect = 2\n" + DATA
    words = [*experiment(tmp_path, text), "--cluster", profile]
    jobs = cluster.submit(*words)
    assert len(jobs) == 3
    again = cluster.try_call(QUORATE, "submit", *words)
    assert (again.returncode, again.stdout) == (0, "")
    assert "6 runs are queued or running already: nothing is submitted" in again.stderr
    cluster.wait_for_end()
    for job in jobs:
        assert cluster.states(job) == {("COMPLETED", "0:0")}, logs(tmp_path)
    assert left(tmp_path) == ""
    assert len(list((tmp_path / "out").glob("?-*.h5"))) == 6
    assert list((tmp_path / "out").glob("report/index.html"))
    assert (
        cluster.call(QUORATE, "submit", *words) == "all 6 runs are complete: nothing is submitted\n"
    )


def test_status_tells_of_jobs_under_way_and_cancel_ends_them(cluster, profile, tmp_path):
    text = RUN.replace("seed = 1", "seed = 1..2") + "rounds = 2000\ndelay = constant:0.2\n" + DATA
    jobs = cluster.submit(*experiment(tmp_path, text), "--cluster", profile)
    out = tmp_path / "out"
    traces = [out / f"{seed}-seed{seed}.h5" for seed in (1, 2)]
    wait_until(lambda: all(rounds_in(trace) > 0 for trace in traces), timeout=LIMIT)

    def status():
        told = json.loads(cluster.call(QUORATE, "status", out, "--json"))
        assert told["queue_error"] is None
        return told["runs"]

    assert [run["state"] for run in status()] == ["running", "running"]
    assert all(run["seconds_left"] > 0 and run["core_hours_left"] > 0 for run in status())
    said = cluster.call(QUORATE, "cancel", out).splitlines()
    assert said == [f"cancelled {jobs[1]} (run.sh, runs 1-2)", f"cancelled {jobs[2]} (analyse.sh)"]
    cluster.wait_for_end()
    # They were told to stop in time, and can go on.
    assert [run["state"] for run in status()] == ["left", "left"], logs(tmp_path)
    assert not (out / "report").exists()
    assert cluster.call(QUORATE, "cancel", out).startswith("nothing to cancel")


def test_what_fails_stops_what_needs_it_and_is_submitted_again(cluster, profile, tmp_path):
    # There is no such file, so the data set is not made, and no run begins.
    text = RUN + "rounds = 5\n[prepare]\ncommand = import\ninput = {here}/x.svm\n"
    words = [*experiment(tmp_path, text), "--cluster", profile]
    prepare, run, analyse = cluster.submit(*words)
    cluster.wait_for_end()
    assert {state for state, status in cluster.states(prepare)} == {"FAILED"}
    assert {state for state, status in cluster.states(run)} == {"CANCELLED"}
    assert left(tmp_path) == "1\n"
    (tmp_path / "x.svm").write_text("1 1:1 2:2\n-1 1:2\n" * 10)
    prepare, run, analyse = cluster.submit(*words)
    cluster.wait_for_end()
    assert cluster.states(run) == {("COMPLETED", "0:0")}, logs(tmp_path)
    assert left(tmp_path) == ""


@pytest.mark.whole
def test_a_run_that_its_time_does_not_suffice_for_goes_on_in_the_next_link(
    cluster, profile, tmp_path, unbroken
):
    # SLURM's least time is a minute; the first link stops 10 s after its begin.
    text = RUN + "rounds = 70\ndelay = constant:0.2\n" + DATA
    words = ["--cluster", profile, "--links", "3", "--time", "1min", "--stop-before", "50s"]
    jobs = cluster.submit(*experiment(tmp_path, text), *words)
    assert len(jobs) == 5
    trace = tmp_path / "out" / "1.h5"
    first = jobs[1]
    wait_until(lambda: cluster.jobs(first)[0]["JobState"] == "COMPLETED", timeout=LIMIT, every=1)
    assert call("todo", "--manifest", trace.parent / "manifest.tsv", "--row", 1).returncode == 75
    assert cluster.states(first) == {("COMPLETED", "0:0")}
    assert 0 < rounds_in(trace) < 70
    cluster.wait_for_end()
    for job in jobs:
        assert cluster.states(job) == {("COMPLETED", "0:0")}, logs(tmp_path)
    assert left(tmp_path) == "" and rounds_in(trace) == 70
    assert numpy.array_equal(model_of(trace), unbroken(70))


@pytest.mark.whole
def test_a_run_that_gives_way_to_another_job_goes_on_afterwards(
    cluster, profile, tmp_path, unbroken
):
    text = RUN + "rounds = 60\ndelay = constant:0.2\ncheckpoint-every = 1s\n" + DATA
    jobs = cluster.submit(*experiment(tmp_path, text), "--cluster", profile)
    trace = tmp_path / "out" / "1.h5"
    checkpoint = trace.with_suffix(".ckpt")
    wait_until(lambda: checkpoint.exists() and "\nround " in logs(tmp_path), timeout=LIMIT)
    sooner = ["--partition=high", "--exclusive", "--nodes=4", "--time=1", "--wrap", "true"]
    cluster.call("sbatch", *sooner, "--output=/dev/null")
    cluster.wait_for_end()
    (run,) = cluster.jobs(jobs[1])
    assert (run["JobState"], run["ExitCode"], run["Restarts"]) == ("COMPLETED", "0:0", "1")
    assert left(tmp_path) == "" and rounds_in(trace) == 60
    assert numpy.array_equal(model_of(trace), unbroken(60))


def ranks_of_job(job, variable):
    """Processes of the program in a job that have this in their environment; of resilient ranks
    under a supervisor, both."""
    wanted, found = {f"SLURM_JOB_ID={job}", variable}, []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                have = set((folder / "environ").read_bytes().decode(errors="replace").split("\0"))
                program = os.readlink(folder / "exe")
            except OSError:
                continue
            if program == os.path.realpath(QUORATE) and wanted <= have:
                found.append(int(folder.name))
    return sorted(found)


def test_a_resilient_run_survives_the_death_of_a_worker(cluster, profile, tmp_path):
    jobs = cluster.submit(*experiment(tmp_path, RESILIENT), "--cluster", profile)
    trace = tmp_path / "out" / "1.h5"
    wait_until(lambda: "\nround " in logs(tmp_path), timeout=LIMIT)
    (run,) = cluster.jobs(jobs[1])
    variable = "OMPI_COMM_WORLD_RANK=3" if OPEN_MPI else "SLURM_PROCID=3"
    os.kill(ranks_of_job(run["JobId"], variable)[-1], signal.SIGKILL)
    cluster.wait_for_end()
    assert cluster.states(jobs[1]) == {("COMPLETED", "0:0")}, logs(tmp_path)
    assert left(tmp_path) == "" and rounds_in(trace) == 40
    assert dead_workers(trace) == [2]


@pytest.mark.skipif(OPEN_MPI, reason="Open MPI 4.1 ends a run of which it loses a node")
@pytest.mark.whole
def test_a_resilient_run_survives_the_loss_of_a_node(cluster, profile, tmp_path):
    text = RESILIENT.replace("workers = 4", "workers = 7")
    words = ["--cluster", profile, "--nodes", "4"]
    jobs = cluster.submit(*experiment(tmp_path, text), *words)
    trace = tmp_path / "out" / "1.h5"
    wait_until(lambda: "\nround " in logs(tmp_path), timeout=LIMIT)
    (run,) = cluster.jobs(jobs[1])
    assert run["NodeList"] == "n[1-4]" and run["BatchHost"] == "n1"
    try:
        cluster.call("scontrol", "update", "NodeName=n4", "State=DOWN", "Reason=test")
        # All nodes are this machine, so that nothing dies by itself.
        for pid in ranks_of_job(run["JobId"], "SLURMD_NODENAME=n4"):
            with contextlib.suppress(ProcessLookupError):  # a supervisor's death is its rank's
                os.kill(pid, signal.SIGKILL)
        cluster.wait_for_end()
    finally:
        # Maybe it has come back by itself.
        cluster.try_call("scontrol", "update", "NodeName=n4", "State=RESUME")
    assert cluster.states(jobs[1]) == {("COMPLETED", "0:0")}, logs(tmp_path)
    assert left(tmp_path) == "" and rounds_in(trace) == 40
    assert len(dead_workers(trace)) == 2


@pytest.mark.whole
def test_scripts_for_pbs_run_through_qsub(cluster, tmp_path):
    if not shutil.which("qsub"):
        pytest.skip("there is no qsub: env/deps cluster installs slurm-wlm-torque")
    text = (REPOSITORY / "slurm" / "generic-pbs.ini").read_text()
    profile = tmp_path / "pbs.ini"
    launcher = OPEN_MPI_LAUNCHER if OPEN_MPI else "srun --mpi=pmi2"
    profile.write_text(text + f"\nlauncher = {launcher}\n")
    text = RUN.replace("seed = 1", "seed = 1..3") + "rounds = 10\n" + DATA
    words = [*experiment(tmp_path, text), "--cluster", profile]
    jobs = cluster.submit(*words)
    cluster.wait_for_end()
    for job in jobs:
        assert cluster.states(job) == {("COMPLETED", "0:0")}, logs(tmp_path)
    assert [one["NumTasks"] for one in cluster.jobs(jobs[1])] == ["5"] * 3
    assert left(tmp_path) == "" and list((tmp_path / "out").glob("report/index.html"))
    # One that is left is no array.
    (tmp_path / "out" / "2-seed2.h5").unlink()
    (tmp_path / "out" / "2-seed2.ckpt").unlink(missing_ok=True)
    assert left(tmp_path) == "2\n"
    jobs = cluster.submit(*words)
    cluster.wait_for_end()
    assert cluster.states(jobs[1]) == {("COMPLETED", "0:0")}, logs(tmp_path)
    assert left(tmp_path) == ""


@pytest.mark.parametrize("profile", SLURM_PROFILES)
def test_slurm_with_the_nodes_and_limits_of_a_profile_takes_its_scripts(
    programs, profile, tmp_path
):
    out = tmp_path / "out"
    text = RUN.replace("workers = 4", "workers = 15").replace("seed = 1", "seed = 1..3")
    words = [*experiment(tmp_path, text + "rounds = 5\nresilient = on\n" + DATA), "--cluster"]
    words += [profile, "--account", "def-x", "--mail", "me@example.org", "--time", "3h"]
    if profile == "niagara":
        words.append("--retired")
    if profile == "trillium-gpu":
        words += ["--gpus-per-task", "1"]
    env = {"SCRATCH": str(tmp_path), "HOME": "/nowhere", "SBATCH_ACCOUNT": ""}
    done = call("script", *words, env=env)
    assert done.returncode == 0, done.stderr
    with Cluster(tmp_path / "c", "--like", profile) as cluster:
        for part in ("prepare", "run", "analyse"):
            cluster.call("sbatch", "--test-only", f"{part}.sh", cwd=out)
        # It does refuse what breaks the profile's limits.
        limits = (REPOSITORY / "slurm" / f"{profile}.ini").read_text()
        for key, words in [
            ("time-most", ["--time=8-0"]),
            ("nodes-most", ["--nodes=21"]),
            ("cores", ["--nodes=1", "--ntasks=1", "--cpus-per-task=193"]),
            ("memory", ["--mem=800G"]),
            ("gpus", ["--gpus-per-node=5"]),
            ("array-most", ["--array=1-1001"]),
        ]:
            done = cluster.try_call("sbatch", "--test-only", *words, "run.sh", cwd=out)
            assert not re.search(f"^{key} =", limits, re.M) or done.returncode != 0, key


@pytest.mark.skipif(OPEN_MPI, reason="Debian's Open MPI does not start by srun")
@pytest.mark.parametrize(
    "request_, seen",
    [
        ("per-task", ["n1 0", "n1 1", "n1 2", "n1 3", "n2 0"]),
        ("per-node", ["n1 0,1"] * 3 + ["n2 0,1"] * 2),
    ],
)
def test_the_ranks_of_a_job_see_the_gpus_that_it_asks_for(programs, request_, seen, tmp_path):
    """Five ranks, of which the first is the coordinator."""
    told = tmp_path / "told"
    line = f'echo "$SLURMD_NODENAME $CUDA_VISIBLE_DEVICES" >> {tmp_path}/seen'
    told.write_text(f'#!/bin/bash\n{line}\nexec "$@"\n')
    told.chmod(0o755)
    profile = tmp_path / "gpus.ini"
    profile.write_text(
        f"scheduler = slurm\ncores = 8\ngpus = {4 if request_ == 'per-task' else 2}\n"
        f"gpu-request = {request_}\nlauncher = srun --mpi=pmi2 {told}\n"
    )
    words = [*experiment(tmp_path, RUN + "rounds = 3\n" + DATA), "--cluster", profile]
    with Cluster(tmp_path / "c", "--like", profile) as cluster:
        cluster.call(QUORATE, "script", *words, "--gpus-per-task", "1")
        subprocess.run([tmp_path / "out" / "prepare.sh"], check=True, timeout=LIMIT)
        done = cluster.try_call("sbatch", "--wait", "run.sh", cwd=tmp_path / "out")
        assert done.returncode == 0, logs(tmp_path)
    assert sorted((tmp_path / "seen").read_text().splitlines()) == seen


def test_a_day_with_quorate(programs, profile, tmp_path):
    """Every command of docs/day.md, in its order and in one shell, ends as the page says."""
    commands = [one for block in blocks(REPOSITORY / "docs/day.md") for one in block.commands()]
    assert len(commands) > 25
    manage, cluster = '"$sources/slurm/local-cluster"', tmp_path / "cluster"
    script = [f"cd {REPOSITORY}"]
    with free_ports() as port:
        for command in commands:
            line, _, status = command.partition("    # ")
            line = line.rstrip().replace("--cluster local", f"--cluster {profile}")
            line = line.replace("~/day", f"{tmp_path}/day")  # HOME has what the build uses
            # A cluster of its own, beside others.
            line = re.sub(f"({manage} \\w+)", rf"\1 --folder {cluster}", line)
            line = line.replace(
                f"up --folder {cluster}", f"up --folder {cluster} --port-base {port}"
            )
            end = f"status=$?; [ $status = {int(status or 0)} ] || {{ echo failed; exit 1; }}"
            script += [f"cat <<'SHOWN'\n$ {line}\nSHOWN", line, end]
        env = shell(tmp_path, environment())
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # of a make that runs the tests
            env.pop(name, None)
        try:
            done = run("\n".join(script), tmp_path, env, LIMIT)
        finally:
            down = [REPOSITORY / "slurm/local-cluster", "down", "--folder", cluster]
            subprocess.run(down, capture_output=True)
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout[-4000:]}{done.stderr[-4000:]}"
    folder = tmp_path / "day"
    assert re.search(r"6 runs: 6 completed", done.stdout)
    assert (folder / "jobs/report/index.html").exists()
    scores = [row.split(",") for row in (folder / "scores.csv").read_text().splitlines()]
    assert [sum(map(float, row[-2:])) for row in scores[1:]] == [pytest.approx(1)] * 2
    assert {row[3] for row in scores[1:]} <= {"yes", "no"}
