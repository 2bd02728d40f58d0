# SPDX-License-Identifier: BSD-2-Clause
"""What only looks configures nothing: no package is installed, nothing is downloaded or built."""

import json
import os
import subprocess
import sys

import pytest

from program import BUILD, REPOSITORY, environment


def make(*words, **more):
    """In an environment of its own: the tests may have been started by make."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    env.update(more)
    return subprocess.run(
        ["make", *words], cwd=REPOSITORY, env=env, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def refusing(tmp_path):
    """A PATH on which whatever installs, downloads or compiles leaves a mark."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("apt-get", "dpkg-query", "curl", "g++", "gcc"):
        (tools / name).write_text(f"#!/bin/sh\ntouch '{tmp_path}/called'\nexit 1\n")
        (tools / name).chmod(0o755)
    yield {"PATH": f"{tools}:{os.environ['PATH']}"}
    assert not (tmp_path / "called").exists()


LOOKING = [
    "info",
    "-n",
    "-n info",
    "-n build",
    "-n demo",
    "-n run-stragglers",
    "-n lint",
    "-n install",
]


@pytest.mark.parametrize("words", LOOKING)
def test_unconfigured_it_says_so_in_one_line(words, tmp_path, refusing):
    folder = tmp_path / "none"
    done = make(f"B={folder}", *words.split(), **refusing)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    assert "is not configured" in done.stdout
    assert not done.stderr
    assert not folder.exists()


@pytest.mark.parametrize(
    "words", ["help", "-n clean", "-n test", "-n test-all", "-n deps", "-n format"]
)
def test_what_needs_no_configuration_makes_none(words, tmp_path, refusing):
    folder = tmp_path / "none"
    done = make(f"B={folder}", *words.split(), **refusing)
    assert done.returncode == 0, done.stderr
    assert "is not configured" not in done.stdout
    assert not folder.exists()


def test_a_level_that_does_not_exist_is_refused():
    done = make("test", "levels=uint")
    assert done.returncode == 2
    assert "there is no level 'uint'" in done.stderr


@pytest.mark.whole
def test_the_benchmarks_are_built_and_run():
    words = [BUILD / "bench", "--benchmark_filter=^dry_run/agc/1000$"]
    done = subprocess.run([*words, "--benchmark_min_time=0.01"], capture_output=True, text=True)
    assert done.returncode == 0 and "dry_run/agc/1000" in done.stdout, done.stderr


def rivals(*words, **more):
    """The table of make bench-rivals, whose programs tests-ready has built."""
    command = [sys.executable, REPOSITORY / "tests" / "bench" / "rivals" / "table", *words]
    env = environment({"B": str(BUILD), **more})
    return subprocess.run(
        list(map(str, command)), cwd=REPOSITORY, env=env, capture_output=True, text=True
    )


@pytest.mark.whole
def test_quorate_and_its_rivals_do_the_same_rounds(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    done = rivals("--smoke", "--json", tmp_path / "table.json", TMPDIR=str(folder))
    assert done.returncode == 0, done.stderr
    assert not list(folder.iterdir())
    rows = {row["row"]: row for row in json.loads((tmp_path / "table.json").read_text())["rows"]}
    same = ["workers30", "workers2", "workers2-loop", "worker1", "resilient", "iterates"]
    assert [rows[name]["notes"] for name in same] == [["same loss"]] * len(same)
    optional = {"scipy", "sklearn"}
    assert all(row["ours"] > 0 and row["bound"] > 0 for n, row in rows.items() if n not in optional)
    assert rows["startup"]["quorate"] in done.stdout


@pytest.mark.whole
def test_rivals_call_the_mpi_library_itself():
    program = BUILD / "rivals" / "allreduce"
    done = subprocess.run(["nm", "--dynamic", program], capture_output=True, text=True, check=True)
    calls = [line.split()[-2:] for line in done.stdout.splitlines() if "MPI_" in line]
    assert ["U", "MPI_Allreduce"] in calls
    assert all(kind == "U" for kind, _ in calls)


@pytest.mark.whole
def test_a_row_of_rivals_that_does_not_exist_is_refused():
    done = rivals("--only", "workers31")
    assert done.returncode == 2
    assert "there is no row 'workers31'" in done.stderr


@pytest.mark.whole
def test_the_demo_makes_the_figures_that_the_readme_promises(tmp_path):
    done = subprocess.run(
        [REPOSITORY / "jobs" / "demo"],
        env=environment({"B": str(tmp_path)}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for name in ("figure", "against"):
        assert (tmp_path / "demo" / f"{name}.png").stat().st_size > 10_000
