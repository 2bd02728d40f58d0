# SPDX-License-Identifier: BSD-2-Clause
"""inspect --check: estimates that are computed again from the weights in a trace.

Every scheme is tried in tests/unit/virtual_runs_test.cpp.
"""

import json

import h5py
import pytest

from program import call
from traces import edited

WORDS = ["--workers", 6, "--rounds", 12, "--row-time", 1e-4, "--delay", "exponential:0.01"]
SCHEMES = {
    "uncoded": [],
    "agc": ["--stragglers", 2],
    "cyclic": ["--stragglers", 2],
    "ignore": ["--stragglers", 2],
    "async": [],
    "amb": ["--compute-time", 0.005],
}


def simulate(folder, data, *words):
    trace = folder / "t.h5"
    done = call("simulate", "--quiet", "--overwrite", "--data", data, "--trace", trace, *words)
    assert done.returncode == 0, done.stderr
    return trace


def check(trace, data, *words):
    return call("inspect", trace, "--check", data, *words)


def change_a_weight(file):
    file["weight/weight"][len(file["weight/weight"]) // 2] *= 1.001


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_sound_trace_agrees_and_one_with_another_weight_does_not(scheme, gaussians, tmp_path):
    words = ["--scheme", scheme, *SCHEMES[scheme], "--trace-weights", "--optimizer", "gd"]
    trace = simulate(tmp_path, gaussians, *WORDS, *words, "--step", 0.1)
    done = check(trace, gaussians, "--check-rounds", "all", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["check"]
    assert told["agree"] and told["rounds_checked"] == told["rounds_possible"] == 12
    for one in told["rounds"]:
        assert one["difference"] <= 1e-13 and one["bound"] <= 2e-9
        assert one["update"] and one["terms"] >= 1
    changed = edited(trace, tmp_path, change_a_weight)
    with h5py.File(changed) as file:
        wrong = file["weight/round"][len(file["weight/round"]) // 2]
    done = check(changed, gaussians, "--check-rounds", "all")
    assert done.returncode == 1
    assert done.stderr.startswith(f"quorate: {changed}: round {wrong}: its estimate differs by ")
    assert done.stderr.count("\n") == 1
    assert "11 of 12 estimates computed again agree" in done.stdout


def test_a_sample_has_the_first_round_and_the_last(gaussians, tmp_path):
    trace = simulate(tmp_path, gaussians, *WORDS, "--trace-weights", "--evaluate-every", 2)
    done = check(trace, gaussians, "--check-rounds", 3)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    # The default rule, agd, takes gradients at points that two models in a row tell.
    assert [line.split()[0] for line in lines[1:-1]] == ["1"]
    assert lines[-1].endswith(
        "1 of 1 estimates computed again agree; 1 of 12 rounds can be checked"
    )
    trace = simulate(tmp_path, gaussians, *WORDS, "--trace-weights")
    lines = check(trace, gaussians, "--check-rounds", 3).stdout.splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == ["1", "7", "12"]
    assert all(line.endswith("norm and update") for line in lines[1:-1])


def test_of_a_rule_with_a_memory_the_norm_is_compared(gaussians, tmp_path):
    words = ["--trace-weights", "--optimizer", "adam", "--step", 0.01]
    trace = simulate(tmp_path, gaussians, *WORDS, *words)
    lines = check(trace, gaussians).stdout.splitlines()
    assert len(lines) == 12 and all(line.endswith("  norm") for line in lines[2:-1])
    changed = edited(trace, tmp_path, change_a_weight)
    assert check(changed, gaussians, "--check-rounds", "all").returncode == 1


def refused(trace, data, *words):
    done = check(trace, data, *words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    return done.stderr.removeprefix("quorate: ").strip()


def test_what_cannot_be_checked_is_refused(gaussians, sparse, tmp_path):
    trace = simulate(tmp_path, gaussians, *WORDS)
    assert refused(trace, gaussians) == (
        f"{trace} holds no weights of estimates: make the run with --trace-weights"
    )
    weighed = [*WORDS, "--trace-weights"]
    trace = simulate(tmp_path, gaussians, *weighed, "--evaluate-every", 0)
    assert refused(trace, gaussians).endswith("make the run with --evaluate-every 1")
    trace = simulate(tmp_path, gaussians, *weighed, "--trace-arrivals", "used")
    assert "--trace-arrivals all --trace-weights" in refused(trace, gaussians)
    trace = simulate(tmp_path, gaussians, *weighed, "--optimizer", "lbfgs")
    assert refused(trace, gaussians).endswith(f"by quorate simulate --replay {trace}")
    trace = simulate(tmp_path, gaussians, *weighed)
    assert "holds other data than the run of" in refused(trace, sparse)
    assert "give how many, from 1 on, or all" in refused(trace, gaussians, "--check-rounds", 0)
    assert "give the trace of a run" in refused(gaussians, gaussians)
    done = call("inspect", trace, "--check-rounds", 3)
    assert done.returncode == 2 and "add --check DATA" in done.stderr
    dry = tmp_path / "dry.h5"
    assert call("simulate", "--dry", "--quiet", *weighed, "--trace", dry).returncode == 0
    assert "is the trace of a dry run" in refused(dry, gaussians)
