# SPDX-License-Identifier: BSD-2-Clause
"""Runs under the virtual clock: what they compute, what they cost, what they refuse."""

import os
import re
import signal
import subprocess

import h5py
import numpy
import pytest

from program import QUORATE, attributes_of, call, environment, inspect, rounds_in, start, wait_until


def simulate(trace, *words):
    done = call("simulate", "--trace", trace, "--overwrite", "--quiet", *words)
    assert done.returncode == 0, done.stderr
    assert inspect(trace)["faults"] == []
    with h5py.File(trace, "r") as file:
        return {
            "model": file["model/final"][:],
            "iterates": file["iterate/model"][:],
            "time": file["round/time"][:],
            "error": file["round/decode_error"][:],
            "loss": file["evaluation/train_loss"][:],
        }


def refused(folder, *words):
    """A call that must fail, leaving nothing; gives its one line."""
    trace = folder / "refused.h5"
    done = call("simulate", "--trace", trace, *words)
    assert done.returncode == 2, done
    assert done.stderr.count("\n") == 1, done.stderr
    assert not trace.exists()
    return done.stderr.strip().removeprefix("quorate: ")


@pytest.mark.parametrize("kind", ["random", "sign-flip", "nan"])
def test_tolerated_byzantine_workers_change_nothing(kind, gaussians, tmp_path):
    words = ["--data", gaussians, "--workers", 12, "--stragglers", 0, "--rounds", 10]
    words += ["--step", 0.1, "--delay", "exponential:1"]
    repetition = [*words, "--scheme", "draco-repetition"]
    honest = simulate(tmp_path / "honest.h5", *repetition)["iterates"]
    for byzantine in ["0", "1,4,8,11"]:  # one in a group
        got = simulate(tmp_path / "t.h5", *repetition, "--byzantine", f"{kind}:{byzantine}")[
            "iterates"
        ]
        assert numpy.array_equal(got, honest)
    cyclic = [*words, "--scheme", "draco-cyclic", "--tolerate", 4]
    for byzantine in ["0", "1,4,8,11", "3,4,5"]:
        got = simulate(tmp_path / "t.h5", *cyclic, "--byzantine", f"{kind}:{byzantine}")["iterates"]
        assert numpy.abs(got - honest).max() <= 1e-9


def test_ignore_of_nobody_is_uncoded_and_agc_of_all_is_frc(gaussians, tmp_path):
    words = ["--data", gaussians, "--workers", 12, "--rounds", 10, "--delay", "exponential:1"]
    words += ["--optimizer", "gd", "--step", 0.5]
    for one, other in [
        (["uncoded"], ["ignore", "--stragglers", 0]),
        (["frc", "--stragglers", 2], ["agc", "--stragglers", 2, "--collect", 12]),
        (["frc"], ["block", "--inside", 1, "--outside", 0, "--collect", 12]),
    ]:
        a = simulate(tmp_path / "a.h5", *words, "--scheme", *one)["iterates"]
        b = simulate(tmp_path / "b.h5", *words, "--scheme", *other)["iterates"]
        if one == ["frc"]:  # which replica is used differs, and least squares may use both
            assert numpy.abs(a - b).max() <= 1e-12
        else:
            assert numpy.array_equal(a, b)


@pytest.mark.parametrize("k", [0, 5])
def test_an_adaptive_deadline_of_all_workers_is_uncoded(k, gaussians, tmp_path):
    words = ["--data", gaussians, "--workers", 12, "--rounds", 10, "--delay", "pareto:0.1,1.5"]
    words += ["--optimizer", "gd", "--step", 0.1]
    simulate(tmp_path / "u.h5", *words, "--scheme", "uncoded")
    adaptive = [*words, "--scheme", "ignore", "--deadline", f"adaptive:12,{k}"]
    simulate(tmp_path / "a.h5", *adaptive)
    with h5py.File(tmp_path / "u.h5") as one, h5py.File(tmp_path / "a.h5") as other:
        assert numpy.array_equal(one["model/final"][:], other["model/final"][:])
        assert numpy.array_equal(one["round/time"][:], other["round/time"][:])


def test_the_noise_floor_of_agc_sinks_with_the_answers(gaussians, tmp_path):
    words = ["--data", gaussians, "--workers", 12, "--rounds", 300, "--step", 0.5]
    words += ["--scheme", "agc", "--stragglers", 2, "--delay", "exponential:1"]
    best = simulate(tmp_path / "t.h5", *words, "--collect", 12)["loss"][-1]
    floors = [
        (simulate(tmp_path / "t.h5", *words, "--collect", m)["loss"][200:] - best).mean()
        for m in (2, 4, 6, 9)
    ]
    assert floors == sorted(floors, reverse=True)


def test_a_row_time_is_taken_from_a_trace(gaussians, tmp_path):
    words = ["--data", gaussians, "--workers", 4, "--rounds", 3]
    simulate(tmp_path / "a.h5", *words, "--row-time", 0.25)
    simulate(tmp_path / "b.h5", *words, "--row-time", tmp_path / "a.h5")
    with h5py.File(tmp_path / "b.h5", "r") as trace:
        assert attributes_of(trace)["row_time"] == 0.25
        assert attributes_of(trace)["clock"] == "virtual"


def test_delays_are_replayed_from_a_trace_and_from_csv(gaussians, tmp_path):
    words = ["--data", gaussians, "--workers", 3, "--rounds", 4]
    simulate(tmp_path / "a.h5", *words, "--delay", "exponential:1")
    one = simulate(tmp_path / "b.h5", *words, "--delay", f"trace:{tmp_path / 'a.h5'}")
    with h5py.File(tmp_path / "a.h5", "r") as trace:
        assert numpy.allclose(trace["round/time"][:], one["time"], rtol=1e-12)
    rows = [f"{w},{r},{w + 10 * r}" for w in range(3) for r in range(4)]
    (tmp_path / "x.csv").write_text("worker,round,seconds\n" + "\n".join(rows) + "\n")
    one = simulate(tmp_path / "c.h5", *words, "--delay", f"trace:{tmp_path / 'x.csv'}")
    assert numpy.allclose(one["time"], numpy.cumsum([2, 12, 22, 32]))


def test_recorded_times_follow_the_load_as_told(tmp_path):
    # Recorded at half the load.
    times = tmp_path / "x.csv"
    times.write_text("worker,round,seconds,load\n0,0,3,0.5\n1,0,3,0.5\n")
    words = ["--dry", "--workers", 2, "--rounds", 1, "--delay", f"trace:{times}"]
    for slope, seconds in [("recorded", 3), ("0", 3), ("4", 5), ("500ms", 3.25)]:
        trace = simulate(
            tmp_path / f"{slope}.h5",
            *words,
            "--load-slope",
            slope,
            "--scheme",
            "frc",
            "--stragglers",
            1,
        )
        assert trace["time"][-1] == pytest.approx(seconds), slope
    assert "--load-slope is fast: give seconds" in refused(tmp_path, *words, "--load-slope", "fast")
    words = ["--dry", "--workers", 2, "--delay", "exponential:1", "--load-slope", 1]
    assert "but only recorded delays have a load" in refused(tmp_path, *words)


@pytest.mark.parametrize(
    "rows, message",
    [
        ("0,0,1\n0,1,2\n1,0,1", "holds no time of worker 1 in round 1: give each worker's time in"),
        ("0,0,-1\n1,0,1", ":2:5: seconds is -1: give a finite number of at least 0"),
        ("0,0,1\n1,0,inf", ":3:5: seconds is inf: give a finite number of at least 0"),
        ("0,0,nan\n1,0,1", ":2:5: seconds is nan: give a finite number of at least 0"),
        (
            "0,0,1",
            "holds times of 1 workers, but there are 2: use --workers 1 or fewer, or times of",
        ),
        ("", "holds no rows after its header: give recorded times"),
    ],
)
def test_recorded_times_that_cannot_be_replayed_are_refused(rows, message, tmp_path):
    times = tmp_path / "x.csv"
    times.write_text(f"worker,round,seconds\n{rows}\n")
    for option in ("--delay", "--slowdown"):
        words = ["--dry", "--workers", 2, "--row-time", 1, option, f"trace:{times}"]
        assert message in refused(tmp_path, *words)


def test_arrivals_are_listed_as_asked(tmp_path):
    words = ["--dry", "--quiet", "--workers", 6, "--rounds", 5, "--delay", "exponential:1"]
    words += ["--scheme", "ignore", "--stragglers", 2]
    for listed, rows in [("all", range(20, 31)), ("used", [20]), ("none", [0])]:
        trace = tmp_path / f"{listed}.h5"
        assert (
            call("simulate", *words, "--trace-arrivals", listed, "--trace", trace).returncode == 0
        )
        assert inspect(trace)["faults"] == []
        with h5py.File(trace, "r") as file:
            assert attributes_of(file)["trace_arrivals"] == listed
            used = (file["arrival/used"][:] != 0).sum()
            assert used == (20 if listed != "none" else 0)
            assert file["arrival/worker"].shape[0] in rows


WEIGHED = {
    "ignore": ["--stragglers", 2],
    "dsag": ["--collect", 3, "--subpartitions", 1],
    "k-async": ["--collect", 2],
    "frc": ["--stragglers", 1],
}


@pytest.mark.parametrize("scheme", WEIGHED)
def test_the_weights_of_the_trace_recompute_each_estimate(scheme, tmp_path):
    data, trace = tmp_path / "d.h5", tmp_path / "t.h5"
    size = ["--rows", 60, "--columns", 5, "--model", "ridge", "--test-rows", 4]
    assert call("generate", *size, "--output", data, "--quiet").returncode == 0
    words = ["--data", data, "--model", "ridge", "--workers", 6, "--scheme", scheme]
    words += [*WEIGHED[scheme], "--optimizer", "gd", "--step", 0.03, "--l2", 0, "--rounds", 12]
    words += ["--delay", "exponential:1", "--seed", 2, "--trace-weights", "--evaluate-every", 1]
    simulate(trace, *words)
    with h5py.File(data) as file:
        features = file["train/values"][:]
        labels = file["train/label"][:]
    with h5py.File(trace) as file:
        arrivals = {name: column[:] for name, column in file["arrival"].items()}
        weights = {name: column[:] for name, column in file["weight"].items()}
        models = numpy.vstack([numpy.zeros(5), file["iterate/model"][:]])
    came = dict(zip(zip(arrivals["event"], arrivals["part"]), range(len(arrivals["event"]))))
    parts = 3 if scheme == "frc" else 6  # two workers of frc have the same rows
    blocks = numpy.split(numpy.arange(60), parts)
    for one in range(12):
        estimate = numpy.zeros(5)
        for at in numpy.flatnonzero(weights["round"] == one + 1):
            arrival = came[weights["event"][at], weights["part"][at]]
            rows = blocks[arrivals["worker"][arrival] * parts // 6]
            model = models[arrivals["version"][arrival]]
            gradient = 2 * features[rows].T @ (features[rows] @ model - labels[rows])
            estimate += weights["weight"][at] * gradient
        assert models[one] - 0.03 * estimate == pytest.approx(models[one + 1], abs=1e-12)


def test_there_are_no_weights_unless_asked(tmp_path):
    simulate(tmp_path / "t.h5", "--dry", "--workers", 3, "--rounds", 2)
    with h5py.File(tmp_path / "t.h5") as file:
        assert file["weight/weight"].shape == (0,)


def test_a_dry_run_of_a_million_arrivals_lists_none(tmp_path):
    words = ["simulate", "--dry", "--quiet", "--workers", 10001, "--rounds", 100]
    assert call(*words, "--trace", tmp_path / "t.h5").returncode == 0
    with h5py.File(tmp_path / "t.h5", "r") as trace:
        assert attributes_of(trace)["trace_arrivals"] == "none"
        assert trace["arrival/worker"].shape == (0,)
        assert trace["round/time"].shape == (100,)


def test_a_signal_ends_a_simulation_and_its_trace_is_whole(tmp_path):
    trace = tmp_path / "t.h5"
    words = ["--dry", "--workers", 100, "--rounds", 10**8, "--delay", "exponential:1", "--quiet"]
    job = start("simulate", *words, "--trace", trace)
    wait_until(lambda: rounds_in(trace) > 0)
    job.process.send_signal(signal.SIGTERM)
    done = job.wait()
    assert done.returncode == 75
    assert "interrupted after round" in done.stderr
    assert inspect(trace)["status"] == "interrupted"
    assert inspect(trace)["faults"] == []
    again = call("simulate", "--replay", trace, "--dry", "--trace", tmp_path / "again.h5")
    assert again.returncode == 2


def test_simulate_refuses_what_makes_no_sense(gaussians, tmp_path):
    data = ["--data", gaussians]
    dry = ["--dry", "--workers", 4]
    for words, message in [
        (data, "quorate simulate needs --workers N, how many to simulate"),
        (
            ["--workers", 4],
            "quorate simulate needs --data FILE, or --dry to simulate times without data",
        ),
        (
            [*data, "--workers", 204],
            f"{gaussians} has 203 training rows, too few for 204 workers: use --workers 203 or "
            "fewer",
        ),
        ([*data, "--workers", 0], "--workers is 0: use at least 1"),
        (
            [*dry, *data],
            f"--data is {gaussians}, but a dry run computes nothing: leave out one of the two",
        ),
        (
            [*dry, "--model", "logistic"],
            "--model is logistic, but a dry run computes nothing: leave out one of the two",
        ),
        (
            [*data, "--workers", 4, "--rows", 9],
            "--rows is 9, but the data set says it: leave it out, or add --dry",
        ),
        ([*dry, "--latency", -1], "--latency is -1: use at least 0"),
        ([*dry, "--port", "own"], "--port is own; known: shared or separate"),
        (
            [*dry, "--row-time", "slow"],
            "--row-time is slow: give seconds a row, as 2e-6 or 2us, or a trace to take them from",
        ),
        ([*dry, "--row-time", -1], "--row-time is -1: use at least 0"),
        ([*dry, "--trace-arrivals", "1"], "--trace-arrivals is 1; known: all, used or none"),
        (
            [*dry, "--byzantine", "nan"],
            "--byzantine is nan: write KIND:WORKER,... with KIND random, sign-flip, nan, alie, ipm "
            "or mimic, the last three perhaps with =NUMBER",
        ),
        (
            [*dry, "--byzantine", "nan=2:1"],
            "--byzantine is nan=2:1, but only alie, ipm and mimic have a number: write one behind "
            "=",
        ),
        (
            [*dry, "--byzantine", "mimic=1:1"],
            "--byzantine is mimic=1:1, but mimic=1 is no honest worker: give one from 0 to 3",
        ),
        (
            [*dry, "--byzantine", "alie:1"],
            "--byzantine is alie:1, but who lies so knows what the others send, for which the "
            "coordinator must have all answers one by one: use --scheme robust; or random, "
            "sign-flip or nan",
        ),
        (
            [*dry, "--scheme", "robust", "--tolerate", 2],
            "--tolerate is 2, for which --aggregator median needs 5 answers a round, and there are "
            "4: use at most 1",
        ),
        (
            [*dry, "--scheme", "robust", "--aggregator", "krum"],
            "--tolerate is 1, for which --aggregator krum needs 5 answers a round, and there are "
            "4: use at most 0",
        ),
        (
            [*dry, "--scheme", "robust", "--pre-aggregate", "bucketing:2"],
            "--tolerate is 1, for which --aggregator median needs 5 answers a round with these "
            "buckets, and there are 4: use at most 0",
        ),
        (
            [*dry, "--scheme", "robust", "--aggregator", "centred-clipping"],
            "--aggregator is centred-clipping: write centred-clipping:TAU",
        ),
        (
            [*dry, "--scheme", "robust", "--pre-aggregate", "bucketing"],
            "--pre-aggregate is bucketing: write none, nnm or bucketing:S, with S vectors a "
            "bucket, such as bucketing:2",
        ),
        ([*dry, "--byzantine", "nan:4"], None),
        (
            [*dry, "--delay", "trace:none.csv"],
            "cannot open none.csv: No such file or directory; give a file that can be read",
        ),
        ([*dry, "--slowdown", "fixed:0.5"], None),
        (
            [*dry, "--slowdown", "fixed:2,1"],
            "--slowdown is fixed:2,1, but computing takes no time: give --row-time too",
        ),
        (
            [*dry, "--scheme", "ignore", "--adaptive", "1,1,1"],
            "--scheme is ignore, which with these options looks at gradients, but a dry run has "
            "none: leave out --dry",
        ),
    ]:
        got = refused(tmp_path, *words)
        if message:
            assert got == message
        else:
            assert got.startswith(f"--{words[-2][2:]} is {words[-1]}"), got


@pytest.mark.parametrize(
    "words",
    [
        ["uncoded", "--stragglers", 1],
        ["ignore", "--stragglers", 12],
        ["ignore", "--least-frequency", 2],
        ["frc", "--stragglers", 12],
        ["cyclic", "--stragglers", 12],
        ["cyclic", "--coefficients", "ones", "--stragglers", 4],
        ["cyclic", "--coefficients", "complex"],
        ["reed-solomon", "--partitions", 0],
        ["partial-frc", "--own", 0],
        ["partial-cyclic", "--stragglers", 12],
        ["agc", "--collect", 13],
        ["short-cyclic", "--fold", 13],
        ["bernoulli", "--degree", 0],
        ["bernoulli", "--degree", 13],
        ["block", "--groups", 13],
        ["block", "--inside", 1.5],
        ["regular", "--degree", 13],
        ["margulis"],
        ["bibd"],
        ["graph", "--copies", 5],
        ["graph", "--copies", 1],
        ["stochastic", "--degree", 0],
        ["stochastic", "--straggling", 1],
        ["stochastic", "--straggling", 0.2],
        ["stochastic", "--straggling", "0.1/0.5"],
        ["stochastic", "--straggling", "0.5,12"],
        ["stochastic", "--straggling", "0.5,1/0.2,1"],
        ["stochastic", "--straggling", "auto", "--loads", "reliable"],
        ["is-gc", "--degree", 13],
        ["nested", "--placement", "frc", "--stragglers", 4],
        ["partial", "--stragglers", 12],
        ["partial", "--messages", "prefix"],
        ["partial", "--messages", "late", "--parts", 3],
        ["partial", "--deadline", "adaptive:3,5"],
        ["ignore", "--deadline", "adaptive:3"],
        ["draco-repetition", "--tolerate", 6],
        ["frc", "--deadline", 1],
    ],
)
def test_impossible_parameters_name_valid_ones(words, tmp_path):
    got = refused(tmp_path, "--dry", "--workers", 12, "--scheme", *words)
    assert got.startswith(f"--{words[-2][2:]} is {words[-1]}" if len(words) > 1 else "--scheme is")
    assert re.search(r": (use|try|leave|write|give)|; (known|did you mean)", got), got


# --- memory ---------------------------------------------------------------------------------------


def peak_memory(*words):
    """Of a call that succeeds, in bytes."""
    job = subprocess.Popen([str(word) for word in (QUORATE, *words)], env=environment())
    _, status, usage = os.wait4(job.pid, 0)
    job.returncode = os.waitstatus_to_exitcode(status)
    assert job.returncode == 0
    return usage.ru_maxrss * 1024


def test_dense_rows_are_held_once_for_all_workers_and_for_evaluation(tmp_path):
    data, rows, columns = tmp_path / "d.h5", 20000, 500
    size = ["--rows", rows, "--columns", columns, "--test-rows", 10]
    assert call("generate", *size, "--output", data, "--quiet").returncode == 0
    words = ["simulate", "--data", data, "--workers", 8, "--rounds", 2, "--step", 0.1, "--quiet"]
    words += ["--trace", tmp_path / "t.h5", "--overwrite"]
    least = peak_memory(*words, "--evaluate-every", 0)
    coded = peak_memory(*words, "--scheme", "cyclic", "--stragglers", 3)
    assert coded < least + 0.5 * rows * columns * 8


# --- line searches --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ["--batch", 60],
            "--batch is 60, but --optimizer lbfgs compares losses of all rows: leave",
        ),
        (
            ["--scheme", "ignore"],
            "--optimizer is lbfgs, which compares exact losses of all rows, but this scheme's "
            "estimates are not exact: use --scheme frc, cyclic or uncoded",
        ),
        (["--scheme", "async"], "--optimizer is lbfgs, which compares exact losses"),
        (["--scheme", "dsag"], "--optimizer is lbfgs, which compares exact losses"),
        (
            ["--scheme", "local-average", "--local-steps", 3],
            "--optimizer is lbfgs, which compares exact losses",
        ),
        (["--clip", 1], "--clip is 1, but --optimizer lbfgs needs gradients as they are: leave"),
        (["--wire", "float"], "--wire is float, but --optimizer lbfgs compares losses to more"),
        (["--warmup", 3], "--warmup is 3, but --optimizer lbfgs finds its"),
        (["--schedule", "inverse:3"], "--schedule is inverse:3, but --optimizer lbfgs finds its"),
        (["--model", "hinge"], "--model is hinge, but --optimizer lbfgs needs a loss without a"),
        (["--memory", 0], "--memory is 0: use at least 1"),
    ],
)
def test_lbfgs_refuses_what_it_cannot_compare(words, message, gaussians, tmp_path):
    given = ["--data", gaussians, "--workers", 6, "--optimizer", "lbfgs"]
    assert refused(tmp_path, *given, *words).startswith(message)


def test_lbfgs_ends_if_its_first_loss_is_no_number(tmp_path):
    """Squares of such labels overflow, and the gradient does not."""
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i}e-100,{i}e200\n" for i in range(1, 13)))
    words = ["import", "--input", tmp_path / "d.csv", "--label", "y", "--task", "regression"]
    done = call(*words, "--output", tmp_path / "d.h5")
    assert done.returncode == 0, done.stderr
    words = ["simulate", "--data", tmp_path / "d.h5", "--model", "ridge", "--workers", 2]
    words += [
        "--optimizer",
        "lbfgs",
        "--step",
        1e-3,
        "--l2",
        0,
        "--rounds",
        9,
        "--trace",
        tmp_path / "t.h5",
    ]
    done = call(*words)
    assert done.returncode == 1
    assert "the training loss of the first round is inf, so --optimizer lbfgs" in done.stderr
    done = call(*words, "--on-divergence", "warn", "--overwrite")
    assert "the training loss of the first round is inf" in done.stderr


@pytest.mark.parametrize("aggregate", ["flat", "auto"])
def test_a_cache_that_cannot_be_held_is_refused_before_the_run(aggregate, gaussians, tmp_path):
    words = ["--data", gaussians, "--model", "mlp", "--hidden", 2 * 10**6, "--workers", 12]
    words += ["--scheme", "dsag", "--subpartitions", 16, "--aggregate", aggregate, "--step", 1]
    message = refused(tmp_path, *words)
    assert re.match(
        r"--scheme is dsag, which keeps 192 contributions, [\d.e+]+ GB at most with the points "
        r"that they hold, and there are [\d.e+]+ GB of memory: let it keep fewer",
        message,
    )


@pytest.mark.parametrize("l2", [0, 0.01])
def test_lbfgs_with_an_l1_term_ends_at_the_optimum_with_zeros(l2, gaussians, tmp_path):
    objective = ["--l1", 0.2, "--l2", l2]
    done = call("optimum", "--data", gaussians, "--model", "logistic", *objective)
    optimum = float(re.search(r"objective ([\d.e-]+)", done.stdout)[1])
    words = ["simulate", "--data", gaussians, "--workers", 6, "--scheme", "frc", "--stragglers", 1]
    words += ["--optimizer", "lbfgs", *objective, "--stop-at", "gradient=1e-6", "--quiet"]
    done = call(*words, "--rounds", 200, "--trace", tmp_path / "t.h5")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "t.h5", "r") as trace:
        assert attributes_of(trace)["stopped_at"].startswith("gradient")
        reached = trace["evaluation/objective"][-1]
        model = trace["model/final"][:]
    assert abs(reached - optimum) < 1e-9 * optimum
    assert 0 < numpy.count_nonzero(model == 0) < len(model)


def test_a_replay_does_not_skip_what_it_does_not_know(gaussians, tmp_path):
    path = tmp_path / "t.h5"
    words = ["--data", gaussians, "--workers", 3, "--rounds", 2, "--step", 0.1]
    simulate(path, *words)
    with h5py.File(path, "r+") as file:
        config = attributes_of(file)["config"]
        config = config.decode() if isinstance(config, bytes) else config
        file.attrs["config"] = config + "future-option = 7\n"
    assert "records --future-option 7, which this version" in refused(tmp_path, "--replay", path)
