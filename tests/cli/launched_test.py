# SPDX-License-Identifier: BSD-2-Clause
"""Commands of one process in the shells of launchers, and what MPI would end a process for."""

import os
import subprocess

import pytest

from program import OPEN_MPI, call, command_line, environment, our_lines

DRY = ["simulate", "--dry", "--quiet", "--workers", 4, "--rounds", 5, "--trace"]
# What a shell of `srun --pty` has.
STEP = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "8", "SLURM_PROCID": "3"}
# What a launcher of this MPI leaves in the environment of a shell.
LEFT_OVER = (
    {"rank": {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8", "PMIX_RANK": "3"}}
    if OPEN_MPI
    else {
        "socket": {"PMI_FD": "5", "PMI_RANK": "3", "PMI_SIZE": "8"},
        "rank": {"PMI_RANK": "3", "PMI_SIZE": "8"},
        "port": {"PMI_PORT": "nohost.invalid:99", "PMI_ID": "1"},
    }
)


def test_one_process_runs_in_a_shell_of_a_step(gaussians, tmp_path):
    assert call(*DRY, tmp_path / "dry.h5", env=STEP).returncode == 0
    assert call("analysis", "rounds", tmp_path / "dry.h5", env=STEP).returncode == 0
    words = ["--workers", 3, "--rounds", 2, "--repeat", 1, "--quiet"]
    assert call("advise", *words, env=STEP).returncode == 0
    done = call("advise", "--workers", 0, env=STEP)
    assert "--workers is 0" in done.stderr, "one process speaks, whatever rank the step has"
    assert call("doctor", env=STEP).returncode == 0
    done = call("run", "--data", gaussians, "--trace", tmp_path / "r.h5", env=STEP)
    assert done.returncode == 2 and "has 1 ranks but SLURM_NTASKS is 8" in done.stderr


@pytest.mark.parametrize("name", LEFT_OVER)
def test_variables_that_a_launcher_left_do_no_harm(name, gaussians, tmp_path):
    env = LEFT_OVER[name]
    words = ["--data", gaussians, "--workers", 2, "--rounds", 3, "--trace", tmp_path / "t.h5"]
    done = call("simulate", "--quiet", *words, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    done = call("predict", tmp_path / "t.h5", "--json", env=env)
    assert done.returncode == 0 and done.stdout.startswith("{")
    done = call("doctor", env=env)
    assert done.returncode == 0, done.stderr
    assert "no launcher has started this process" in done.stderr
    done = call("run", "--data", gaussians, "--trace", tmp_path / "r.h5", env=env)
    assert done.returncode == 2 and "--workers is missing" in done.stderr


@pytest.mark.launcher
def test_several_processes_of_a_command_of_one_are_refused(tmp_path):
    done = call(*DRY, tmp_path / "t.h5", ranks=3)
    assert done.returncode == 2
    assert our_lines(done.stderr) == [
        "quorate: quorate simulate is one process: start it without a launcher"
    ]


def with_shared_memory_of(size, *words, ranks=None):
    mount = f'mount -t tmpfs -o size={size} tmpfs /dev/shm && exec "$@"'
    return subprocess.run(
        ["unshare", "--mount", "bash", "-c", mount, "bash", *command_line(words, ranks)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
@pytest.mark.skipif(OPEN_MPI, reason="Open MPI says itself what it lacks")
def test_a_small_dev_shm_is_said_and_not_an_abort(gaussians, tmp_path):
    if with_shared_memory_of("1m", "--version").returncode != 0:
        pytest.skip("nothing can be mounted here")
    words = ["--data", gaussians, "--rounds", 3, "--quiet", "--trace"]
    done = with_shared_memory_of("1m", "simulate", "--workers", 2, *words, tmp_path / "t.h5")
    assert (done.returncode, done.stderr) == (0, "")
    done = with_shared_memory_of("1m", "doctor")
    assert done.returncode == 0 and "/dev/shm has 1 MiB left" in done.stderr
    done = with_shared_memory_of("8m", "run", *words, tmp_path / "r.h5", ranks=3)
    (line,) = our_lines(done.stderr)
    assert done.returncode == 2
    assert "has 8 MiB left of 8, and MPI takes 4.1 MiB there for each of 3 ranks" in line
    done = with_shared_memory_of("64m,ro", "run", *words, tmp_path / "r.h5", ranks=3)
    (line,) = our_lines(done.stderr)
    assert done.returncode == 2 and "is read-only, and MPI takes memory there" in line
