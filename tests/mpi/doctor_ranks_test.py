# SPDX-License-Identifier: BSD-2-Clause
"""quorate doctor under the launcher: what ranks say of themselves, of each other and of links."""

import json
import os
import subprocess

import pytest

from program import LAUNCHER, OPEN_MPI, QUORATE, call, environment, our_lines, output


def facts_of(*words, ranks, env=None, status=0):
    done = call("doctor", "--json", *words, ranks=ranks, env=env)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout[: done.stdout.rindex("}") + 1])


@pytest.mark.launcher
@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_ranks_of_one_host_are_asked_and_pinged(ranks, gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    found = facts_of("--data", gaussians, "--trace", trace, ranks=ranks)["facts"]
    assert found["size"] == ranks
    assert [rank["rank"] for rank in found["ranks"]] == list(range(ranks))
    assert found["silent"] == []
    assert len({rank["host"] for rank in found["ranks"]}) == 1
    assert all(rank["shares"] for rank in found["ranks"])
    # The first rank of a host tries its files.
    assert [len(rank["files"]) for rank in found["ranks"]] == [2] + [0] * (ranks - 1)
    assert [(ping["from"], ping["to"]) for ping in found["pings"]] == [
        (0, rank) for rank in range(1, ranks)
    ]
    for ping in found["pings"]:
        assert ping["seconds"] > 0 and ping["bandwidth"] > 0
        # One host has one clock.
        assert abs(ping["clock_ahead"]) <= ping["clock_error"] + 1e-6
    assert not trace.exists()


@pytest.mark.launcher
def test_one_rank_will_do_since_its_workers_are_threads():
    assert facts_of(ranks=1)["findings"] == []


@pytest.mark.launcher
def test_equal_ranks_share_a_line():
    cores = len(os.sched_getaffinity(0))
    done = call("doctor", ranks=cores + 2)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert sum(line.startswith(f"1-{cores + 1} ") for line in lines) == 1
    assert f"{cores + 2} ranks share {cores} core" in done.stderr
    each = call("doctor", "--all", ranks=cores + 2).stdout.splitlines()
    assert sum(line.split()[:1] == [str(rank)] for rank in range(cores + 2) for line in each) == (
        cores + 2
    )


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
def test_a_resilient_run_is_pinged_by_tcp():
    name = "OMPI_MCA_btl" if OPEN_MPI else "UCX_TLS"
    for rank in facts_of("--resilient", ranks=2)["facts"]["ranks"]:
        assert rank["environment"][name] == "tcp,self"


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


def test_hosts_ping_each_other_too():
    """SLURM's name of the node makes hosts of the ranks of one."""
    script = 'export SLURMD_NODENAME=host$((${PMI_RANK:-$OMPI_COMM_WORLD_RANK} % 3)); exec "$@"'

    command = [*LAUNCHER, "-n", 6, "bash", "-c", script, "-", QUORATE, "doctor"]
    found = json.loads(output(*command, "--json", env=environment()))["facts"]
    assert [rank["host"] for rank in found["ranks"]] == ["host0", "host1", "host2"] * 2
    pairs = [(ping["from"], ping["to"]) for ping in found["pings"]]
    assert pairs == [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 2)]
    text = output(*command, env=environment())
    for pair in ["host0 - host1", "host0 - host2", "host1 - host2"]:
        assert pair in text


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
    assert "0-1" in done.stdout
