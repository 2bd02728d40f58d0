# SPDX-License-Identifier: BSD-2-Clause
"""Runs over MPI: what they compute, what they wait for, what they leave behind."""

import os
import random
import re
import signal

import h5py
import numpy
import pytest

from program import (
    LAUNCHER,
    OPEN_MPI,
    Job,
    attributes_of,
    call,
    command_line,
    inspect,
    rounds_in,
    start,
    wait_until,
)


def run(data, trace, *words, workers=4, ranks=None, quiet=True):
    """A run that must succeed, on threads or these ranks; gives what it printed."""
    options = [*words, *(["--quiet"] if quiet else []), *([] if ranks else ["--workers", workers])]
    done = call("run", "--data", data, "--trace", trace, "--overwrite", *options, ranks=ranks)
    assert done.returncode == 0, done.stderr
    return done.stdout


def final_model(trace):
    with h5py.File(trace, "r") as file:
        return file["model/final"][:]


def column(trace, name):
    with h5py.File(trace, "r") as file:
        return file[name][:]


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """401 rows of 20 entries in 5000 columns: every worker touches a part of them only."""
    folder = tmp_path_factory.mktemp("sparse")
    numbers = random.Random(1)
    lines = []
    for row in range(401):
        label = numbers.choice(["+1", "-1"])
        centre = 12 * row  # neighbours share columns
        indices = sorted(numbers.sample(range(max(1, centre - 60), centre + 61), 20))
        lines.append(" ".join([label, *[f"{i}:{numbers.uniform(-1, 1):.4f}" for i in indices]]))
    (folder / "x.svm").write_text("\n".join(lines) + "\n")
    output = folder / "sparse.h5"
    words = ["--input", folder / "x.svm", "--output", output, "--columns", 5000]
    done = call("import", *words, "--test-fraction", 0.2)
    assert done.returncode == 0, done.stderr
    return output


# --- what is computed -----------------------------------------------------------------------------


def reference(data, rounds, step):
    """Gradient descent on the logistic loss, in NumPy."""
    with h5py.File(data, "r") as file:
        x, y = file["train/values"][:], file["train/label"][:]
    l2, w = 1 / len(y), numpy.zeros(x.shape[1])
    for _ in range(rounds):
        gradient = x.T @ (-y / (1 + numpy.exp(y * (x @ w))))
        w = (1 - 2 * l2 * step) * w - step * gradient / len(y)
    return w


@pytest.mark.parametrize("ranks", [2, 3, 5, pytest.param(9, marks=pytest.mark.launcher)])
def test_any_number_of_workers_gives_the_serial_gradient_descent(gaussians, tmp_path, ranks):
    trace = tmp_path / "t.h5"
    run(gaussians, trace, "--rounds", 20, "--optimizer", "gd", "--step", 0.2, ranks=ranks)
    wanted = reference(gaussians, 20, 0.2)
    assert numpy.abs(final_model(trace) - wanted).max() < 1e-12 * numpy.abs(wanted).max() * 10
    found = inspect(trace)
    assert found["faults"] == []
    assert found["workers"] == ranks - 1
    assert found["rounds_done"] == 20 and found["status"] == "completed"


def test_uncoded_and_frc_give_the_same_model_and_agc_of_all_is_frc(sparse, tmp_path):
    models = {}
    for name, words in {
        "uncoded": ["--scheme", "uncoded"],
        "frc": ["--scheme", "frc", "--stragglers", 2],
        "agc": ["--scheme", "agc", "--stragglers", 2, "--collect", 6],
    }.items():
        trace = tmp_path / f"{name}.h5"
        common = ["--rounds", 30, "--step", 2, "--optimizer", "agd"]
        run(sparse, trace, *words, *common, "--delay", "exponential:0.002", workers=6)
        models[name] = final_model(trace)
    scale = numpy.abs(models["uncoded"]).max()
    assert scale > 0.01
    assert numpy.abs(models["uncoded"] - models["frc"]).max() <= 1e-12 * scale
    assert (models["agc"] == models["frc"]).all()


@pytest.mark.parametrize("scheme", [["uncoded"], ["frc", "--stragglers", 1]])
def test_who_straggles_changes_no_bit_of_an_exact_scheme(sparse, tmp_path, scheme):
    models = []
    for seed in (1, 2):
        trace = tmp_path / f"{seed}.h5"
        delay = ["--delay", "exponential:0.005", "--seed", seed]
        run(sparse, trace, "--scheme", *scheme, "--rounds", 15, *delay)
        models.append(final_model(trace))
    assert (models[0] == models[1]).all()


def test_an_approximate_round_says_what_it_left_out(sparse, tmp_path):
    trace = tmp_path / "t.h5"
    agc = ["--scheme", "agc", "--stragglers", 1, "--collect", 2]
    run(sparse, trace, *agc, "--rounds", 12, "--delay", "exponential:0.02", workers=6)
    used, erased = column(trace, "round/used"), column(trace, "round/erased")
    assert ((used >= 1) & (used <= 2)).all()
    assert (used + erased == 6).all()
    # 6 workers, d = 2: groups that answered get weight 3 / their number, the others 0.
    wanted = 2 * (used * (3 / used - 1) ** 2 + (3 - used))
    assert numpy.allclose(column(trace, "round/decode_error"), wanted)
    assert inspect(trace)["faults"] == []


# --- what is waited for ---------------------------------------------------------------------------


def needed(scheme, draws):
    """Seconds until the quorum of a round, if nothing but the delays takes time."""
    order = numpy.argsort(draws)
    if scheme == "uncoded":
        return draws[order[-1]]
    groups = set()
    for answers, worker in enumerate(order, start=1):
        groups.add(worker // 2)
        if len(groups) == 4 or (scheme == "agc" and answers == 3):
            return draws[worker]


@pytest.mark.parametrize(
    "how, scheme",
    [
        ("run", "uncoded"),
        ("run", "frc"),
        pytest.param("run", "agc", marks=pytest.mark.launcher),
        ("simulate", "uncoded"),
        ("simulate", "frc"),
        ("simulate", "agc"),
    ],
)
def test_a_round_takes_the_delays_of_its_quorum_and_no_more(gaussians, tmp_path, how, scheme):
    trace, rounds = tmp_path / "t.h5", 3
    extra = {"uncoded": [], "frc": ["--stragglers", 1], "agc": ["--stragglers", 1, "--collect", 3]}
    words = ["--scheme", scheme, *extra[scheme], "--rounds", rounds, "--delay", "erasurehead"]
    if how == "run":
        run(gaussians, trace, *words, ranks=9)
    else:
        words += ["--data", gaussians, "--workers", 8, "--quiet", "--trace", trace]
        assert call("simulate", *words).returncode == 0
    draws = [numpy.random.RandomState(i).exponential(0.5, 8) for i in range(rounds)]
    ideal = sum(needed(scheme, one) for one in draws)
    took = column(trace, "round/time")[-1]
    # The clock of a simulation has nothing else to count.
    assert took == pytest.approx(ideal) if how == "simulate" else took >= ideal * 0.999
    with h5py.File(trace, "r") as file:
        arrival = {name: file["arrival"][name][:] for name in ("worker", "draw", "delay", "used")}
    for worker, draw, delay in zip(arrival["worker"], arrival["draw"], arrival["delay"]):
        assert delay == pytest.approx(draws[draw][worker], abs=1e-6)


@pytest.mark.launcher
def test_standby_ranks_take_no_part(gaussians, tmp_path):
    with_standby, without = tmp_path / "a.h5", tmp_path / "b.h5"
    run(gaussians, with_standby, "--workers", 3, "--rounds", 10, ranks=6)
    run(gaussians, without, "--rounds", 10, ranks=4)
    assert (final_model(with_standby) == final_model(without)).all()
    found = inspect(with_standby)
    assert found["workers"] == 3 and found["faults"] == []
    assert list(column(with_standby, "worker/rank")) == [1, 2, 3]


# --- options --------------------------------------------------------------------------------------


def test_a_run_goes_on_from_the_final_model_of_a_trace(gaussians, tmp_path):
    whole, half, rest = tmp_path / "whole.h5", tmp_path / "half.h5", tmp_path / "rest.h5"
    words = ["--optimizer", "gd"]
    run(gaussians, whole, "--rounds", 10, *words)
    run(gaussians, half, "--rounds", 5, *words)
    run(gaussians, rest, "--rounds", 5, "--init", half, *words)
    assert (final_model(whole) == final_model(rest)).all()


def test_a_normal_initial_model_has_its_deviation_and_depends_on_the_seed(gaussians, tmp_path):
    models = {}
    for seed in (1, 2):
        for again in ("a", "b"):
            trace = tmp_path / f"{seed}{again}.h5"
            words = ["--init", "normal:0.5", "--seed", seed, "--step", 0, "--rounds", 1]
            run(gaussians, trace, *words, workers=1)
            models[seed, again] = final_model(trace)
    assert (models[1, "a"] == models[1, "b"]).all()
    assert (models[1, "a"] != models[2, "a"]).all()
    assert 0.1 < models[1, "a"].std() < 1.2  # 12 numbers of deviation 0.5


@pytest.mark.parametrize(
    "every, rounds", [(1, [1, 2, 3, 4, 5, 6, 7]), (3, [3, 6, 7]), (7, [7]), (100, [7]), (0, [])]
)
def test_every_so_many_rounds_and_the_last_are_evaluated(gaussians, tmp_path, every, rounds):
    trace = tmp_path / "t.h5"
    run(gaussians, trace, "--rounds", 7, "--evaluate-every", every, workers=2)
    assert list(column(trace, "evaluation/round")) == rounds
    times = column(trace, "round/time")
    assert list(column(trace, "evaluation/time")) == [times[r - 1] for r in rounds]


@pytest.mark.parametrize("optimizer", ["gd", "agd", "agd-eh"])
def test_an_evaluation_is_of_the_model_after_its_round(gaussians, tmp_path, optimizer):
    trace = tmp_path / "t.h5"
    run(gaussians, trace, "--rounds", 6, "--step", 0.2, "--optimizer", optimizer, workers=3)
    with h5py.File(gaussians, "r") as file:
        x, y = file["train/values"][:], file["train/label"][:]
        test_x, test_y = file["test/values"][:], file["test/label"][:]
    w = final_model(trace)
    with h5py.File(trace, "r") as file:
        last = {name: values[-1] for name, values in file["evaluation"].items()}
    loss = numpy.log1p(numpy.exp(-y * (x @ w))).mean()
    assert last["train_loss"] == pytest.approx(loss, rel=1e-12)
    assert last["objective"] == pytest.approx(loss + w @ w / len(y), rel=1e-12)
    scores = test_x @ w
    test_loss = numpy.log1p(numpy.exp(-test_y * scores)).mean()
    assert last["test_loss"] == pytest.approx(test_loss, rel=1e-12)
    assert last["accuracy"] == pytest.approx(((scores > 0) == (test_y > 0)).mean())
    pairs = scores[test_y > 0][:, None] - scores[test_y < 0][None, :]
    assert last["auc"] == pytest.approx((pairs > 0).mean() + (pairs == 0).mean() / 2)


def test_log_workers_prints_a_line_for_each_contribution(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    out = run(gaussians, trace, "--rounds", 5, "--log", "workers", workers=3)
    lines = [line for line in out.splitlines() if line.startswith("round ")]
    assert len(lines) == 15 == len(column(trace, "arrival/worker"))
    assert all(" compute " in line and line.endswith(", used") for line in lines)


def test_what_is_printed_names_objective_scheme_and_result(gaussians, tmp_path):
    out = run(gaussians, tmp_path / "t.h5", "--rounds", 5, "--step", 1, workers=3, quiet=False)
    for part in (
        "203 x 12 training rows, 41 test rows",
        "logistic, l2 0.00492610837",
        "uncoded, 3 workers, 0 s a row, seed 0",
        "agd, step 1, 5 rounds, init zero",
        "5 rounds in ",
        "round 5: training loss ",
    ):
        assert part in out


def test_a_trace_is_replaced_by_the_next(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    run(gaussians, trace, "--rounds", 9, workers=2)
    run(gaussians, trace, "--rounds", 4, workers=2)
    assert inspect(trace)["rounds_done"] == 4


# --- the wire -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", [["uncoded"], ["frc", "--stragglers", 1]])
def test_a_round_sends_what_the_supports_require(sparse, tmp_path, scheme):
    trace = tmp_path / "t.h5"
    run(sparse, trace, "--scheme", *scheme, "--rounds", 10)
    found = inspect(trace)
    assert found["faults"] == []
    one_way = found["bytes_of_supports_one_way"]
    assert one_way < 0.9 * 8 * found["columns"] * found["workers"]  # or the test says nothing
    assert found["bytes_sent_per_round"] <= 1.1 * one_way
    assert found["bytes_received_per_round"] <= 1.1 * one_way


@pytest.mark.launcher
def test_long_messages_arrive_whole(tmp_path):
    data, trace, simulated = (tmp_path / f"{name}.h5" for name in ("data", "run", "simulated"))
    size = ["--rows", 6, "--columns", 200000, "--test-rows", 0]  # 1.6 MB a message
    assert call("generate", *size, "--output", data, "--quiet").returncode == 0
    words = ["--rounds", 5, "--step", 0.01, "--evaluate-every", 0]
    run(data, trace, *words, ranks=4)
    words = ["simulate", "--data", data, "--workers", 3, *words, "--trace", simulated, "--quiet"]
    assert call(*words).returncode == 0
    assert (final_model(trace) == final_model(simulated)).all()


# --- the end --------------------------------------------------------------------------------------


# By itself Open MPI's launcher kills its ranks 1 s after a SIGTERM. Loaded cores take longer.
PATIENT = {"OMPI_MCA_odls_base_sigkill_timeout": "6"} if OPEN_MPI else None


def endless(data, trace, *words, ranks=5):
    common = ["--data", data, "--trace", trace, "--rounds", 1000000, "--quiet"]
    return start("run", *common, *words, ranks=ranks, env=PATIENT)


@pytest.mark.launcher
def test_sigterm_to_the_launcher_closes_the_trace_as_interrupted(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    job = endless(gaussians, trace, "--delay", "exponential:0.01")
    wait_until(lambda: rounds_in(trace) > 0)
    job.process.send_signal(signal.SIGTERM)
    done = job.wait(30)
    # After a signal of its own hydra sometimes forgets what its ranks returned, and Open MPI says
    # that it was killed: the trace is what tells. The next test has the rank's own status.
    assert OPEN_MPI or done.returncode in (0, 75)
    found = inspect(trace)
    assert found["status"] == "interrupted" and found["rounds_done"] > 0
    assert found["faults"] == []
    assert len(final_model(trace)) == 12


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.launcher)]
)
def test_a_signal_to_the_coordinator_ends_the_run_in_order(gaussians, tmp_path, number):
    trace = tmp_path / "t.h5"
    job = endless(gaussians, trace, "--delay", "exponential:0.01")
    wait_until(lambda: rounds_in(trace) > 0)
    os.kill(job.rank(0), number)
    done = job.wait(30)
    assert done.returncode == 75
    assert "interrupted after round" in done.stderr
    assert inspect(trace)["status"] == "interrupted"


@pytest.mark.launcher
def test_the_end_does_not_wait_for_stragglers(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    job = endless(gaussians, trace, "--delay", "constant:60")
    wait_until(trace.exists)
    wait_until(lambda: job.rank(0))
    job.process.send_signal(signal.SIGTERM)
    job.wait(30)
    found = inspect(trace)
    assert found["status"] == "interrupted" and found["rounds_done"] == 0


@pytest.mark.launcher
def test_a_straggler_at_the_last_round_does_not_delay_the_end(gaussians, tmp_path):
    # Of 8 workers one answers at once. A run that waited for the others would exceed its limit.
    delay = "fixed:1000," + ",".join(map(str, range(1, 8)))
    agc = ["--scheme", "agc", "--stragglers", 7, "--collect", 1]
    run(gaussians, tmp_path / "t.h5", *agc, "--rounds", 1, "--delay", delay, ranks=9)


@pytest.mark.launcher
def test_what_kill_9_leaves_is_a_trace_that_opens(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    job = endless(gaussians, trace, "--delay", "exponential:0.005")
    wait_until(lambda: rounds_in(trace) > 20)
    job.kill()
    job.wait(30)
    with h5py.File(trace, "r") as file:
        assert attributes_of(file)["status"] == "running"
        assert file["round/time"].shape[0] > 20
        assert file["iterate/model"].shape[1] == 12
    found = inspect(trace)
    assert found["status"] == "running" and found["rounds_done"] > 20


def test_verbose_says_more_on_each_rank_and_quiet_less(gaussians, tmp_path):
    words = ["run", "--data", gaussians, "--rounds", 20, "--trace", tmp_path / "t.h5"]
    words += ["--overwrite", "--events", "5r leave 1"]
    usual = call(*words, ranks=4)
    verbose = call(*words, "--verbose", "--checkpoint", tmp_path / "c.h5", ranks=4)
    quiet = call(*words, "--quiet", ranks=4)
    for done in (usual, verbose, quiet):
        assert done.returncode == 0, done.stderr
    note = "quorate: worker 1 on"
    assert note in usual.stderr and note in verbose.stderr and note not in quiet.stderr
    for rank in (1, 2, 3):
        assert re.search(
            rf"^quorate\[rank {rank} of 4\]: worker . on .* rows", verbose.stderr, re.M
        )
    assert "[rank" not in usual.stderr
    done = call(*words, "--quiet", "--verbose", ranks=4)
    assert done.returncode == 2 and "say the opposite" in done.stderr


# --- real data ------------------------------------------------------------------------------------

# Training loss, test loss and AUC after so many rounds, with exact gradients, from the model 0.
# They were computed without this program, on the 26,190 training and 17,280 test rows that the
# public programs of gradient coding use.
TRAJECTORIES = {
    "gd": {
        1: (0.5466, 0.5541, 0.5204),
        10: (0.1932, 0.2007, 0.7153),
        20: (0.1743, 0.1858, 0.7805),
        50: (0.1460, 0.1679, 0.8327),
        100: (0.1217, 0.1558, 0.8577),
    },
    "agd-eh": {
        1: (0.5466, 0.5541, 0.5204),
        10: (0.1826, 0.1938, 0.7556),
        20: (0.1383, 0.1638, 0.8418),
        50: (0.0726, 0.1434, 0.8791),
        100: (0.0397, 0.1428, 0.8826),
    },
    "agd": {
        1: (0.5466, 0.5541, 0.5204),
        10: (0.1754, 0.1864, 0.7793),
        20: (0.1359, 0.1623, 0.8416),
        50: (0.0732, 0.1432, 0.8785),
        100: (0.0401, 0.1429, 0.8828),
    },
}


@pytest.mark.parametrize("optimizer", TRAJECTORIES)
def test_amazon_follows_the_reference_trajectory(amazon, tmp_path, optimizer):
    trace = tmp_path / "t.h5"
    words = ["--optimizer", optimizer, "--step", 10, "--rounds", 100, "--evaluate-every", 10]
    run(amazon, trace, *words, workers=4)
    first = tmp_path / "first.h5"
    run(amazon, first, "--optimizer", optimizer, "--step", 10, "--rounds", 1, workers=4)
    scored = {}
    for path in (trace, first):
        with h5py.File(path, "r") as file:
            rows = file["evaluation"]
            for i, number in enumerate(rows["round"][:]):
                scored[number] = [rows[name][i] for name in ("train_loss", "test_loss", "auc")]
    for number, wanted in TRAJECTORIES[optimizer].items():
        assert scored[number] == pytest.approx(wanted, abs=2e-3), f"round {number}"


@pytest.mark.launcher
def test_workers_of_one_host_are_no_neighbours(gaussians, tmp_path):
    words = ["--data", gaussians, "--rounds", 5, "--step", 0.1, "--quiet", "--scheme", "frc"]
    assert call("run", *words, "--trace", tmp_path / "one.h5", ranks=7).returncode == 0
    # Ranks 1 to 3 are on one node, 4 to 6 on another.
    program = command_line(["run", *words, "--trace", tmp_path / "two.h5"])
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    script = f'SLURMD_NODENAME=node$(({rank} / 4)) exec "$0" "$@"'
    launch = [*LAUNCHER, "-n", "7", "sh", "-c", script, *program]
    done = Job(launch, None).wait()
    assert done.returncode == 0, done.stderr
    assert inspect(tmp_path / "two.h5")["faults"] == []
    assert list(column(tmp_path / "two.h5", "worker/rank")) == [1, 4, 2, 5, 3, 6]
    assert list(column(tmp_path / "two.h5", "worker/node")) == [0, 1] * 3
    with h5py.File(tmp_path / "two.h5", "r") as trace:
        assert attributes_of(trace)["nodes"] == "node0 node1"
    one, two = final_model(tmp_path / "one.h5"), final_model(tmp_path / "two.h5")
    assert numpy.array_equal(one, two)
