# SPDX-License-Identifier: BSD-2-Clause
"""Real traces, made once by the program under test. `make test` sets the environment."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))


def quorate(*arguments):
    subprocess.run([os.environ["QUORATE"], *map(str, arguments)], check=True, timeout=60)


def train(folder, name, *options):
    """A run of 4 workers; its trace."""
    path = folder / f"{name}.h5"
    subprocess.run(
        [*shlex.split(os.environ["LAUNCHER"]), "-n", "5", os.environ["QUORATE"], "run", "--quiet"]
        + ["--data", str(folder / "data.h5"), "--trace", str(path), "--step", "0.3"]
        + [str(option) for option in options],
        check=True,
        timeout=60,
    )
    return path


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Traces by name: 6 rounds evaluated every 2nd; 5 rounds; 6 rounds not evaluated."""
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


@pytest.fixture
def script():
    """Runs one of analysis/*.py; the finished process, its output as text."""

    def run(name, *arguments):
        return subprocess.run(
            [sys.executable, str(ROOT / "analysis" / name), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run
