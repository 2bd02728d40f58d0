# SPDX-License-Identifier: BSD-2-Clause
"""Simulations of several nodes: what aggregation by node changes, and what it must not."""

import json
import re

import h5py
import numpy

from program import attributes_of, call, inspect

NETWORK = ["--latency", 1e-3, "--bandwidth", 1e5]


def simulate(trace, *words):
    done = call("simulate", "--trace", trace, "--overwrite", "--quiet", *words)
    assert done.returncode == 0, done.stderr
    assert inspect(trace)["faults"] == []
    with h5py.File(trace, "r") as file:
        return {
            "model": file["model/final"][:],
            "iterates": file["iterate/model"][:],
            "time": file["round/time"][:],
            "node": file["worker/node"][:],
            "rank": file["worker/rank"][:],
            "kinds": file["membership/kind"][:],
            **{n: attributes_of(file)[n] for n in ["aggregate", "nodes", "shared_workers"]},
        }


def test_a_dry_run_takes_the_time_of_a_real_one(gaussians, tmp_path):
    words = ["--workers", 12, "--rounds", 20, "--delay", "pareto:0.1,2", "--row-time", 1e-3]
    words += ["--nodes", 3, "--aggregate", "node", "--scheme", "frc", "--stragglers", 1, *NETWORK]
    real = simulate(tmp_path / "real.h5", "--data", gaussians, *words)
    words += ["--dry", "--rows", 203, "--columns", 12]
    done = call("simulate", "--trace", tmp_path / "dry.h5", *words)
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "dry.h5", "r") as dry:
        assert numpy.array_equal(dry["round/time"][:], real["time"])
        assert attributes_of(dry)["aggregate"] == "node"


def test_one_node_is_what_it_was_before_there_were_nodes(sparse, tmp_path):
    words = [
        "--data",
        sparse,
        "--workers",
        12,
        "--rounds",
        20,
        "--delay",
        "exponential:1",
        *NETWORK,
    ]
    plain = simulate(tmp_path / "a.h5", *words)
    one = simulate(tmp_path / "b.h5", *words, "--nodes", 1, "--aggregate", "node")
    for name in ["iterates", "time", "node", "rank"]:
        assert numpy.array_equal(plain[name], one[name]), name
    assert (one["aggregate"], one["nodes"], one["shared_workers"]) == ("flat", "simulated", 0)


def test_a_node_that_is_lost_before_its_sum_has_the_round_begin_anew(sparse, tmp_path):
    words = ["--data", sparse, "--workers", 6, "--nodes", 3, "--aggregate", "node", "--rounds", 9]
    words += ["--row-time", 1e-3, *NETWORK]
    # Workers 1 and 4 are the second node.
    all_of_it = simulate(tmp_path / "a.h5", *words, "--events", "3r kill 1; 3r kill 4")
    assert list(all_of_it["kinds"][6:]) == [7, 3, 3, 4]
    again = simulate(tmp_path / "b.h5", "--replay", tmp_path / "a.h5")
    assert numpy.array_equal(all_of_it["iterates"], again["iterates"])
    # One of them is enough to add up what both have computed.
    leader = simulate(tmp_path / "c.h5", *words, "--events", "3r kill 1")
    assert 7 not in leader["kinds"]


def test_auto_says_which_way_it_takes(sparse, tmp_path):
    words = ["simulate", "--data", sparse, "--workers", 12, "--rounds", 2, "--nodes", 3]
    words += ["--trace", tmp_path / "a.h5", "--overwrite"]
    assert "3 nodes: contributions are added up at the coordinator" in call(*words).stderr
    wide = ["simulate", "--dry", "--columns", 1000000, "--workers", 12, "--rounds", 2]
    wide += ["--nodes", 3, "--trace", tmp_path / "b.h5"]
    by_node = "3 nodes: contributions are added up by node"
    assert f"{by_node}, for the owners of shares\n" in call(*wide).stderr
    # By node the first answers bring the first points.
    replicas = ["--scheme", "frc", "--stragglers", 2, "--overwrite"]
    assert f"{by_node}\n" in call(*wide, *replicas).stderr
    standby = ["--standby", 1, "--overwrite"]
    assert f"{by_node}\n" in call(*wide, *standby).stderr
    assert "nodes" not in call(*words, "--aggregate", "flat").stderr


def test_advice_knows_nodes():
    words = [
        "advise",
        "--workers",
        12,
        "--rounds",
        10,
        "--delay",
        "exponential:0.05",
        "--repeat",
        1,
    ]
    words += ["--row-time", 1e-5, "--columns", 100000, "--bandwidth", 1e8, "--schemes", "uncoded"]
    seconds = {}
    for way in ["flat", "node"]:
        done = call(*words, "--nodes", 3, "--aggregate", way, "--json")
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        seconds[way] = float(re.search(r'"round_seconds": ([\d.e-]+)', done.stdout)[1])
    assert seconds["node"] < seconds["flat"]
    done = call(*words, "--nodes", 13)
    assert done.returncode == 2
    assert "--nodes is 13, but there are 12 workers for them: use at most 12" in done.stderr


HOSTS = ["advise", "--workers", 12, "--rounds", 30, "--repeat", 1, "--row-time", 1e-5]
HOSTS += ["--delay", "exponential:0.01", "--latency", 5e-5]
LINKS = ["--bandwidth", 25e6]


def advice(*words):
    done = call(*HOSTS, "--json", *words)
    assert done.returncode == 0, done.stderr
    return {one["scheme"]: one for one in json.loads(done.stdout)}


def test_advice_adds_up_where_it_takes_least_time():
    words = ["--nodes", 4, "--columns", 100000, "--schemes", "uncoded,frc,short-cyclic", *LINKS]
    chosen = advice(*words)
    ways = {way: advice(*words, "--aggregate", way) for way in ["flat", "node", "shares"]}
    assert chosen["uncoded"]["aggregate"] == "shares"
    # The workers of the coordinator's host have a replica of each partition, and hear first.
    assert chosen["frc --stragglers 3"]["aggregate"] == "flat"
    assert chosen["frc --stragglers 3"]["recommended"]
    assert ways["shares"]["frc --stragglers 1"]["recommended"]
    for name, one in chosen.items():
        of_ways = {way: ways[way][name]["seconds"] for way in ways if name in ways[way]}
        assert one["seconds"] == of_ways[one["aggregate"]], name
        assert one["seconds"] <= 1.1 * min(of_ways.values()), name
    # It needs each contribution at the coordinator.
    assert chosen["short-cyclic --stragglers 1 --fold 2"]["aggregate"] == "flat"
    assert not any(name.startswith("short") for name in [*ways["node"], *ways["shares"]])


def test_advice_does_not_propose_what_a_run_would_refuse():
    # Shares take 4,096 parameters a host. Where messages are short, adding up costs latency only.
    words = ["--schemes", "uncoded", *LINKS, "--nodes"]
    assert advice(*words, 4, "--columns", 4 * 4096)["uncoded"]["aggregate"] == "shares"
    assert advice(*words, 4, "--columns", 4 * 4096 - 1)["uncoded"]["aggregate"] == "node"
    assert advice(*words, 2, "--columns", 5)["uncoded"]["aggregate"] == "flat"
    assert "aggregate" not in advice(*words, 1, "--columns", 100000)["uncoded"]


def test_the_command_that_advice_ends_with_adds_up_as_it_did():
    words = [*HOSTS, "--schemes", "uncoded", "--nodes", 4, *LINKS]
    lines = call(*words, "--columns", 100000).stdout.splitlines()
    assert lines[0].endswith("added up") and lines[1].endswith("  shares")
    assert lines[-1].endswith("--aggregate shares --trace FILE      # 13 ranks on 4 hosts")
    assert "4 simulations in" in " ".join(lines)  # one of 30 rounds, and one of 20 for each way
    lines = call(*words, "--columns", 100000, "--aggregate", "node").stdout.splitlines()
    assert lines[1].endswith("  node") and "--aggregate node --trace" in lines[-1]
    # Of links or messages that take no time nothing follows: a run chooses by its data.
    lines = call(*words).stdout.splitlines()
    assert "messages are empty" in " ".join(lines) and "--aggregate" not in lines[-1]
    done = call(*words, "--columns", 100000, "--aggregate", "ring")
    assert done.returncode == 2 and "--aggregate is ring" in done.stderr


def test_with_data_supports_decide_where_advice_adds_up(tmp_path):
    data = tmp_path / "d.h5"
    size = ["--rows", 240, "--columns", 20000, "--nnz-per-row", 400, "--output", data]
    assert call("generate", *size).returncode == 0
    words = ["--data", data, "--nodes", 3, "--schemes", "uncoded,frc", "--step", 0.1]
    words += ["--bandwidth", 2e6]
    chosen = advice(*words)
    assert chosen["uncoded"]["aggregate"] == "shares"
    ways = {way: advice(*words, "--aggregate", way) for way in ["flat", "node", "shares"]}
    for name, one in chosen.items():
        if one["simulations"] == 1 and one["seconds"] is not None:
            assert one["seconds"] <= 1.1 * min(ways[way][name]["seconds"] for way in ways), name


def test_a_replay_takes_nodes_from_its_trace(sparse, tmp_path):
    words = ["--data", sparse, "--workers", 12, "--rounds", 5, "--nodes", 3]
    simulate(tmp_path / "a.h5", *words, "--aggregate", "node")
    for name, value in [("nodes", 2), ("aggregate", "flat"), ("memory-bandwidth", 1e9)]:
        done = call("simulate", "--replay", tmp_path / "a.h5", f"--{name}", value)
        assert done.returncode == 2
        assert f"--{name}" in done.stderr and "--replay takes times and workers" in done.stderr
