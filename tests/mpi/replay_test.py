# SPDX-License-Identifier: BSD-2-Clause
"""Every scheme over MPI, and again from its trace: the same iterates, bit for bit."""

import re

import h5py
import numpy
import pytest

from program import call, inspect, our_lines

# Ways of a scheme beside its defaults.
WAYS = [
    ("ignore", ["--weights", "horvitz-thompson"]),
    ("ignore", ["--weights", "ratio", "--reshuffle"]),
    ("ignore", ["--adaptive", "3,1,1", "--stragglers", 0]),
    ("ignore", ["--deadline", 0.004, "--stragglers", 0]),
    ("ignore", ["--deadline", "adaptive:4,2,5"]),
    ("agc", ["--deadline", "adaptive:3,1,5,0.01"]),
    ("bernoulli", ["--deadline", "adaptive:2,0,1"]),
    ("frc", ["--stragglers", 2]),
    ("cyclic", ["--stragglers", 2]),
    ("cyclic", ["--stragglers", 3, "--coefficients", "random"]),
    ("cyclic", ["--stragglers", 6, "--coefficients", "ones"]),
    ("reed-solomon", ["--stragglers", 2, "--partitions", 11]),
    ("partial", ["--stragglers", 2, "--placement", "frc", "--chunks", 3]),
    ("partial", ["--stragglers", 2, "--order", "given", "--batch", 70, "--wire", "float"]),
    ("partial", ["--deadline", 0.004, "--rescale", "none"]),
    ("partial", ["--messages", "prefix", "--deadline", 0.004, "--stragglers", 3]),
    ("partial", ["--messages", "prefix", "--deadline", 0.006, "--chunks", 4, "--batch", 70]),
    ("partial", ["--messages", "prefix", "--deadline", 0.02, "--row-time", 3e-4]),
    ("partial", ["--messages", "prefix", "--deadline", 1e-6]),
    ("partial", ["--messages", "late", "--stragglers", 2, "--wire", "float"]),
    ("partial", ["--messages", "late", "--stragglers", 3, "--parts", 2, "--batch", 70]),
    ("partial", ["--messages", "late", "--stragglers", 2, "--parts", 3, "--deadline", 0.004]),
    ("short-cyclic", ["--stragglers", 2, "--fold", 4]),
    ("short-cyclic", ["--fold", 3, "--wire", "float"]),
    ("uncoded", ["--optimizer", "lbfgs"]),
    ("cyclic", ["--stragglers", 2, "--optimizer", "lbfgs", "--memory", 3]),
    ("short-cyclic", ["--stragglers", 1, "--optimizer", "lbfgs"]),
    ("stochastic", ["--deadline", 0.005, "--straggling", 0.2]),
    ("is-gc", ["--placement", "frc", "--degree", 3]),
    ("nested", ["--placement", "frc", "--stragglers", 6]),
    ("amb", ["--compute-time", 0.004, "--micro-batch", 3, "--batch", 70]),
    ("amb", ["--probe", 2, "--batch", 70, "--weights", "equal"]),
    ("amb", ["--compute-time", 1e-6]),
    ("amb", ["--compute-time", 0.008, "--samples-cap", 70, "--micro-batch", 3]),
    ("anytime-sgd", ["--compute-time", 0.004, "--batch", 70, "--l2", 0.01]),
    ("local-average", ["--batch", 70, "--local-steps", 3, "--l2", 0.01]),
    ("amb-dg", ["--compute-time", 0.004]),
    ("amb-dg", ["--compute-time", 0.004, "--samples-cap", 70, "--micro-batch", 3]),
    ("k-batch-async", ["--batch", 70, "--collect", 12, "--staleness-scale", "inverse"]),
    ("async", ["--batch", 70, "--staleness-cap", 3]),
    ("async", ["--batch", 70, "--staleness-scale", "adaptive"]),
    ("ringmaster", ["--batch", 70, "--staleness-cap", 2, "--stop-stale"]),
    ("k-batch-sync", ["--batch", 70, "--collect", 9, "--restart-after", 0.004]),
    ("k-batch-sync", ["--batch", 70, "--collect", 40, "--restart-after", "auto"]),
    ("malenia", ["--batch", 70, "--collect", 9]),
    ("malenia", ["--batch", 70, "--update-at", "each"]),
    ("mindflayer", ["--batch", 70, "--restart-after", 0.004, "--trials", 3]),
    ("mindflayer", ["--batch", 70, "--collect", 30, "--estimator", "expected"]),
    ("ata", ["--batch", 70, "--tasks", 20]),
    ("ringleader", ["--batch", 70, "--most", 2]),
    ("ringleader", ["--batch", 70, "--points", "newest"]),
    ("ia2sgd", ["--batch", 70]),
    ("pgc-frc", ["--stragglers", 2, "--workers", 6]),
    ("pgc-cyclic", ["--stragglers", 2]),
    ("pgc-cyclic", ["--stragglers", 2, "--decoder", "mu", "--staleness-cap", 3]),
    ("dsag", ["--subpartitions", 3, "--stale", "drop", "--margin", 0]),
    ("dsag", ["--subpartitions", 4, "--estimator", "saga", "--order", "random", "--collect", 3]),
    ("dsag", ["--cache", "worker", "--wire", "float", "--staleness-cap", 20]),
    ("dsag", ["--cache", "worker", "--batch", 100, "--collect", 2]),
    ("dsag", ["--balance", "equal", "--subpartitions", 3, "--rounds", 40]),
    ("dsag", ["--balance", "authors", "--subpartitions", 3, "--rounds", 40, "--batch", 140]),
    ("sr-sgc", ["--burst", 2, "--window", 5, "--lambda", 3]),
    ("sr-sgc", ["--burst", 0, "--lambda", 2]),
    ("m-sgc", ["--burst", 2, "--window", 4, "--lambda", 2, "--models", 5, "--batch", 100]),
    ("m-sgc", ["--lambda", 7, "--mu", 0.2]),
    ("agc", ["--wire", "float"]),
    ("anytime-sgd", ["--compute-time", 0.004, "--batch", 70, "--wire", "bfloat16"]),
    ("pgc-cyclic", ["--stragglers", 2, "--wire", "bfloat16"]),
    ("draco-repetition", ["--byzantine", "sign-flip:2", "--stragglers", 0]),
    ("draco-repetition", ["--byzantine", "nan:0,5", "--stragglers", 1, "--tolerate", 2]),
    ("draco-repetition", ["--byzantine", "sign-flip:2", "--stragglers", 0, "--wire", "float"]),
    ("draco-cyclic", ["--byzantine", "random:2,3", "--stragglers", 1, "--tolerate", 2]),
]


def schemes():
    """Each with its defaults, or with the options that it names as an example."""
    done = call("list", "schemes")
    entry = r"^(\S+).*\n(?: +(?! |e\.g\.).*\n)*(?: +e\.g\. (.*)\n)?"
    found = re.findall(entry, done.stdout, re.MULTILINE)
    return [(name, example.split()) for name, example in found]


@pytest.mark.parametrize("scheme, options", schemes() + WAYS)
def test_a_replayed_run_gives_the_same_bits(scheme, options, gaussians, tmp_path):
    workers = int(options[options.index("--workers") + 1]) if "--workers" in options else 7
    run, again = tmp_path / "run.h5", tmp_path / "again.h5"
    words = ["run", "--data", gaussians, "--scheme", scheme, *options, "--trace", run]
    words += [] if "--rounds" in options else ["--rounds", 12]
    words += ["--delay", "exponential:0.003", "--step", 0.1, "--quiet"]
    done = call(*words, ranks=workers + 1)
    assert done.returncode == 0, done.stderr
    assert inspect(run)["faults"] == []
    done = call("simulate", "--replay", run, "--trace", again, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(run, "r") as first, h5py.File(again, "r") as second:
        assert second.attrs["clock"] == "replayed"
        for name in ["iterate/model", "model/final", "round/used", "round/loss_estimate"]:
            assert numpy.array_equal(first[name][:], second[name][:]), name
        for name in ["event", "worker", "task", "part", "draw", "version_oldest", "used", "uses"]:
            assert numpy.array_equal(first[f"arrival/{name}"][:], second[f"arrival/{name}"][:])


def test_a_trace_without_all_arrivals_is_not_replayed(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, "--rounds", 3, "--quiet"]
    assert call(*words, "--trace-arrivals", "used", ranks=3).returncode == 0
    assert inspect(run)["faults"] == []
    done = call("simulate", "--replay", run, "--trace", tmp_path / "again.h5")
    assert done.returncode == 2
    assert our_lines(done.stderr) == [
        f"quorate: --replay is {run}, which does not list all contributions: give a trace of "
        "--trace-arrivals all"
    ]


def test_a_trace_is_not_replayed_into_itself(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, "--rounds", 3, "--quiet"]
    assert call(*words, ranks=3).returncode == 0
    done = call("simulate", "--replay", run, "--trace", run)
    assert done.returncode == 2
    assert "which is the trace that is replayed" in done.stderr
    assert inspect(run)["rounds_done"] == 3


@pytest.mark.launcher
def test_a_byzantine_worker_that_nobody_tolerates_is_seen_where_it_can_be(gaussians, tmp_path):
    words = ["--data", gaussians, "--rounds", 3, "--quiet", "--trace", tmp_path / "t.h5"]
    done = call("run", *words, "--byzantine", "nan:1", ranks=4)
    assert done.returncode == 1
    assert "the estimate of round 1 is not finite" in done.stderr
    draco = ["--scheme", "draco-repetition", "--stragglers", 0]
    done = call("run", *words, *draco, "--byzantine", "random:0,1", ranks=4)
    assert done.returncode == 1
    assert "no 2 answers of group 0 are equal" in done.stderr


@pytest.mark.parametrize("model", ["logistic", "softmax", "mlp"])
def test_bits_do_not_depend_on_where_rows_begin(model, tmp_path):
    data, run, again = (tmp_path / f"{name}.h5" for name in ("data", "run", "again"))
    size = ["--rows", 203, "--columns", 13, "--test-rows", 41]
    assert call("generate", *size, "--output", data, "--quiet").returncode == 0
    words = ["--scheme", "cyclic", "--stragglers", 2, "--rounds", 5, "--step", 0.1, "--quiet"]
    words += ["--data", data, "--model", model, "--trace", run]
    assert call("run", *words, ranks=8).returncode == 0
    words = ["--replay", run, "--trace", again, "--quiet"]
    assert call("simulate", *words).returncode == 0
    with h5py.File(run, "r") as first, h5py.File(again, "r") as second:
        for name in ["iterate/model", "model/final", "round/loss_estimate"]:
            assert numpy.array_equal(first[name][:], second[name][:]), name


def test_row_time_and_slowdown_pad_the_computation(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, "--rounds", 5, "--quiet"]
    words += ["--row-time", 1e-4, "--slowdown", "fixed:3,1", "--evaluate-every", 0]
    assert call(*words, ranks=4).returncode == 0
    with h5py.File(run, "r") as trace:
        worker, rows = trace["arrival/worker"][:], trace["arrival/samples"][:]
        compute = trace["arrival/compute"][:]
    least = rows * 1e-4 * numpy.where(worker == 1, 3, 1)
    assert numpy.all(compute >= least * 0.999)


def test_a_worker_that_drew_no_partition_answers(gaussians, tmp_path):
    run = tmp_path / "run.h5"
    words = ["run", "--data", gaussians, "--trace", run, "--rounds", 5, "--quiet"]
    words += ["--scheme", "stochastic", "--degree", 1]
    assert call(*words, ranks=9).returncode == 0
    with h5py.File(run, "r") as trace:
        idle = trace["arrival/samples"][:] == 0
        assert idle.any()
        assert numpy.array_equal(trace["arrival/version"][:], trace["arrival/version_oldest"][:])
        assert (trace["arrival/version"][:] >= 0).all()
