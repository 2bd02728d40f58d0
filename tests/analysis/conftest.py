# SPDX-License-Identifier: BSD-2-Clause
"""Real traces, made once by the program under test."""

import subprocess
import sys

import pytest

from program import REPOSITORY
from traces import quorate, simulate, train


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Measured traces by name: 6 rounds evaluated every 2nd; 5 rounds; 6 rounds not evaluated."""
    folder = tmp_path_factory.mktemp("runs")
    data = folder / "data.h5"
    quorate("generate", "--rows", 200, "--columns", 6, "--test-rows", 80, "--output", data)
    delayed = ("--delay", "exponential:0.01", "--seed", 1)
    return {
        "uncoded": train(folder, "uncoded", "--rounds", 6, "--evaluate-every", 2, *delayed),
        "frc": train(folder, "frc", "--scheme", "frc", "--rounds", 5, *delayed),
        "bare": train(folder, "bare", "--rounds", 6, "--evaluate-every", 0),
        "data": data,
    }


@pytest.fixture(scope="session")
def simulated(runs, tmp_path_factory):
    """Simulated traces by name: uncoded and frc with three seeds; members that come and go; amb;
    async; one that diverges; twin: the measured run uncoded."""
    folder = tmp_path_factory.mktemp("simulated")
    plain = ("--data", runs["data"], "--workers", 4, "--row-time", 1e-5)
    common = (*plain, "--step", 0.3)
    delay = ("--delay", "exponential:0.01")
    found = {}
    for seed in (1, 2, 3):
        options = (*common, *delay, "--rounds", 30, "--seed", seed)
        found[f"uncoded-{seed}"] = simulate(folder, f"uncoded-{seed}", *options)
        found[f"frc-{seed}"] = simulate(folder, f"frc-{seed}", *options, "--scheme", "frc")
    members = ("--scheme", "frc", "--events", "5r leave 1; 10r join 1")
    batch = ("--batch", 40, "--rounds", 40)
    twin = ("--data", runs["data"], "--workers", 4, "--step", 0.3, "--row-time", runs["uncoded"])
    found.update(
        members=simulate(folder, "members", *common, *delay, "--rounds", 20, *members),
        amb=simulate(folder, "amb", *common, *delay, *batch, "--scheme", "amb"),
        asynchronous=simulate(folder, "async", *common, *delay, *batch, "--scheme", "async"),
        diverged=simulate(folder, "diverged", *plain, *delay, "--rounds", 10, "--step", 1e6),
        twin=simulate(folder, "twin", *twin, *delay, "--rounds", 6, "--seed", 1),
    )
    return found


@pytest.fixture
def script():
    """Runs quorate-analysis; the finished process, its output as text."""

    def run(*arguments):
        return subprocess.run(
            [
                sys.executable,
                str(REPOSITORY / "analysis" / "quorate-analysis"),
                *map(str, arguments),
            ],
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


@pytest.fixture
def analyse(capsys):
    """Runs a command in this process, which is faster; (status, output, errors)."""
    from quorate.analysis.cli import main

    def run(*arguments):
        status = main([str(word) for word in arguments])
        done = capsys.readouterr()
        return status, done.out, done.err

    return run
