# SPDX-License-Identifier: BSD-2-Clause
"""Points and contributions that are rounded on their way: the same bits whichever way that is."""

import h5py
import numpy
import pytest

from program import attributes_of, call, inspect, our_lines, whole

BYTES = {"double": 8, "float": 4, "bfloat16": 2}
ROUNDS = 15


def trained(words, trace, ranks=None):
    """What a run or a simulation computed, and the bytes of its rounds but the first."""
    done = call(*words, "--trace", trace, "--quiet", ranks=ranks, env={"QUORATE_POISON": "1"})
    assert done.returncode == 0, done.stderr
    assert inspect(trace)["faults"] == []
    with h5py.File(trace, "r") as file:
        bits = [file[name][:] for name in ["iterate/model", "model/final", "round/loss_estimate"]]
        bytes_of = [file[f"round/bytes_{way}"][1:].sum() for way in ["sent", "received"]]
        return bits, bytes_of, attributes_of(file)["wire"]


ELASTIC = ("elastic", ["--needed", 5])  # operands travel, and products come back
CASES = [
    ("uncoded", [], "float"),
    (*ELASTIC, "bfloat16"),
    *whole(
        ("uncoded", [], "bfloat16"),
        (*ELASTIC, "float"),
        ("frc", ["--stragglers", 4], "float"),  # one of five copies is used: all are equal
        ("frc", ["--stragglers", 4], "bfloat16"),
        # Replicas are compared.
        ("draco-repetition", ["--stragglers", 0, "--tolerate", 2], "float"),
        ("draco-repetition", ["--stragglers", 0, "--tolerate", 2], "bfloat16"),
    ),
]


@pytest.mark.parametrize("scheme, options, wire", CASES)
def test_every_fleet_rounds_alike(scheme, options, wire, sparse, tmp_path):
    words = ["--data", sparse, "--scheme", scheme, *options, "--rounds", ROUNDS, "--step", 0.1]
    words += ["--optimizer", "agd"]
    exact = trained(["simulate", *words, "--workers", 5], tmp_path / "exact.h5")
    words += ["--wire", wire]
    shared = trained(["run", *words], tmp_path / "shared.h5", 6)
    sent = trained(["run", *words, "--transport", "messages"], tmp_path / "sent.h5", 6)
    virtual = trained(["simulate", *words, "--workers", 5], tmp_path / "virtual.h5")
    again = trained(["simulate", "--replay", tmp_path / "sent.h5"], tmp_path / "again.h5")
    for other in [sent, virtual, again]:
        assert other[2] == wire
        for ours, theirs in zip(shared[0], other[0]):
            assert numpy.array_equal(ours, theirs)
    digits = {"float": 1e-5, "bfloat16": 0.1}[wire]
    assert not numpy.array_equal(shared[0][1], exact[0][1])
    assert numpy.linalg.norm(shared[0][1] - exact[0][1]) < digits * numpy.linalg.norm(exact[0][1])
    for ours, full in zip(virtual[1], exact[1]):
        assert ours / full == pytest.approx(BYTES[wire] / 8, rel=0.05)
    if scheme == "uncoded":  # of others it depends on the times how many tasks are sent
        for way in [shared, sent]:
            assert way[1] == pytest.approx(virtual[1], rel=0.05)


def test_parts_are_unpacked_one_behind_the_other(gaussians, tmp_path):
    """Of several parts in a message, each with an odd number of values."""
    for scheme in [["m-sgc", "--lambda", 2], ["is-gc", "--degree", 2], ["partial-frc"]]:
        words = ["--data", gaussians, "--scheme", *scheme, "--rounds", ROUNDS, "--step", 0.1]
        words += ["--wire", "bfloat16", "--transport", "messages"]
        sent = trained(["run", *words], tmp_path / "sent.h5", 7)
        again = trained(["simulate", "--replay", tmp_path / "sent.h5"], tmp_path / "again.h5")
        assert all(numpy.array_equal(*pair) for pair in zip(sent[0], again[0])), scheme
        (tmp_path / "sent.h5").unlink()
        (tmp_path / "again.h5").unlink()


def test_a_simulated_link_carries_fewer_bytes(tmp_path):
    times = {}
    for wire, size in BYTES.items():
        words = ["simulate", "--dry", "--workers", 4, "--columns", 10**6, "--rounds", 3]
        words += ["--bandwidth", 1e9, "--port", "separate", "--wire", wire, "--overwrite"]
        done = call(*words, "--trace", tmp_path / "t.h5", "--quiet")
        assert done.returncode == 0, done.stderr
        with h5py.File(tmp_path / "t.h5", "r") as file:
            times[wire] = file["round/time"][-1]
        assert times[wire] == pytest.approx(3 * 2 * size * 1e6 / 1e9, rel=1e-3)


def test_a_gap_is_proven_by_default_unless_the_gradient_is_too_rough(gaussians, tmp_path):
    words = ["simulate", "--data", gaussians, "--workers", 3, "--l2", 0.1, "--quiet"]
    for wire, why in [("float", "gap at most"), ("bfloat16", "")]:
        trace = tmp_path / f"{wire}.h5"
        assert call(*words, "--wire", wire, "--trace", trace).returncode == 0
        with h5py.File(trace, "r") as file:
            assert attributes_of(file)["stopped_at"].startswith(why)
            assert (attributes_of(file)["stopped_at"] == "") == (why == "")


REFUSED = [
    (["--wire", "half"], "--wire is half; known: double, float or bfloat16"),
    (
        ["--wire", "float", "--scheme", "draco-cyclic"],
        "--wire is float, but this scheme finds Byzantine workers by sums that agree to more "
        "digits than that: use --wire double",
    ),
    (
        ["--wire", "bfloat16", "--stop-at", "gap=0.01", "--l2", 0.1],
        "--stop-at is gap=0.01, but --wire bfloat16 rounds the gradient that the gap follows from "
        "to 3 digits: use gradient=X or loss=X, or --wire float",
    ),
]


@pytest.mark.parametrize("words, message", REFUSED)
def test_what_a_wire_cannot_do_is_refused(words, message, gaussians, tmp_path):
    done = call("run", "--data", gaussians, *words, "--trace", tmp_path / "t.h5", ranks=6)
    assert done.returncode == 2
    assert our_lines(done.stderr) == [f"quorate: {message}"]
    assert not (tmp_path / "t.h5").exists()


def test_every_fleet_compresses_alike(sparse, tmp_path):
    words = ["--data", sparse, "--scheme", "agc", "--stragglers", 2, "--rounds", ROUNDS]
    words += ["--step", 0.1, "--optimizer", "gd", "--delay", "exponential:0.003"]
    whole_ones = trained(["simulate", *words, "--workers", 6], tmp_path / "whole.h5")
    words += ["--compressor", "topk:0.1", "--error-feedback"]
    shared = trained(["run", *words], tmp_path / "shared.h5", 7)
    sent = trained(["run", *words, "--transport", "messages"], tmp_path / "sent.h5", 7)
    for run, name in [(shared, "shared"), (sent, "sent")]:
        again = trained(["simulate", "--replay", tmp_path / f"{name}.h5"], tmp_path / f"{name}-.h5")
        for ours, theirs in zip(run[0], again[0]):
            assert numpy.array_equal(ours, theirs)
    virtual = trained(["simulate", *words, "--workers", 6], tmp_path / "virtual.h5")
    # A tenth of the numbers, each of 8 bytes behind a place of 2, beside heads.
    assert virtual[1][1] / whole_ones[1][1] == pytest.approx(0.1 * 10 / 8, rel=0.15)
