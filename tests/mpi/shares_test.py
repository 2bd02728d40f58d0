# SPDX-License-Identifier: BSD-2-Clause
"""Shares of the parameters: owners on several hosts add up and update, each what it has."""

import os
import signal

import h5py
import numpy
import pytest

from across_hosts_test import check, run_words
from many_hosts import Hosts, need_root
from nodes_test import leader_on
from program import (
    LAUNCHER,
    Job,
    attributes_of,
    call,
    command_line,
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


def on_three_nodes(trace, words):
    """A run of seven ranks: 0 to 2 are on one node, two each on the others."""
    program = command_line(["run", *words, "--trace", trace])
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    script = f'SLURMD_NODENAME=node$((({rank} - 1) / 2)) exec "$0" "$@"'
    return Job([*LAUNCHER, "-n", "7", "sh", "-c", script, *program], None).wait()


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


@pytest.mark.launcher
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


def test_too_few_parameters_are_refused(sparse, tmp_path):
    trace = tmp_path / "run.h5"
    done = on_three_nodes(trace, ["--data", sparse, "--rounds", 3, *SHARES])
    assert done.returncode == 2
    lines = our_lines(done.stderr)
    assert len(lines) == 1 and "5000 parameters are too few for 3 hosts" in lines[0]
