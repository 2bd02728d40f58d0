# SPDX-License-Identifier: BSD-2-Clause
"""Advice: which scheme, by simulating them."""

import json

import pytest

from program import call, our_lines

COMMON = ["advise", "--workers", 12, "--rounds", 60]


def advice(*words):
    done = call(*COMMON, "--json", *words)
    assert done.returncode == 0, done.stderr
    return {one["scheme"]: one for one in json.loads(done.stdout)}


def test_simulated_rounds_agree_with_closed_forms():
    words = ["--delay", "exponential:0.1", "--row-time", 1e-5, "--repeat", 8]
    all_of_them = advice(*words, "--schemes", "uncoded,ignore,cyclic,frc")
    known = [one for one in all_of_them.values() if one["closed_form"] is not None]
    assert len(known) > 8
    for one in known:
        assert one["round_seconds"] == pytest.approx(one["closed_form"], rel=0.1), one["scheme"]


def test_the_order_is_that_of_the_predicted_times():
    words = ["--delay", "pareto:0.02,1.5", "--row-time", 1e-5, "--schemes", "uncoded,frc,agc"]
    ranked = list(advice(*words).values())
    times = [(-one["simulations"], one["seconds"]) for one in ranked]
    assert times == sorted(times) and len(times) > 10
    assert sum(one["fastest"] for one in ranked) == 5
    seeds = [one["simulations"] for one in ranked]
    assert seeds.count(5) >= 4 and seeds.count(1) >= len(seeds) // 3  # the better half goes on


def test_rows_of_workers_that_are_always_slow_are_not_left_out(tmp_path):
    data = tmp_path / "d.h5"
    assert call("generate", "--rows", 2000, "--columns", 6, "--output", data).returncode == 0
    words = ["advise", "--workers", 20, "--slowdown", "fixed:3,0,7", "--row-time", 1e-4]
    words += ["--delay", "gilbert-elliott:0.02,0.5,0.03", "--rounds", 40, "--repeat", 2]
    words += ["--schemes", "uncoded,ignore", "--show", 100]
    for more in [["--data", data], ["--heterogeneity", 1, "--rows", 2000], ["--rows", 2000]]:
        done = call(*words, *more)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        marked = {line.split(" ", 1)[0]: line for line in (one.strip() for one in lines)}
        (best,) = [line for line in marked.values() if line.split(" ")[0].endswith("*")]
        left = [line for line in marked.values() if line.split(" ")[0].endswith("!")]
        assert any("ignore --stragglers 4 " in line for line in left)
        assert best.split()[1:] != left[0].split()[1:]
        # Shares by speed: a third of the rows for the two that are three times as slow.
        assert "uncoded --shares 0.33,0,7 " in done.stdout
        assert "shares" in best or "reshuffle" in best
        command = [line for line in lines if line.startswith("quorate run")][-1]
        assert " ".join(best.split()[1:4]) in command
    assert "its estimates are not exact" in " ".join(done.stdout.split())
    assert "uncoded --shares" in best
    of_all = json.loads(call(*words, "--rows", 2000, "--heterogeneity", 1, "--json").stdout)
    assert [one["recommended"] for one in of_all].count(True) == 1
    slow = next(one for one in of_all if one["scheme"] == "ignore --stragglers 4")
    assert slow["least_row_weight"] < 0.1 and slow["rows_left_out"] == pytest.approx(0.1)


def test_switches_of_a_candidate_are_words_of_a_command():
    ranked = advice("--delay", "exponential:0.1", "--row-time", 1e-5, "--repeat", 1)
    name = next(one for one in ranked if "--reshuffle" in one)
    words = ["simulate", "--dry", "--workers", 12, "--rounds", 2, "--trace", "/dev/null"]
    assert "unexpected argument" not in call(*words, "--scheme", *name.split()).stderr


def test_redundancy_is_worth_its_work_only_where_workers_straggle():
    words = ["--repeat", 1, "--schemes", "uncoded,frc"]
    busy = list(advice("--delay", "constant:0.001", "--row-time", 1e-3, *words))
    late = list(advice("--delay", "gilbert-elliott:0.05,0.5,10", "--row-time", 1e-5, *words))
    assert busy.index("uncoded") < busy.index("frc --stragglers 1")
    assert late.index("frc --stragglers 1") < late.index("uncoded")


def test_heterogeneous_partitions_make_ignoring_them_dear():
    words = ["--delay", "exponential:0.05", "--row-time", 1e-5, "--schemes", "ignore"]
    alike = advice(*words, "--heterogeneity", 0)
    different = advice(*words, "--heterogeneity", 50)
    for name, one in alike.items():
        assert one["rounds"] == pytest.approx(60)
        assert different[name]["rounds"] > 60


def test_with_data_the_target_is_a_loss(gaussians):
    words = ["--data", gaussians, "--step", 0.1, "--delay", "exponential:0.05", "--repeat", 1]
    ranked = advice(*words, "--row-time", 1e-5, "--schemes", "uncoded,frc,ignore")
    assert ranked["uncoded"]["rounds"] == pytest.approx(60)
    assert ranked["frc --stragglers 1"]["rounds"] == pytest.approx(60)
    done = call(*COMMON, *words, "--target-loss", 1e-9, "--schemes", "uncoded")
    assert done.returncode == 2
    assert "no candidate reaches the target in 120 rounds" in done.stderr


def test_with_data_many_stale_updates_are_compared_too(gaussians):
    words = ["--data", gaussians, "--step", 0.1, "--delay", "exponential:0.05", "--repeat", 1]
    words += ["--optimizer", "gd"]
    ranked = advice(*words, "--row-time", 1e-5, "--schemes", "uncoded,async,ringleader,dsag")
    steps = {"uncoded": {1.0}}
    for name, one in ranked.items():
        if " --step " in name:
            share = float(name.split("--step ")[1]) / 0.1
            steps.setdefault(name.split()[0], set()).add(share)
            assert one["seconds"] is not None
    # Gradients of async are 11 updates old: 2 sin(pi / 46), half of it and all of it.
    assert sorted(steps["async"]) == pytest.approx([0.0682, 0.136], rel=0.01)
    assert all(max(found) <= 1 for found in steps.values())
    # Nobody waits: updates come a task's mean time over the workers apart.
    for name, one in ranked.items():
        if name.startswith("async"):
            assert one["closed_form"] == pytest.approx(one["round_seconds"], rel=0.1)
            assert one["rounds"] > 60
    best = next(name for name in ranked if name.startswith("async"))
    done = call(*COMMON, *words, "--row-time", 1e-5, "--schemes", "async")
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"quorate run --scheme {best} --data") and "--rounds 720" in last


def test_numbers_that_are_too_large_for_a_step_are_refused(tmp_path):
    rows = tmp_path / "large.svm"
    rows.write_text("".join(f"{i % 2} 1:1e200 2:{i}\n" for i in range(40)))
    data = tmp_path / "large.h5"
    assert call("import", "--input", rows, "--output", data).returncode == 0
    done = call("advise", "--data", data, "--workers", 4)
    assert done.returncode == 2 and "no step follows" in done.stderr
    assert len(our_lines(done.stderr)) == 1


def test_without_data_they_are_named_and_left_out():
    words = ["--delay", "exponential:0.05", "--row-time", 1e-5, "--repeat", 1]
    done = call(*COMMON, *words, "--show", 100)
    assert done.returncode == 0
    names = done.stdout.split("with --data only:")[1].split("quorate run")[0]
    found = {name.strip() for name in names.split(",")}
    stale = ["k-async", "k-batch-async", "async", "ringmaster", "ringleader", "ia2sgd", "dsag"]
    assert found == set(stale)
    ranked = advice(*words)
    assert {name.split()[0] for name in ranked} >= {"malenia", "mindflayer", "amb-dg", "ata"}
    assert not {name.split()[0] for name in ranked} & found


def test_deadlines_that_adapt_and_late_messages_are_candidates():
    words = ["--delay", "exponential:0.05", "--row-time", 1e-5, "--repeat", 1]
    found = advice(*words, "--schemes", "ignore,agc,partial")
    assert "ignore --deadline adaptive:6,5" in found
    assert "agc --stragglers 1 --deadline adaptive:6,5" in found
    assert "partial --stragglers 1 --messages late" in found
    assert all(one["closed_form"] is None for name, one in found.items() if "adaptive" in name)


def test_sequential_codes_are_tried_with_several_rules_of_waiting():
    words = ["--delay", "exponential:0.05", "--row-time", 1e-5, "--repeat", 1]
    found = advice(*words, "--schemes", "sr-sgc,m-sgc")
    for scheme in ["sr-sgc", "m-sgc"]:
        for rule in ["", " --mu 0.1", " --mu 0.1 --wait-out all", " --wait-out quorum:2,0.02"]:
            assert f"{scheme} --burst 1 --window 2 --lambda 2{rule}" in found
    assert "m-sgc --burst 1 --window 2 --lambda 12 --mu 0.1" in found
    assert not any("--lambda 12" in name for name in found if name.startswith("sr-sgc"))


def test_an_optimizer_that_needs_exact_losses_leaves_exact_schemes(gaussians):
    words = ["--data", gaussians, "--optimizer", "lbfgs", "--delay", "exponential:0.05"]
    words += ["--row-time", 1e-5, "--repeat", 1, "--l2", 1e-3]
    found = advice(*words, "--schemes", "uncoded,frc,partial,ignore,agc,k-batch-sync")
    assert {name.split()[0] for name in found} == {"uncoded", "frc", "partial"}
    assert all(one["seconds"] is not None for one in found.values())


def test_the_command_of_the_winner_is_printed():
    words = ["--repeat", 1, "--schemes", "uncoded,frc"]
    done = call(*COMMON, *words, "--delay", "exponential:0.1", "--row-time", 1e-5)
    assert done.returncode == 0
    last = done.stdout.splitlines()[-1]
    assert last.startswith("quorate run --scheme ") and last.endswith("# 13 ranks")
    done = call(*COMMON, *words, "--delay", "exponential:0.1")
    assert "redundancy costs nothing: give --row-time" in done.stdout


def test_intervals_are_there_only_where_they_mean_something():
    words = ["--schemes", "uncoded,frc", "--row-time", 1e-5]
    random = advice(*words, "--delay", "exponential:0.1", "--repeat", 3)
    for one in random.values():
        assert (one["half_interval"] is None) == (one["simulations"] == 1)
    assert [one["simulations"] for one in random.values()].count(3) >= 4
    single = advice(*words, "--delay", "exponential:0.1", "--repeat", 1)
    alike = advice(*words, "--delay", "constant:0.1", "--repeat", 3)
    for one in [*single.values(), *alike.values()]:
        assert one["half_interval"] is None and one["simulations"] == 1
    done = call(*COMMON, *words, "--delay", "constant:0.1")
    assert "no intervals: nothing is random" in done.stdout
    # The time is over before a second seed: that tells nothing of chance.
    done = call(*COMMON, *words, "--delay", "exponential:0.1", "--repeat", 1)
    assert "no intervals: one simulation each" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines()[:-1])


def test_what_takes_too_long_is_left_out_by_name(gaussians):
    # A worker of amb computes for as long as others are late: 10^6 rows a round.
    words = ["--data", gaussians, "--step", 0.1, "--delay", "exponential:0.1", "--row-time", 1e-6]
    done = call(*COMMON, *words, "--schemes", "uncoded,amb", "--time-limit", "4s", "--json")
    assert done.returncode == 0, done.stderr
    assert "uncoded" in {one["scheme"] for one in json.loads(done.stdout)}
    assert "too slow to simulate within 4s: amb --compute-time auto" in done.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (["advise"], "needs --workers N"),
        ([*COMMON, "--time-limit", "soon"], "--time-limit is soon: write 60s or 5min"),
        ([*COMMON, "--time-limit", 0], "--time-limit is 0: write"),
        ([*COMMON[:3], "--rounds", 10**6, "--time-limit", "10 parsecs"], "write 60s"),
        (
            [*COMMON[:3], "--rounds", 10**6, "--time-limit", "0.01s"],
            "too short for one simulation",
        ),
        ([*COMMON, "--delay", "weibull:1"], "--delay is weibull:1"),
        ([*COMMON, "--schemes", "frk"], "frk is none that is compared"),
        ([*COMMON, "--schemes", "uncoded,async"], "which only training can compare"),
        ([*COMMON, "--target-loss", 0.1], "nothing is trained without --data"),
        ([*COMMON, "--repeat", 0], "--repeat is 0"),
    ],
)
def test_bad_input_is_refused(words, message):
    done = call(*words)
    assert done.returncode == 2
    lines = our_lines(done.stderr)
    assert len(lines) == 1 and message in lines[0]
