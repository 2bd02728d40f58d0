# SPDX-License-Identifier: BSD-2-Clause
"""A simulation of several nodes against a run over MPI whose ranks say that they are on as many."""

import h5py
import numpy
import pytest

from program import LAUNCHER, Job, attributes_of, call, command_line, inspect


def on_two_nodes(trace, words):
    """A run of seven ranks: 0 to 3 are on one node, 4 to 6 on another."""
    program = command_line(["run", *words, "--trace", trace])
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    script = f'SLURMD_NODENAME=node$(({rank} / 4)) exec "$0" "$@"'
    done = Job([*LAUNCHER, "-n", "7", "sh", "-c", script, *program], None).wait()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("wire", ["double", "float"])
@pytest.mark.parametrize("way", ["flat", "node", "shares"])
def test_the_run_and_its_simulation_have_the_same_bits_and_groups(way, wire, sparse, tmp_path):
    words = ["--data", sparse, "--rounds", 12, "--step", 0.3, "--wire", wire, "--aggregate", way]
    run, simulated = tmp_path / "run.h5", tmp_path / "simulated.h5"
    on_two_nodes(run, words)
    done = call("simulate", *words, "--workers", 6, "--nodes", 2, "--trace", simulated)
    assert done.returncode == 0, done.stderr
    with h5py.File(run, "r") as one, h5py.File(simulated, "r") as other:
        for name in ["worker/rank", "worker/node", "worker/rows", "iterate/model", "model/final"]:
            assert numpy.array_equal(one[name][:], other[name][:]), name
        for name in ["nodes", "aggregate"]:
            assert attributes_of(one)[name] == attributes_of(other)[name], name
    assert inspect(simulated)["faults"] == []
