# SPDX-License-Identifier: BSD-2-Clause
"""quorate doctor under the launcher: what ranks say of themselves and of each other."""

import json
import os
import subprocess

import pytest

from program import LAUNCHER, OPEN_MPI, QUORATE, call, environment, our_lines, output


def facts_of(*words, ranks, env=None, status=0):
    done = call("doctor", "--json", *words, ranks=ranks, env=env)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout[: done.stdout.rindex("}") + 1])


@pytest.mark.parametrize("ranks", [2, 3, pytest.param(8, marks=pytest.mark.launcher)])
def test_ranks_of_one_host_are_asked(ranks, gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    found = facts_of("--data", gaussians, "--trace", trace, ranks=ranks)["facts"]
    assert found["size"] == ranks
    assert [rank["rank"] for rank in found["ranks"]] == list(range(ranks))
    assert found["silent"] == []
    assert len({rank["host"] for rank in found["ranks"]}) == 1
    assert all(rank["shares"] for rank in found["ranks"])
    # The first rank of a host tries its files.
    assert [len(rank["files"]) for rank in found["ranks"]] == [2] + [0] * (ranks - 1)
    # One host has one clock.
    assert all(abs(rank["clock_ahead"]) < 0.1 for rank in found["ranks"])
    assert not trace.exists()


@pytest.mark.launcher
def test_one_rank_will_do_since_its_workers_are_threads():
    assert facts_of(ranks=1)["findings"] == []


@pytest.mark.launcher
def test_ranks_of_a_host_share_a_line():
    cores = len(os.sched_getaffinity(0))
    done = call("doctor", ranks=cores + 2)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert sum(line.split()[1:2] == [f"0-{cores + 1}"] for line in lines) == 1
    assert f"{cores + 2} ranks share {cores} core" in done.stderr


@pytest.mark.launcher
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core cannot be bound to")
def test_ranks_bound_to_cores_are_seen_bound():
    words = ["--bind-to", "core"] if OPEN_MPI else ["-bind-to", "core"]

    command = [*LAUNCHER, *words, "-n", 2, QUORATE, "doctor", "--json"]
    text = output(*command, env=environment())
    ranks = json.loads(text)["facts"]["ranks"]
    assert [len(rank["cores"]) for rank in ranks] == [1, 1]
    assert ranks[0]["cores"] != ranks[1]["cores"]
    assert "bound" not in text


@pytest.mark.launcher
def test_a_resilient_run_is_tried_by_tcp():
    found = facts_of("--resilient", ranks=2)["facts"]
    assert found["resilient"] and len(found["ranks"]) == 2


@pytest.mark.launcher
def test_a_run_that_would_fail_has_status_1():
    done = call("doctor", "--trace", "/proc/t.h5", "--data", "/nowhere/d.h5", ranks=3)
    assert done.returncode == 1
    errors = [line for line in our_lines(done.stderr) if "warning" not in line]
    assert len(errors) == 2 and "--data is /nowhere/d.h5" in errors[0]
    assert "a run would fail" in done.stdout


@pytest.mark.launcher
def test_bad_input_is_said_once():
    done = call("doctor", "--threads", "none", ranks=3)
    assert done.returncode == 2 and len(our_lines(done.stderr)) == 1


def test_the_first_rank_of_each_host_tries_the_files(gaussians):
    """SLURM's name of the node makes hosts of the ranks of one."""
    script = 'export SLURMD_NODENAME=host$((${PMI_RANK:-$OMPI_COMM_WORLD_RANK} % 3)); exec "$@"'

    command = [*LAUNCHER, "-n", 6, "bash", "-c", script, "-", QUORATE, "doctor"]
    text = output(*command, "--json", "--data", gaussians, env=environment())
    ranks = json.loads(text)["facts"]["ranks"]
    assert [rank["host"] for rank in ranks] == ["host0", "host1", "host2"] * 2
    assert [len(rank["files"]) for rank in ranks] == [1, 1, 1, 0, 0, 0]
    assert all(rank["shares"] for rank in ranks)
    lines = output(*command, env=environment()).splitlines()
    assert {("host0", "0,3"), ("host1", "1,4"), ("host2", "2,5")} <= {
        tuple(line.split()[:2]) for line in lines
    }


@pytest.mark.skipif(OPEN_MPI, reason="its daemon ends with a rank that is stopped")
def test_a_silent_rank_is_named_in_time(tmp_path):
    """Of three ranks the last one stops before it says anything."""
    script = '[ "$PMI_RANK" != 2 ] || export LD_PRELOAD=%s; exec "$@"'

    source = tmp_path / "hang.c"
    source.write_text(
        "#include <unistd.h>\nint MPI_Improbe(void) { for (;;) pause(); }\n"
        "int MPI_Isend(void) { for (;;) pause(); }\n"
    )

    library = tmp_path / "hang.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    command = ["bash", "-c", script % library, "-", QUORATE, "doctor", "--timeout", "10"]

    done = subprocess.run(
        [*LAUNCHER, "-n", "3", *command],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    # Hydra may report how the hanging rank ended, which it kills.
    assert done.returncode in (1, 9)
    assert "rank 2 of 3 did not answer in time" in done.stderr
    assert " 0-1 " in done.stdout
