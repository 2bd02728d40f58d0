# SPDX-License-Identifier: BSD-2-Clause
"""Schemes that use time, staleness or several rounds, under the virtual clock."""

import h5py
import numpy
import pytest

from program import call, inspect

# 12 workers with 100 rows each.
COMMON = {"--workers": 12, "--rounds": 20, "--step": 0.2, "--row-time": 0.01}


@pytest.fixture(scope="module")
def even(tmp_path_factory):
    """1200 rows for 12 workers: shards of equal size."""
    path = tmp_path_factory.mktemp("even") / "even.h5"
    words = ["--model", "ridge", "--rows", 1200, "--columns", 20, "--noise", 0.5, "--test-rows", 60]
    assert call("generate", *words, "--output", path, "--quiet").returncode == 0
    return path


def simulate(folder, data, scheme, *words):
    """Tables of one run, as arrays. words: options and values in turn; None: it has none."""
    trace = folder / "t.h5"
    given = {"--model": "ridge", "--trace": trace, **COMMON, **dict(zip(words[::2], words[1::2]))}
    command = [word for pair in given.items() for word in pair if word is not None]
    done = call("simulate", "--data", data, "--quiet", "--overwrite", "--scheme", scheme, *command)
    assert done.returncode == 0, done.stderr
    assert inspect(trace)["faults"] == []
    with h5py.File(trace, "r") as file:
        tables = {
            f"{t}/{c}": file[t][c][:] for t in ("round", "arrival", "evaluation") for c in file[t]
        }
        tables["iterates"] = file["iterate/model"][:]
        tables["notes"] = done.stderr
        return tables


def refused(folder, data, *words):
    done = call(
        "simulate",
        "--data",
        data,
        "--trace",
        folder / "t.h5",
        "--workers",
        12,
        "--model",
        "ridge",
        *words,
    )
    assert done.returncode == 2, done
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip().removeprefix("quorate: ")


# ---- anytime minibatch ---------------------------------------------------------------------------

DELAYS = ["none", "exponential:0.3", "niagara", "pareto:0.1,1.5", "fixed:50,3", "constant:0.2"]


@pytest.mark.parametrize("delay", DELAYS)
def test_a_round_lasts_its_compute_time_whatever_a_worker_does(even, tmp_path, delay):
    run = simulate(tmp_path, even, "amb", "--compute-time", 0.5, "--delay", delay)
    seconds = numpy.diff(run["round/time"], prepend=0)
    # Rounds in which nobody did anything last until somebody has; niagara has none here.
    assert numpy.allclose(seconds, 0.5, atol=1e-9)
    if delay == "fixed:50,3":
        asleep = run["arrival/worker"] == 3
        assert (run["arrival/samples"][asleep] == 0).all()
        assert (run["arrival/used"][asleep] == 0).all()
        assert (run["round/used"] == 11).all()


def test_the_communication_time_ends_a_round_of_silent_workers(even, tmp_path):
    words = ["--compute-time", 0.5, "--latency", 0.1, "--uplink-delay", "half-normal:0.2"]
    run = simulate(tmp_path, even, "amb", *words, "--communication-time", 0.4)
    assert numpy.diff(run["round/time"], prepend=0).max() <= 0.9 + 1e-9
    assert run["round/used"].min() < 12


def test_micro_batches_are_small_and_bound_what_is_lost(even, tmp_path):
    run = simulate(tmp_path, even, "amb", "--compute-time", 1, "--row-time", 0.001)
    # 1 % of the time is 10 rows; all but the last few of 1000 are done.
    assert (run["arrival/samples"] == 1000).all()
    run = simulate(tmp_path, even, "amb", "--compute-time", 1, "--micro-batch", 70)
    assert (run["arrival/samples"] == 70).all()


@pytest.mark.parametrize("batch", [0, 600])
def test_at_constant_speed_it_is_fmb_bit_by_bit(even, tmp_path, batch):
    rows = 50
    fixed = simulate(tmp_path, even, "fmb", "--batch", 12 * rows)
    words = ["--compute-time", 0.01 * rows, "--batch", batch, "--micro-batch", rows]
    anytime = simulate(tmp_path, even, "amb", *words)
    assert numpy.array_equal(fixed["iterates"], anytime["iterates"])
    assert numpy.array_equal(fixed["round/step_size"], anytime["round/step_size"])


def test_having_seen_every_row_once_its_estimate_is_the_gradient(even, tmp_path):
    full = simulate(tmp_path, even, "uncoded", "--rounds", 1)
    anytime = simulate(tmp_path, even, "amb", "--compute-time", 1, "--rounds", 1)
    assert anytime["round/samples"][0] == 1200
    assert numpy.allclose(full["iterates"], anytime["iterates"], rtol=1e-12, atol=1e-14)
    assert anytime["round/decode_error"][0] < 1e-25


def test_match_and_auto_choose_the_time_from_fixed_minibatches(even, tmp_path):
    common = ["--batch", 600, "--delay", "exponential:0.2", "--rounds", 400, "--probe", 100]
    match = simulate(tmp_path, even, "amb", "--compute-time", "match", *common)
    assert match["round/samples"][100:].mean() == pytest.approx(600, rel=0.05)
    assert "--compute-time" in match["notes"]
    auto = simulate(tmp_path, even, "amb", "--compute-time", "auto", *common)
    seconds = numpy.diff(auto["round/time"])[150]
    assert seconds == pytest.approx((1 + 12 / 600) * (0.2 + 0.5), rel=0.05)
    assert auto["round/samples"][100:].mean() >= 600


def test_weights_of_unequal_shards(even, tmp_path):
    words = ["--compute-time", 0.5, "--slowdown", "fixed:5,0", "--row-time", 0.01, "--rounds", 1]
    samples = simulate(tmp_path, even, "amb", *words, "--weights", "samples")
    equal = simulate(tmp_path, even, "amb", *words, "--weights", "equal")
    shard = simulate(tmp_path, even, "amb", *words, "--weights", "shard")
    # By samples the slow worker's rows count a fifth of the others'.
    assert samples["round/decode_error"][0] > 0.1
    assert equal["round/decode_error"][0] < 1e-12
    assert numpy.allclose(equal["iterates"], shard["iterates"], rtol=1e-12)
    assert not numpy.allclose(equal["iterates"], samples["iterates"], rtol=1e-6)


def test_a_round_without_anything_waits_for_the_first_micro_batch(even, tmp_path):
    words = ["--compute-time", 0.1, "--delay", "constant:0.3", "--micro-batch", 5]
    run = simulate(tmp_path, even, "amb", *words)
    # The delay is paid once: 0.3 s, then one micro-batch.
    assert numpy.allclose(numpy.diff(run["round/time"], prepend=0), 0.35)
    assert (run["round/samples"] == 5).all()
    assert "no worker finished anything within 0.1 s" in run["notes"]
    assert run["notes"].count("no worker finished") == 1


def test_a_cap_ends_a_round_before_its_time(even, tmp_path):
    # Shares of 10 rows that take 0.1 s; one worker of a sixth of the speed has done 8 in its time.
    words = ["--compute-time", 0.5, "--samples-cap", 120, "--micro-batch", 4]
    run = simulate(tmp_path, even, "amb", *words)
    assert (run["arrival/samples"] == 10).all()
    assert numpy.allclose(numpy.diff(run["round/time"], prepend=0), 0.1)
    run = simulate(tmp_path, even, "amb", *words, "--slowdown", "fixed:6,3")
    slow = run["arrival/worker"] == 3
    assert (run["arrival/samples"][slow] == 8).all() and (run["arrival/samples"][~slow] == 10).all()
    assert numpy.allclose(numpy.diff(run["round/time"], prepend=0), 0.5)


def test_a_cap_that_time_reaches_gives_the_bits_of_fmb(even, tmp_path):
    fixed = simulate(tmp_path, even, "fmb", "--batch", 600)
    words = ["--compute-time", 50, "--samples-cap", 600, "--batch", 600, "--micro-batch", 50]
    capped = simulate(tmp_path, even, "amb", *words)
    assert numpy.array_equal(fixed["iterates"], capped["iterates"])
    assert numpy.array_equal(fixed["round/time"], capped["round/time"])


def test_a_cap_of_all_rows_takes_each_once(even, tmp_path):
    full = simulate(tmp_path, even, "uncoded", "--rounds", 1)
    words = ["--compute-time", 50, "--samples-cap", 1200, "--rounds", 1]
    capped = simulate(tmp_path, even, "amb", *words)
    assert capped["round/samples"][0] == 1200 and capped["round/decode_error"][0] < 1e-25
    assert capped["round/time"][0] == pytest.approx(1)
    assert numpy.allclose(full["iterates"], capped["iterates"], rtol=1e-12, atol=1e-14)


def test_a_wait_for_the_first_micro_batch_keeps_to_the_cap(even, tmp_path):
    words = ["--compute-time", 0.1, "--delay", "constant:0.3", "--micro-batch", 5]
    run = simulate(tmp_path, even, "amb", *words, "--samples-cap", 24)
    assert (run["arrival/samples"] <= 2).all()


def test_workers_of_amb_dg_that_have_their_share_begin_again(even, tmp_path):
    words = ["--compute-time", 0.5, "--samples-cap", 120, "--micro-batch", 10]
    run = simulate(tmp_path, even, "amb-dg", *words)
    assert (run["arrival/samples"] == 10).all()
    assert numpy.allclose(numpy.diff(run["round/time"])[1:], 0.5)
    # Five epochs of 0.1 s in the time between two updates.
    assert run["round/samples"][5:].mean() == pytest.approx(600, rel=0.05)


@pytest.mark.parametrize("scheme", ["amb", "amb-dg"])
def test_a_cap_is_refused_if_it_is_none(even, tmp_path, scheme):
    words = ["--scheme", scheme, "--compute-time", 0.5, "--row-time", 0.01]
    for cap in (0, -3, 11, 1201, "many"):
        assert "--samples-cap" in refused(tmp_path, even, *words, "--samples-cap", cap)
    words[words.index(0.5)] = "auto"
    line = refused(tmp_path, even, *words, "--batch", 600, "--samples-cap", 599)
    assert "--samples-cap" in line and "have 600 samples: give --compute-time" in line


# ---- schedules -----------------------------------------------------------------------------------


def test_schedules_count_samples(even, tmp_path):
    words = ["--schedule", "inverse:10", "--batch", 600]
    run = simulate(tmp_path, even, "amb", "--compute-time", 1, *words)
    seen = numpy.concatenate([[0], numpy.cumsum(run["round/samples"])[:-1]]) / 600
    assert numpy.allclose(run["round/step_size"], 0.2 * 10 / (seen + 10))


def test_a_warm_up_and_epochs_count_samples_too(even, tmp_path):
    words = ["--warmup", 4, "--schedule", "list:1e=0.5,2e=0.1", "--batch", 600]
    run = simulate(tmp_path, even, "amb", "--compute-time", 1, *words)
    seen = numpy.concatenate([[0], numpy.cumsum(run["round/samples"])[:-1]]) / 600
    epoch = inspect(even)["train_rows"] / 600
    factor = numpy.select([seen < epoch, seen < 2 * epoch], [1, 0.5], 0.1)
    assert len(set(factor)) == 3 and (seen < 4).sum() > 1
    assert numpy.allclose(run["round/step_size"], 0.2 * factor * numpy.minimum(1, (seen + 1) / 4))


# ---- local steps ---------------------------------------------------------------------------------


def test_local_steps_on_all_rows_of_one_worker_are_gradient_descent(even, tmp_path):
    common = ["--workers", 1, "--l2", 0.01, "--optimizer", "gd"]
    descent = simulate(tmp_path, even, "uncoded", *common, "--rounds", 20)
    local = simulate(tmp_path, even, "local-average", *common, "--rounds", 4, "--local-steps", 5)
    assert numpy.allclose(descent["iterates"][4::5], local["iterates"], rtol=1e-10)


def test_local_models_are_averaged_by_the_steps_made(even, tmp_path):
    words = ["--compute-time", 1, "--batch", 120, "--slowdown", "fixed:4,0"]
    run = simulate(tmp_path, even, "anytime-sgd", *words)
    # Ten rows a step: ten steps of the fast, two of the slow.
    assert (run["arrival/samples"][run["arrival/worker"] == 0] == 2).all()
    assert (run["arrival/samples"][run["arrival/worker"] == 1] == 10).all()
    assert (run["round/samples"] == 112).all()
    assert numpy.allclose(numpy.diff(run["round/time"], prepend=0), 1)


def test_weight_decay_of_local_steps_reaches_what_a_worker_does_not_touch(tmp_path):
    # Each row has a column of its own, so that a worker touches its own columns only.
    rows, data = tmp_path / "rows.txt", tmp_path / "d.h5"
    rows.write_text("".join(f"1 {i}:1\n" for i in range(1, 5)))
    words = ["--format", "libsvm", "--task", "regression", "--shuffle", 0, "--test-fraction", 0]
    done = call("import", "--input", rows, "--output", data, "--quiet", *words)
    assert done.returncode == 0, done.stderr
    common = ["--workers", 4, "--init", "normal:1", "--rounds", 1, "--l2", 0.3]
    local = simulate(tmp_path, data, "local-average", *common, "--local-steps", 3, "--step", 0.1)
    start = simulate(tmp_path, data, "uncoded", *common, "--step", 0)["iterates"][0]
    kept = (1 - 2 * 0.3 * 0.1) ** 3
    own = start.copy()
    for _ in range(3):
        own = (1 - 2 * 0.3 * 0.1) * own - 0.1 * 2 * (own - 1)
    assert numpy.allclose(local["iterates"][0], (own + 3 * kept * start) / 4)


def test_an_outer_optimiser_takes_the_mean_displacement_as_a_gradient(even, tmp_path):
    common = ["--workers", 2, "--l2", 0.01, "--step", 0.3, "--local-steps", 4]
    step, kept = 0.7, 0.9
    outer = ["--optimizer", "momentum", "--momentum", kept, "--nesterov", None]
    outer += ["--outer-step", step]

    def displaced(*words):
        """The end of one round of plain averages."""
        words = ["--optimizer", "gd", "--rounds", 1, *words]
        return simulate(tmp_path, even, "local-average", *common, *words)["iterates"][-1]

    first = -displaced()
    one = simulate(tmp_path, even, "local-average", *common, *outer, "--rounds", 1)["iterates"][-1]
    assert numpy.allclose(one, -step * (1 + kept) * first)
    (tmp_path / "t.h5").rename(tmp_path / "one.h5")
    second = one - displaced("--init", tmp_path / "one.h5")
    memory = kept * first + second
    two = simulate(tmp_path, even, "local-average", *common, *outer, "--rounds", 2)["iterates"][-1]
    assert numpy.allclose(two, one - step * (kept * memory + second))


def test_an_inner_optimiser_makes_the_local_steps_and_keeps_its_state(even, tmp_path):
    common = ["--workers", 1, "--l2", 0, "--step", 0.05]
    steps = ["--optimizer", "adam", "--rounds", 5]
    local = ["--inner-optimizer", "adam", "--optimizer", "gd", "--local-steps", 5, "--rounds", 2]
    once = simulate(tmp_path, even, "uncoded", *common, *steps)["iterates"][-1]
    (tmp_path / "t.h5").rename(tmp_path / "once.h5")
    begin = ["--init", tmp_path / "once.h5"]
    twice = simulate(tmp_path, even, "uncoded", *common, *steps, *begin)["iterates"][-1]
    reset = ["--inner-state", "reset"]
    averages = simulate(tmp_path, even, "local-average", *common, *local, *reset)["iterates"]
    assert numpy.allclose(averages, [once, twice])
    on = simulate(tmp_path, even, "uncoded", *common, *steps, "--rounds", 10)["iterates"][-1]
    averages = simulate(tmp_path, even, "local-average", *common, *local)["iterates"]
    assert numpy.allclose(averages, [once, on]) and not numpy.allclose(on, twice)


@pytest.mark.parametrize(
    "words, told",
    [
        (["uncoded", "--inner-optimizer", "adam"], "--scheme uncoded makes no local steps"),
        (["local-average", "--inner-optimizer", "lbfgs"], "which needs exact losses of all rows"),
        (
            ["local-average", "--inner-optimizer", "adam", "--l2", 0.1],
            "the local steps of --inner-optimizer adam know no L2 term: use --l2 0, or gd",
        ),
        (["local-average", "--inner-optimizer", "adan"], "did you mean adam?"),
        (
            ["local-average", "--inner-state", "reset"],
            "--inner-optimizer gd has no state: leave it out",
        ),
    ],
)
def test_an_inner_optimiser_that_cannot_be_is_refused(even, words, told):
    common = ["--data", even, "--model", "ridge", "--workers", 2, "--rounds", 2]
    done = call("simulate", *common, "--scheme", *words)
    assert done.returncode == 2 and told in done.stderr


# ---- delayed gradients ---------------------------------------------------------------------------


def test_without_latency_delayed_gradients_are_not_delayed(even, tmp_path):
    words = ["--compute-time", 0.5, "--slowdown", "fixed:3,1,2"]
    anytime = simulate(tmp_path, even, "amb", *words)
    delayed = simulate(tmp_path, even, "amb-dg", *words)
    assert numpy.array_equal(anytime["iterates"], delayed["iterates"])
    assert numpy.allclose(anytime["round/time"], delayed["round/time"])


@pytest.mark.parametrize("trip, stale", [(0.4, 1), (0.5, 1), (1.2, 3), (2, 4), (2.3, 5)])
def test_staleness_is_that_of_the_round_trip(even, tmp_path, trip, stale):
    words = ["--compute-time", 0.5, "--latency", trip / 2, "--rounds", 40, "--step", 0.01]
    run = simulate(tmp_path, even, "amb-dg", *words)
    assert (run["round/staleness_mean"][10:] == stale).all()
    assert numpy.array_equal(run["arrival/version"], run["arrival/version_oldest"])
    assert numpy.allclose(numpy.diff(run["round/time"]), 0.5)
    # Workers wait for their first task only.
    assert run["arrival/idle"][12:].sum() == 0


def test_delayed_gradients_are_twice_as_fast_as_k_batch_async_over_slow_links(even, tmp_path):
    common = ["--delay", "exponential:0.25", "--latency", 1, "--step", 0.02, "--batch", 300]
    common += ["--evaluate-every", 1, "--row-time", 0.01]
    rival = simulate(tmp_path, even, "k-batch-async", *common, "--collect", 12, "--rounds", 200)
    run = simulate(tmp_path, even, "amb-dg", *common, "--compute-time", 0.5, "--rounds", 800)
    target = rival["evaluation/train_loss"][-1]
    reached = run["evaluation/time"][numpy.argmax(run["evaluation/train_loss"] <= target)]
    assert reached < rival["evaluation/time"][-1] / 2


# ---- asynchronous and pipelined ------------------------------------------------------------------


def test_k_async_of_all_workers_is_uncoded_bit_by_bit(even, tmp_path):
    for batch in (0, 240):
        words = ["--batch", batch, "--delay", "exponential:0.1", "--optimizer", "gd"]
        sync = simulate(tmp_path, even, "uncoded", *words)
        k_async = simulate(tmp_path, even, "k-async", "--collect", 12, *words)
        assert numpy.array_equal(sync["iterates"], k_async["iterates"])


@pytest.mark.parametrize("scheme", ["pgc-frc", "pgc-cyclic"])
def test_pipelined_with_one_partition_is_uncoded_bit_by_bit(even, tmp_path, scheme):
    uncoded = simulate(tmp_path, even, "uncoded", "--optimizer", "gd")
    pipelined = simulate(tmp_path, even, scheme, "--stragglers", 0, "--optimizer", "gd")
    assert numpy.array_equal(uncoded["iterates"], pipelined["iterates"])


def test_a_pipelined_worker_computes_as_much_as_an_uncoded_one(even, tmp_path):
    run = simulate(tmp_path, even, "pgc-frc", "--stragglers", 2)
    later = run["arrival/round"] > 5
    assert run["arrival/compute"][later].mean() == pytest.approx(1.0, rel=0.05)
    used = run["arrival/used"] > 0
    assert (run["arrival/version"] - run["arrival/version_oldest"])[used].max() == 2


def test_the_versions_of_kept_gradients_are_in_the_trace(even, tmp_path):
    simulate(tmp_path, even, "pgc-frc", "--stragglers", 2, "--delay", "exponential:0.3")
    with h5py.File(tmp_path / "t.h5", "r") as trace:
        events, oldest = trace["arrival/event"][:], trace["arrival/version_oldest"][:]
        item = {name: trace["item"][name][:] for name in trace["item"]}
    for event, version in zip(events, oldest):
        versions = item["version"][item["event"] == event]
        assert len(versions) == 3
        assert versions.min() == version


# ---- sequential ----------------------------------------------------------------------------------


def test_models_in_turn_are_a_column_of_one_trace(even, tmp_path):
    words = ["--models", 4, "--delay", "exponential:0.2", "--batch", 240]
    run = simulate(tmp_path, even, "m-sgc", "--lambda", 2, *words)
    assert numpy.array_equal(run["round/model"], numpy.arange(20) % 4)
    assert (run["round/staleness_max"] == 0).all()
    assert numpy.array_equal(run["evaluation/model"], (run["evaluation/round"] - 1) % 4)
    with h5py.File(tmp_path / "t.h5", "r") as trace:
        assert trace["model/final"].shape == (80,)


def test_one_model_is_updated_late(even, tmp_path):
    words = ["--burst", 2, "--window", 4, "--lambda", 2]
    run = simulate(tmp_path, even, "m-sgc", *words)
    # T = W - 2 + B.
    assert numpy.array_equal(run["round/staleness_max"], numpy.minimum(numpy.arange(20), 4))


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, line",
    [
        (
            ["--scheme", "amb", "--compute-time", 0.005, "--row-time", 0.01],
            "--compute-time is 0.005, but a micro-batch of 1 row takes 0.01 s: use a longer one",
        ),
        (
            ["--scheme", "amb", "--compute-time", 0.1, "--micro-batch", 20, "--row-time", 0.01],
            "--compute-time is 0.1, but a micro-batch of 20 rows takes 0.2 s: use a longer one, "
            "or a smaller --micro-batch",
        ),
        (
            ["--scheme", "amb", "--compute-time", 1],
            "--row-time is 0, but tasks of this scheme end with their time, in which any number "
            "of rows would be computed: give the seconds of a row",
        ),
        (
            ["--scheme", "amb", "--compute-time", 1, "--row-time", 0.01, "--probe", 3],
            "--probe is 3, but --compute-time is given, not chosen: leave it out",
        ),
        (
            ["--scheme", "amb", "--compute-time", "soon"],
            "--compute-time is soon: give seconds, or a time such as 50ms, 10us, 2s or 5min",
        ),
        (["--scheme", "k-sync", "--collect", 13], "--collect is 13: use at most 12"),
        (["--scheme", "k-async", "--collect", 13], "--collect is 13: use at most 12"),
        (
            ["--scheme", "k-sync", "--collect", 3, "--stragglers", 3],
            "--collect is 3, but --stragglers says it too: leave out one of the two",
        ),
        (
            ["--scheme", "m-sgc", "--burst", 2, "--window", 4, "--models", 2],
            "--models is 2, but a job is decoded 4 exchanges after its own: use --models 5 or "
            "more, or 1",
        ),
        (
            ["--scheme", "pgc-cyclic", "--stragglers", 4, "--decoder", "residue"],
            "--stragglers is 4, but stragglers + 1 = 5 does not divide the 12 workers: try "
            "--stragglers 3 or 5, or 10 or 15 workers",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(even, tmp_path, words, line):
    assert refused(tmp_path, even, *words).startswith(line)


def test_a_step_that_staleness_makes_unstable_is_warned_of(even, tmp_path):
    words = ["simulate", "--data", even, "--model", "ridge", "--workers", 12, "--rounds", 3]
    words += ["--trace", tmp_path / "t.h5", "--overwrite", "--quiet"]
    words += ["--scheme", "async", "--delay", "constant:1"]
    done = call(*words, "--step", 0.5)
    assert done.returncode == 0
    assert (
        "quorate: warning: --step 0.5 may be too large: gradients that are 11 updates old"
        in done.stderr
    )
    assert call(*words, "--step", 0.005).stderr == ""
    done = call(*words, "--step", 0.005, "--schedule", "list:2=100")
    assert "--step 0.005, with its schedule up to 0.5, may be too large" in done.stderr
    assert call(*words, "--step", 0.5, "--warmup", 300).stderr == ""
