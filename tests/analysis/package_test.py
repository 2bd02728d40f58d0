# SPDX-License-Identifier: BSD-2-Clause
"""The analysis as a package: built and installed without a network, its command, and an import."""

import importlib.util
import os
import shutil
import sys

import pytest
from program import QUORATE, REPOSITORY

from program import output


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of an installation, made from a copy: building writes beside the sources."""
    needed = ("pip", "setuptools", "wheel")
    if not all(importlib.util.find_spec(name) for name in needed):
        pytest.skip(f"needs {', '.join(needed)}")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name in ("pyproject.toml", "setup.py", "VERSION"):
        shutil.copy(REPOSITORY / name, source)
    leave = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(REPOSITORY / "analysis", source / "analysis", ignore=leave)
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--target", target)
    output(sys.executable, "-m", "pip", "install", *options, source)
    return target


def test_the_installed_command_runs(installed, runs):
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    table = output(installed / "bin" / "quorate-analysis", "cost", runs["frc"], env=environment)
    assert "core-hours" in table
    code = (
        "import sys; from quorate.analysis import read_trace; print(read_trace(sys.argv[1]).rounds)"
    )
    assert output(sys.executable, "-c", code, runs["frc"], env=environment) == "5\n"


def test_its_version_is_that_of_quorate(installed):
    (info,) = installed.glob("*.dist-info")
    version = info.name.removeprefix("quorate-").removesuffix(".dist-info")
    assert output(QUORATE, "--version").split()[:2] == ["quorate", version]
