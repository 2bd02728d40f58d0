# SPDX-License-Identifier: BSD-2-Clause
"""Advice from a short run on this machine."""

import json

from program import call, our_lines

RUN = ["run", "--rounds", 8, "--step", 0.1, "--evaluate-every", 0, "--quiet"]
ADVISE = ["advise", "--rounds", 20, "--repeat", 2, "--schemes", "uncoded,frc", "--json"]


def test_what_is_not_given_is_as_in_the_run_that_was_measured(gaussians, tmp_path):
    trace = tmp_path / "probe.h5"
    done = call(*RUN, "--data", gaussians, "--trace", trace, ranks=5)
    assert done.returncode == 0, done.stderr
    done = call(*ADVISE, "--measured", trace, "--delay", "exponential:0.1")
    assert done.returncode == 0, done.stderr
    ranked = {one["scheme"]: one["round_seconds"] for one in json.loads(done.stdout)}
    # Of 4 workers. If one of them seemed to be slow, uncoded is there with shares, too.
    found = {name.partition(" --shares")[0] for name in ranked}
    assert found == {"uncoded", "frc --stragglers 1"}
    assert ranked["frc --stragglers 1"] < ranked["uncoded"]
    slow = call(*ADVISE, "--measured", trace, "--row-time", 0.01, "--latency", 1)
    times = {one["scheme"]: one["round_seconds"] for one in json.loads(slow.stdout)}
    assert min(times.values()) > 2  # two messages


def test_a_run_with_injected_delays_or_without_measurements_is_refused(gaussians, tmp_path):
    trace = tmp_path / "slowed.h5"
    slowed = ["--delay", "exponential:0.001"]
    assert call(*RUN, "--data", gaussians, *slowed, "--trace", trace, ranks=3).returncode == 0
    simulated = tmp_path / "simulated.h5"
    words = ["simulate", "--data", gaussians, "--workers", 2, "--rounds", 2, "--step", 0.1]
    assert call(*words, "--trace", simulated, "--quiet").returncode == 0
    for path, words in [(trace, "injected delays"), (simulated, "measured nothing")]:
        done = call(*ADVISE, "--measured", path)
        assert done.returncode == 2 and words in done.stderr
        assert len(our_lines(done.stderr)) == 1
