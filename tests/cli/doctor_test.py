# SPDX-License-Identifier: BSD-2-Clause
"""quorate doctor, alone: files that cannot be used, foreign launchers, limits, what hangs."""

import json
import os
import resource
import socket
import subprocess

import pytest

from program import OPEN_MPI, QUORATE, call, environment, our_lines


def facts_of(*words, env=None, status=0):
    done = call("doctor", "--json", *words, env=env)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout)


def errors_of(*words, env=None):
    """The errors of a job that would fail."""
    found = facts_of(*words, env=env, status=1)
    assert not found["ready"]
    return [one["text"] for one in found["findings"] if one["kind"] == "error"]


def test_alone_it_describes_this_host(gaussians, tmp_path):
    found = facts_of("--data", gaussians, "--trace", tmp_path / "t.h5")
    (rank,) = found["facts"]["ranks"]
    assert rank["cores"] and set(rank["cores"]) <= set(range(os.cpu_count()))
    assert 0 < rank["free_memory"] <= rank["memory"]
    assert rank["memory"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    shm = os.statvfs("/dev/shm")
    assert rank["shm"] == shm.f_blocks * shm.f_frsize
    assert rank["open_files_limit"] == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert 0 < rank["open_files"] < rank["open_files_limit"]
    assert rank["mpis"] == [found["facts"]["built_mpi"]]
    assert rank["shares"]
    data, trace = rank["files"]
    assert (data["wrong"], data["bytes"]) == ("", gaussians.stat().st_size)
    assert trace["wrong"] == "" and trace["free"] > 0
    assert found["facts"]["parameters"] == 12
    assert found["facts"]["data_bytes"] == 203 * 12 * 8
    assert list(tmp_path.iterdir()) == []
    assert found["ready"]


def test_it_speaks_to_people_in_80_columns(gaussians, tmp_path):
    done = call("doctor", "--data", gaussians, "--trace", tmp_path / "t.h5")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert [line.split()[0] for line in lines if line][:2] == ["quorate", "MPI:"]
    for word in ["free of GiB", "GiB free", "12 parameters"]:
        assert word in done.stdout
    quiet = call("doctor", "--quiet")
    assert (quiet.returncode, quiet.stdout) == (0, "")


@pytest.mark.parametrize(
    "path, reason",
    [
        ("/nowhere/t.h5", "No such file or directory"),
        ("/proc/t.h5", "cannot be written"),
        ("/sys/kernel/t.h5", "cannot be written"),
        ("/tmp", "it is a folder"),
    ],
)
def test_a_trace_that_cannot_be_written_is_an_error(path, reason):
    (error,) = errors_of("--trace", path)
    assert f"--trace is {path}" in error and reason in error and "give a file" in error


def test_data_that_cannot_be_read_are_an_error(tmp_path, gaussians):
    (error,) = errors_of("--data", gaussians.parent / "gausians.h5")
    assert "No such file or directory; did you mean" in error
    (error,) = errors_of("--data", tmp_path)
    assert "it is no file" in error
    (tmp_path / "text.h5").write_text("x")
    (error,) = errors_of("--data", tmp_path / "text.h5")
    assert "text.h5" in error
    os.mkfifo(tmp_path / "pipe")
    (error,) = errors_of("--data", tmp_path / "pipe")
    assert "it is no file" in error


@pytest.mark.parametrize(
    "words, message",
    [
        (["--data", ""], "--data is empty: give a file"),
        (["--trace", ""], "--trace is"),
        (["--model", "lgistic"], "did you mean logistic?"),
        (["--model", "logistic"], "give --data FILE"),
        (["--threads", "0"], "--threads is 0"),
        (["--timeout", "soon"], "--timeout is soon"),
        (["--timeout", "0"], "--timeout is 0"),
        (["--tarce", "t.h5"], "did you mean --trace?"),
        (["data.h5"], "data.h5"),
    ],
)
def test_bad_input_is_one_line(words, message):
    done = call("doctor", *words)
    (line,) = our_lines(done.stderr)
    assert done.returncode == 2 and done.stdout == ""
    assert message in line


def test_a_model_of_many_parameters_counts(gaussians):
    small = facts_of("--data", gaussians)
    large = facts_of("--data", gaussians, "--model", "mlp", "--hidden", "100")
    assert large["facts"]["parameters"] > 100 * small["facts"]["parameters"] / 12


def test_the_launcher_of_another_mpi_is_an_error():
    names = (
        ("PMI_RANK", "PMI_SIZE") if OPEN_MPI else ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
    )
    (error,) = errors_of(env=dict(zip(names, "03")))
    assert "3 ranks that each see a world of one" in error and "start this build with" in error
    # The others leave it to the first one.
    done = call("doctor", env=dict(zip(names, "13")))
    assert done.stdout == "" and our_lines(done.stderr) == []


def test_launchers_in_the_path_are_asked_whose_they_are(tmp_path):
    for name, says in [("mpiexec", "mpiexec (Open MPI) 5.0"), ("mpirun", "HYDRA build details:")]:
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{says}'\n")
        (tmp_path / name).chmod(0o755)
    found = facts_of(env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    whose = {one["name"]: one["mpi"] for one in found["facts"]["launchers"]}
    assert (whose["mpiexec"], whose["mpirun"]) == ("openmpi", "mpich")
    other = "mpirun" if OPEN_MPI else "mpiexec"
    (warning,) = [one["text"] for one in found["findings"] if "in the PATH is" in one["text"]]
    assert warning.startswith(f"{other} in the PATH")


def limited(limit, *words):
    return subprocess.run(
        ["bash", "-c", f'{limit}; exec "$0" doctor "$@"', QUORATE, *words],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_limit_of_open_files_that_is_too_low_is_an_error():
    done = limited("ulimit -Sn 40")
    assert done.returncode == 1
    (line,) = [line for line in our_lines(done.stderr) if "may open 40 files" in line]
    assert "write ulimit -n " in line
    done = limited("ulimit -n 40")
    assert done.returncode == 1 and "limits.conf" in done.stderr


def test_a_rank_may_have_fewer_cores_than_threads():
    core = min(os.sched_getaffinity(0))
    done = limited(f"taskset -cp {core} $$ > /dev/null", "--threads", "2")
    assert done.returncode == 0
    assert "1 rank of 2 threads share 1 core" in done.stderr


@pytest.mark.skipif(OPEN_MPI, reason="PMI_FD is that of MPICH")
def test_mpi_that_does_not_start_is_given_up():
    ours, theirs = socket.socketpair()
    fd = str(theirs.fileno())
    done = subprocess.run(
        [QUORATE, "doctor", "--timeout", "2"],
        env=environment({"PMI_FD": fd, "PMI_RANK": "0", "PMI_SIZE": "2"}),
        pass_fds=[theirs.fileno()],
        capture_output=True,
        text=True,
        timeout=120,
    )
    ours.close()
    theirs.close()
    assert done.returncode == 1
    (line,) = our_lines(done.stderr)
    assert "MPI does not start in time: start the ranks with the launcher of this build" in line
