# SPDX-License-Identifier: BSD-2-Clause
"""Every run over MPI ends, by TCP too, and with its status.

ENDING_RUNS=20 repeats each case that often and says how long the longest took from the last
write of its trace to the end of its launcher (pytest -rP shows it).
"""

import os
import signal
import subprocess
import time

import pytest

from program import (
    KEEP_GOING,
    LAUNCHER,
    OPEN_MPI,
    Job,
    call,
    command_line,
    environment,
    rounds_in,
    start,
    wait_until,
    whole,
)

RUNS = int(os.environ.get("ENDING_RUNS", "1"))
# As between hosts: no shared memory.
BY_TCP = {"OMPI_MCA_btl": "tcp,self"} if OPEN_MPI else {"UCX_TLS": "tcp,self"}


COLUMNS = {"wide": 60000, "narrow": 12}  # messages of 480 kB, and of 100 B


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Data sets by name."""
    paths = {name: tmp_path_factory.mktemp(name) / "data.h5" for name in COLUMNS}
    for name, columns in COLUMNS.items():
        size = ["--rows", 62, "--columns", columns, "--test-rows", 0]
        assert call("generate", *size, "--output", paths[name], "--quiet").returncode == 0
    return paths


@pytest.mark.launcher
@pytest.mark.parametrize(
    "size, ranks",
    [
        ("wide", 2),
        ("narrow", 9),
        *whole(*((size, n) for size in COLUMNS for n in (5, 31)), ("narrow", 2), ("wide", 9)),
    ],
)
def test_a_run_by_tcp_ends(size, ranks, data, tmp_path):
    trace = tmp_path / "t.h5"
    words = ["run", "--data", data[size], "--rounds", 10, "--step", 0.01, "--evaluate-every", 5]
    words += ["--trace", trace, "--overwrite", "--quiet"]
    longest = 0
    for _ in range(RUNS):
        done = call(*words, ranks=ranks, env=BY_TCP)
        longest = max(longest, time.time() - trace.stat().st_mtime)
        assert (done.returncode, done.stderr) == (0, "")
        assert rounds_in(trace) == 10
    print(f"{ranks} ranks, {size}: {RUNS} runs, the longest end {longest:.2f} s")


@pytest.mark.launcher
@pytest.mark.parametrize("ranks", [5, *whole((9,))])
def test_a_run_by_tcp_ends_when_its_launcher_is_told_to(ranks, data, tmp_path):
    longest = 0
    for number in range(RUNS):
        trace = tmp_path / f"{number}.h5"
        words = ["run", "--data", data["wide"], "--rounds", 1000000, "--evaluate-every", 0]
        words += ["--step", 0.01, "--trace", trace, "--quiet"]
        job = start(*words, ranks=ranks, env=BY_TCP)
        wait_until(lambda: rounds_in(trace) > 0)
        time.sleep(0.05 * (number % 4))
        began = time.monotonic()
        job.process.send_signal(signal.SIGTERM)
        done = job.wait()
        longest = max(longest, time.monotonic() - began)
        # Open MPI's mpiexec has a status of its own then.
        assert done.returncode == 75 or (OPEN_MPI and done.returncode != 0), done.stderr
    print(f"{ranks} ranks, SIGTERM: {RUNS} runs, the longest end {longest:.2f} s")


@pytest.mark.parametrize(
    "command", [pytest.param("evaluate", marks=pytest.mark.launcher), "tune", "optimum"]
)
def test_other_commands_by_tcp_end(command, gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    words = ["--data", gaussians, "--workers", 3, "--rounds", 5, "--step", 0.1, "--trace", trace]
    assert call("simulate", *words, "--quiet").returncode == 0
    words = {
        "evaluate": [trace],
        "tune": ["--data", gaussians, "--grid", "step=0.1:0.2", "--rounds", 3, "--quiet"],
        "optimum": ["--data", gaussians, "--tolerance", 1e-3, "--quiet"],
    }
    for _ in range(RUNS):
        done = call(command, *words[command], ranks=5, env=BY_TCP)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.launcher
def test_a_refused_run_by_tcp_ends_with_its_status(gaussians, tmp_path):
    words = ["run", "--data", gaussians, "--step", "long", "--trace", tmp_path / "t.h5"]
    for _ in range(RUNS):
        done = call(*words, ranks=5, env=BY_TCP)
        assert done.returncode == 2 and "--step is long" in done.stderr


SHIM = """
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
/* A clock on which ten seconds pass in one. */
unsigned alarm(unsigned seconds)
{
    struct itimerval at = {{0, 0}, {seconds / 10, seconds % 10 * 100000}};
    setitimer(ITIMER_REAL, &at, 0);
    return 0;
}
/* Another MPI, whose end never comes. */
int MPI_Finalize(void) { for (;;) pause(); }
int MPI_Get_library_version(char* text, int* length)
{
    strcpy(text, "an MPI");
    *length = 6;
    return 0;
}
"""


@pytest.mark.skipif(OPEN_MPI, reason="its mpiexec takes a rank that leaves so for a failed one")
def test_an_end_that_does_not_come_is_not_waited_for(gaussians, tmp_path):
    source, shim = tmp_path / "shim.c", tmp_path / "shim.so"
    source.write_text(SHIM)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", shim, source], check=True)
    words = ["run", "--data", gaussians, "--rounds", 5, "--step", 0.1, "--trace", tmp_path / "t.h5"]
    program = command_line([*words, "--quiet"])
    command = [*LAUNCHER, "-n", "3", "env", f"LD_PRELOAD={shim}", *program]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    said = "MPI has not ended within 10 s: leaving without it"
    assert sorted(done.stderr.splitlines()) == [
        f"quorate[rank {rank} of 3]: {said}" for rank in range(3)
    ]


@pytest.mark.skipif(OPEN_MPI, reason="its mpiexec ends a job whose rank was killed")
def test_workers_notice_a_coordinator_for_which_their_launcher_does_not_wait(gaussians, tmp_path):
    """Told to go on, mpiexec lets a rank that has ended be a zombie until all have."""
    trace = tmp_path / "t.h5"
    words = ["run", "--data", gaussians, "--rounds", 100000, "--step", 0.02, "--trace", trace]
    command = [*LAUNCHER, *KEEP_GOING, "-n", "5", *command_line([*words, "--quiet"])]
    job = Job([*command, "--delay", "exponential:0.005"], {})
    wait_until(lambda: rounds_in(trace) > 0)
    os.kill(job.rank(0), signal.SIGKILL)
    assert job.wait(timeout=30).returncode != 0
