# SPDX-License-Identifier: BSD-2-Clause
"""Shares of the parameters: owners on several hosts add up and update, each what it has."""

import os
import re
import signal

import h5py
import numpy
import pytest

from across_hosts_test import check, run_words
from many_hosts import Hosts, need_root
from nodes_test import leader_on
from program import (
    KEEP_GOING,
    LAUNCHER,
    Job,
    attributes_of,
    call,
    command_line,
    memory_of,
    our_lines,
    rounds_in,
    wait_until,
    whole,
)

SHARES = ["--aggregate", "shares"]
THREE = {"n1": 3, "n2": 2, "n3": 2}


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Columns for the shares of three hosts."""
    output = tmp_path_factory.mktemp("wide") / "wide.h5"
    size = ["--rows", 400, "--columns", 20000, "--nnz-per-row", 30, "--test-rows", 40]
    done = call("generate", *size, "--seed", 5, "--output", output)
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture
def hosts(tmp_path):
    need_root()
    with Hosts(tmp_path / "hosts", 3) as hosts:
        yield hosts


def start_on_three_nodes(trace, words, name="node"):
    """A run of seven ranks: 0 to 2 are on one node, two each on the others."""
    program = command_line(["run", *words, "--trace", trace])
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    script = f'SLURMD_NODENAME={name}$((({rank} - 1) / 2)) exec "$0" "$@"'
    spare = KEEP_GOING if "--resilient" in words else []
    return Job([*LAUNCHER, *spare, "-n", "7", "sh", "-c", script, *program], None)


def on_three_nodes(trace, words, name="node"):
    return start_on_three_nodes(trace, words, name).wait()


# Each round uses all answers, so both runs use the same ones.
@pytest.mark.parametrize(
    "words",
    [
        ["--optimizer", "adam", "--clip", 0.05, "--l1", 1e-4, "--wire", "float"],
        ["--optimizer", "lbfgs", "--stop-at", "gradient=0.05"],
        *whole((["--scheme", "local-average", "--local-steps", 3, "--batch", 60],)),
    ],
    ids=lambda words: words[1],
)
def test_owners_have_the_bits_of_aggregation_by_node(words, wide, tmp_path):
    traces = {way: tmp_path / f"{way}.h5" for way in ["node", "shares"]}
    for way, trace in traces.items():
        options = ["--data", wide, "--rounds", 12, "--step", 0.3, "--aggregate", way, *words]
        done = on_three_nodes(trace, options)
        assert done.returncode == 0, done.stderr
        check(trace, tmp_path / f"{way}-again.h5")
    with h5py.File(traces["node"], "r") as one, h5py.File(traces["shares"], "r") as other:
        assert attributes_of(other)["aggregate"] == "shares"
        for name in ["iterate/model", "model/final", "round/gradient_norm", "round/loss_estimate"]:
            assert numpy.array_equal(one[name][:], other[name][:]), name


# Each round uses all answers, so that no interruption changes a bit.
@pytest.mark.parametrize(
    "before, after", [("shares", "shares"), *whole(("shares", "flat"), ("node", "shares"))]
)
@pytest.mark.parametrize("optimizer", ["adam", *whole(("lbfgs",))])
def test_a_run_goes_on_from_its_checkpoint(before, after, optimizer, wide, tmp_path):
    plain, trace = tmp_path / "plain.h5", tmp_path / "run.h5"
    words = ["--data", wide, "--rounds", 150, "--step", 0.3, "--optimizer", optimizer, "--quiet"]
    done = on_three_nodes(plain, [*words, "--aggregate", "node"])
    assert done.returncode == 0, done.stderr
    words += ["--checkpoint", tmp_path / "c.h5", "--checkpoint-every", "7r", "--resume"]
    words += ["--delay", "constant:0.02"]
    job = start_on_three_nodes(trace, [*words, "--aggregate", before])
    wait_until(lambda: (tmp_path / "c.h5").exists())
    os.kill(job.rank(0), signal.SIGTERM)
    done = job.wait()
    assert (done.returncode, len(our_lines(done.stderr))) == (75, 1), done.stderr
    assert rounds_in(trace) < 150
    done = on_three_nodes(trace, [*words, "--aggregate", after], name="other")
    assert done.returncode == 0, done.stderr
    check(trace, tmp_path / "again.h5")
    with h5py.File(plain, "r") as one, h5py.File(trace, "r") as other:
        for name in ["iterate/model", "model/final", "round/gradient_norm", "round/loss_estimate"]:
            assert numpy.array_equal(one[name][:], other[name][:]), name


# With agd an owner has its slices of the gradient, the model and the point; points lie in shared
# memory. In the end it has messages with slices of the model instead of the gradient, the
# coordinator those of the two others. Before, it had 12 slices' worth: whole vectors, too.
def test_an_owner_has_no_whole_vector(tmp_path):
    data, columns = tmp_path / "wide.h5", 6_000_000
    size = ["--rows", 60, "--columns", columns, "--nnz-per-row", 30, "--test-rows", 0]
    assert call("generate", *size, "--output", data, "--quiet").returncode == 0
    words = ["--data", data, "--rounds", 10, "--step", 0.1, "--optimizer", "agd", *SHARES]
    trace = tmp_path / "run.h5"
    job = start_on_three_nodes(trace, [*words, "--evaluate-every", 0, "--quiet"])
    most = dict.fromkeys(range(7), 0)
    while job.process.poll() is None:
        for rank in most:
            most[rank] = max(most[rank], memory_of(job.rank(rank) or 0))
    done = job.wait()
    assert done.returncode == 0, done.stderr
    with h5py.File(trace, "r") as file:
        assert attributes_of(file)["aggregate"] == "shares"
    *workers, _, _ = sorted(most[rank] for rank in range(1, 7))
    for rank, bytes_of_rank in most.items():
        assert bytes_of_rank < max(workers) + 5 * 8 * columns / 3, (rank, most)


def check_lost(file):
    """That a trace has the rounds that its run lost when it went back once."""
    losses = attributes_of(file)["losses"]
    if losses.startswith("0 rounds"):
        assert "lost" not in file
        return
    kept = attributes_of(file["lost/0"])
    rounds = len(file["lost/0/round/time"])
    after = kept["first_round"] - 1
    assert losses == f"{rounds} rounds after round {after}: {kept['why']}\n"
    assert kept["last_round"] == after + rounds
    # The clock of the run has not gone back.
    assert file["round/time"][after] > file["lost/0/round/time"][-1]


def test_a_run_goes_back_to_its_checkpoint_without_an_owner(hosts, wide, tmp_path):
    trace, checkpoint = tmp_path / "run.h5", tmp_path / "c.h5"
    words = ["--delay", "constant:0.02", "--rounds", 100, *SHARES, "--resilient", "--resume"]
    words = run_words(wide, trace, *words, "--checkpoint", checkpoint, "--checkpoint-every", "5r")
    job = hosts.start(THREE, *words)
    wait_until(checkpoint.exists)
    _, rank = leader_on(trace, "n3")
    os.kill(hosts.rank(rank), signal.SIGKILL)
    done = job.wait()
    assert done.returncode == 0, done.stderr
    said = "\n".join(our_lines(done.stderr))
    assert "with it the share of the parameters that it owned; the " in said
    with h5py.File(trace, "r") as file:
        lost = attributes_of(file)["losses"].splitlines()
        check_lost(file)
    assert len(lost) == 1 and " on n3 is dead" in lost[0]
    assert rounds_in(trace) == 100
    check(trace, tmp_path / "again.h5")


@pytest.mark.parametrize("scheme", ["uncoded", *whole(("async",), ("dsag",))])
def test_no_link_carries_all_that_hosts_send(scheme, hosts, wide, tmp_path):
    most = {}
    for way in ["node", "shares"]:
        trace = tmp_path / f"{way}.h5"
        words = ["--scheme", *scheme.split(), "--rounds", 60, "--evaluate-every", 0]
        before = hosts.traffic()
        done = hosts.start(THREE, *run_words(wide, trace, *words, "--aggregate", way)).wait()
        assert (done.returncode, our_lines(done.stderr)) == (0, [])
        check(trace, tmp_path / f"{way}-again.h5")
        sent = [[b - a for a, b in zip(*pair)] for pair in zip(before, hosts.traffic())]
        most[way] = max(max(ways) for ways in sent)
    if scheme == "uncoded":  # the others have other rounds
        assert most["shares"] < most["node"]


@pytest.mark.launcher
def test_the_run_ends_with_the_owner_of_a_share(hosts, wide, tmp_path):
    trace = tmp_path / "run.h5"
    words = ["--delay", "constant:0.02", "--rounds", 500, *SHARES]
    job = hosts.start(THREE, *run_words(wide, trace, *words))
    wait_until(lambda: rounds_in(trace) > 3)
    _, rank = leader_on(trace, "n3")
    os.kill(hosts.rank(rank), signal.SIGKILL)
    done = job.wait()
    assert done.returncode != 0
    wait_until(lambda: not any(hosts.processes(host) for host in hosts.names))


@pytest.mark.parametrize(
    "words, why",
    [
        (["--standby", 1], "--standby gives dead workers' places to ranks of other hosts"),
        (["--transport", "messages"], "--transport messages shares no memory"),
        (["--scheme", "draco-repetition"], "needs each contribution at the coordinator"),
    ],
    ids=lambda words: words[0],
)
def test_what_owners_cannot_do_is_refused(words, why, wide, tmp_path):
    trace = tmp_path / "run.h5"
    given = ["--data", wide, "--workers", 6, "--trace", trace, *SHARES, *words]
    done = call("run", *given)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert why in done.stderr and "use " in done.stderr
    assert not trace.exists()


def test_a_run_with_one_sum_does_not_go_on_over_shares(wide, tmp_path):
    trace = tmp_path / "run.h5"
    words = ["--data", wide, "--rounds", 20, "--checkpoint", tmp_path / "c.h5", "--quiet"]
    words += ["--checkpoint-every", "3r"]
    done = on_three_nodes(trace, [*words, "--aggregate", "flat"])
    assert done.returncode == 0, done.stderr
    with h5py.File(trace, "r+") as file:
        file.attrs["status"] = "running"
    done = on_three_nodes(trace, [*words, *SHARES, "--resume"])
    assert done.returncode == 2
    assert our_lines(done.stderr)[-1].endswith("keep its bits; use --aggregate flat")


def test_too_few_parameters_are_refused(sparse, tmp_path):
    trace = tmp_path / "run.h5"
    done = on_three_nodes(trace, ["--data", sparse, "--rounds", 3, *SHARES])
    assert done.returncode == 2
    lines = our_lines(done.stderr)
    assert len(lines) == 1 and "5000 parameters are too few for 3 hosts" in lines[0]


# The only checkpoint is in memory: what is lost are the rounds since it.
@pytest.mark.parametrize(
    "way, dead",
    [
        ("shares", "host"),
        *whole(("shares", "owner"), ("shares", "rank"), ("flat", "host")),
    ],
)
def test_a_run_goes_back_to_a_state_in_memory(way, dead, hosts, wide, tmp_path):
    trace, checkpoint = tmp_path / "run.h5", tmp_path / "c.h5"
    words = ["--delay", "constant:0.02", "--rounds", 300, "--aggregate", way, "--resilient"]
    words += ["--timeout", 1, "--checkpoint", checkpoint, "--checkpoint-every", "1h"]
    words += ["--memory-checkpoint-every", "10r", "--optimizer", "agd"]
    job = hosts.start(THREE, *run_words(wide, trace, *words))
    wait_until(lambda: rounds_in(trace) > 60)
    ranks = {"owner": [leader_on(trace, "n3")[1]], "rank": [0], "host": [0, 1, 2]}[dead]
    for process in [hosts.rank(rank) for rank in ranks]:
        os.kill(process, signal.SIGKILL)
    done = job.wait()
    assert done.returncode == 0, done.stderr
    assert not checkpoint.exists()
    with h5py.File(trace, "r") as file:
        check_lost(file)
        after = re.fullmatch(r"\d+ rounds after round (\d+): .*\n", attributes_of(file)["losses"])
    assert int(after[1]) >= 30
    assert rounds_in(trace) == 300
    check(trace, tmp_path / "again.h5")


# Whoever takes the coordinator's place is on its host (rank 1), or on another one.
@pytest.mark.parametrize("way", ["shares", "flat", *whole(("node",))])
@pytest.mark.parametrize("dead", [[0], [0, 1, 2]], ids=["rank", "ranks of its host"])
def test_another_rank_takes_the_place_of_the_coordinator(way, dead, hosts, wide, tmp_path):
    trace, checkpoint = tmp_path / "run.h5", tmp_path / "c.h5"
    words = ["--delay", "constant:0.02", "--rounds", 150, "--aggregate", way, "--resilient"]
    words += ["--timeout", 1, "--checkpoint", checkpoint, "--checkpoint-every", "5r"]
    job = hosts.start(THREE, *run_words(wide, trace, *words))
    wait_until(checkpoint.exists)
    processes = [hosts.rank(rank) for rank in dead]
    for process in processes:
        os.kill(process, signal.SIGKILL)
    done = job.wait()
    assert done.returncode == 0, done.stderr
    assert "the coordinator is dead; this rank takes its place" in done.stderr
    with h5py.File(trace, "r") as file:
        found = attributes_of(file)
        check_lost(file)
    assert found["status"] == "completed"
    assert found["losses"].count("\n") == 1 and "the coordinator is dead" in found["losses"]
    assert rounds_in(trace) == 150
    check(trace, tmp_path / "again.h5")


def test_auto_chooses_shares_where_nodes_move_much(tmp_path):
    data, trace = tmp_path / "data.h5", tmp_path / "run.h5"
    size = ["--rows", 3000, "--columns", 1000000, "--nnz-per-row", 100]
    assert call("generate", *size, "--seed", 5, "--output", data).returncode == 0
    words = ["--data", data, "--rounds", 2, "--step", 0.1, "--evaluate-every", 0, "--overwrite"]
    for more, way in [([], "shares"), (["--resilient"], "flat")]:
        done = on_three_nodes(trace, [*words, *more])
        assert done.returncode == 0, done.stderr
        with h5py.File(trace, "r") as file:
            assert attributes_of(file)["aggregate"] == way
