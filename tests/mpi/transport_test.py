# SPDX-License-Identifier: BSD-2-Clause
"""Points and contributions in shared memory and in messages: the same bits. Memory that is used
again is filled with NaN first, so that a rank that reads it too late spoils the run."""

import h5py
import numpy
import pytest

from program import attributes_of, call, our_lines, whole

POISON = {"QUORATE_POISON": "1"}


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    """Workers that need all of a point, and read it where it lies, many chunks long."""
    output = tmp_path_factory.mktemp("dense") / "dense.h5"
    size = ["--rows", 3000, "--columns", 500, "--test-rows", 40]
    assert call("generate", *size, "--seed", 5, "--output", output).returncode == 0
    return output


def run(data, trace, *words, ranks=6, env=POISON):
    words = ["run", "--data", data, "--trace", trace, "--step", 0.1, "--quiet", *words]
    done = call(*words, ranks=ranks, env=env)
    assert done.returncode == 0, done.stderr
    return h5py.File(trace, "r")


EXACT = [
    ("elastic", ["--needed", 5]),  # some points are operands, which always travel
    *whole(
        ("uncoded", []),
        ("uncoded", ["--optimizer", "agd"]),
        ("frc", ["--stragglers", 4]),  # one of five copies is used: all are equal
    ),
]


@pytest.mark.parametrize("scheme, options", EXACT)
def test_either_transport_gives_the_same_bits(scheme, options, sparse, tmp_path):
    words = ["--scheme", scheme, *options, "--rounds", 20]
    with run(sparse, tmp_path / "shared.h5", *words) as shared:
        with run(sparse, tmp_path / "sent.h5", *words, "--transport", "messages") as sent:
            assert attributes_of(shared)["shared_workers"] == 5
            assert attributes_of(sent)["shared_workers"] == 0
            for name in ["iterate/model", "model/final", "round/loss_estimate"]:
                assert numpy.array_equal(shared[name][:], sent[name][:]), name
            for name in ["round/bytes_sent", "round/bytes_received"]:
                # Of frc it depends on the times how many tasks are closed before they are sent.
                assert scheme == "frc" or numpy.allclose(
                    shared[name][:], sent[name][:], rtol=0.02, atol=600
                ), name


# Workers are interrupted in the middle of a chunk, hold points of many versions, or are asked by
# the next task for a gradient that they had begun.
INTERRUPTED = [
    ("amb-dg", ["--compute-time", 0.002]),
    *whole(
        ("agc", ["--stragglers", 1, "--collect", 2]),
        ("async", ["--batch", 900]),
        ("k-batch-async", ["--batch", 900, "--collect", 2]),
        ("pgc-cyclic", ["--stragglers", 2]),
        ("m-sgc", ["--lambda", 2]),
    ),
]


@pytest.mark.parametrize(
    "transport", ["shared", pytest.param("messages", marks=pytest.mark.launcher)]
)
@pytest.mark.parametrize("scheme, options", INTERRUPTED)
def test_memory_is_used_again_when_nobody_reads_it(scheme, options, transport, dense, tmp_path):
    trace, again = tmp_path / "t.h5", tmp_path / "again.h5"
    words = ["--scheme", scheme, *options, "--rounds", 60, "--delay", "exponential:0.001"]
    run(dense, trace, *words, "--transport", transport).close()
    done = call("simulate", "--replay", trace, "--trace", again, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(trace, "r") as first, h5py.File(again, "r") as second:
        for name in ["iterate/model", "round/loss_estimate"]:
            assert numpy.array_equal(first[name][:], second[name][:]), name


def test_threads_of_the_coordinator_change_no_bit(sparse, tmp_path):
    words = ["--scheme", "frc", "--stragglers", 1, "--rounds", 10, "--workers", 4]
    one, three = tmp_path / "one.h5", tmp_path / "three.h5"
    run(sparse, one, *words, "--coordinator-threads", 1).close()
    run(sparse, three, *words, "--coordinator-threads", 3).close()
    with h5py.File(one, "r") as first, h5py.File(three, "r") as second:
        assert numpy.array_equal(first["iterate/model"][:], second["iterate/model"][:])


def test_a_transport_that_is_none_is_refused(sparse, tmp_path):
    done = call("run", "--data", sparse, "--transport", "pigeons", ranks=2)
    assert done.returncode == 2
    assert our_lines(done.stderr) == ["quorate: --transport is pigeons; known: shared or messages"]
