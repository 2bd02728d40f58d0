# SPDX-License-Identifier: BSD-2-Clause
"""env/check-layers refuses what docs/architecture.md does not allow."""

import shutil
import subprocess

import pytest

from program import BUILD, REPOSITORY


@pytest.fixture
def tree(tmp_path):
    """The sources alone, to be spoilt."""
    shutil.copytree(REPOSITORY / "src", tmp_path / "src")
    (tmp_path / "env").mkdir()
    shutil.copy(REPOSITORY / "env" / "check-layers", tmp_path / "env")
    return tmp_path


def check(tree, *objects):
    return subprocess.run(
        [tree / "env" / "check-layers", *objects], capture_output=True, text=True, check=False
    )


def test_the_layers_hold(tree):
    assert check(tree).returncode == 0


@pytest.mark.parametrize(
    "layer, header",
    [
        ("compute", "fleet/fleet.hpp"),
        ("fleet", "ranks/messages.hpp"),
        ("scheme", "data/data_set.hpp"),
        ("engine", "run/training.hpp"),
        ("run", "commands/simulation.hpp"),
        ("commands", "jobs/manifest.hpp"),
    ],
)
def test_an_arrow_that_points_up(tree, layer, header):
    (tree / "src" / layer / "new.hpp").write_text(f'#include "{header}"\n')
    refused = check(tree)
    assert refused.returncode == 1
    assert f"src/{layer}/ may include only" in refused.stderr
    assert f'new.hpp:1:#include "{header}"' in refused.stderr


def test_a_folder_that_is_no_layer(tree):
    (tree / "src" / "extras").mkdir()
    assert "src/extras/ is no layer" in check(tree).stderr


def test_a_circle_of_layers(tree):
    script = tree / "env" / "check-layers"
    script.write_text(script.read_text().replace("code:      base", "code:      base scheme"))
    assert "code/ include scheme/, which is not below it" in check(tree).stderr


@pytest.mark.parametrize(
    "layer, call, what",
    [
        ("fleet", "MPI_Send", "MPI"),
        ("scheme", "H5Fopen", "MPI, PETSc or HDF5"),
        ("compute", "clock_gettime", "a clock"),
    ],
)
def test_a_call(tree, layer, call, what):
    code = tree / "code.c"
    code.write_text(f"void {call}(void); void f(void) {{ {call}(); }}\n")
    result = tree / "src" / layer / "code.o"
    subprocess.run(["gcc", "-c", "-o", result, code], check=True)
    refused = check(tree, result)
    assert refused.returncode == 1 and f"must not call {what}; but" in refused.stderr


def test_a_circle_of_units(tree):
    folder = tree / "src" / "base"
    for one, other in ("one", "two"), ("two", "three"), ("three", "one"):
        (folder / f"{one}.hpp").write_text(f'#include "base/{other}.hpp"\n')
    refused = check(tree)
    assert refused.returncode == 1
    assert "include each other in a circle" in refused.stderr
    assert all(f"base/{one}" in refused.stderr for one in ("one", "two", "three"))


def defined(name):
    """The functions of MPI that a program or library defines, for itself and for what it loads."""
    words = ["nm", "--dynamic", "--defined-only", BUILD / name]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    names = {line.split()[-1] for line in done.stdout.splitlines()}
    return sorted(name for name in names if name.startswith(("MPI_", "PMPI_")))


def test_only_the_program_replaces_functions_of_mpi():
    assert defined("libquorate.so") == []
    assert defined("quorate") == ["MPI_Allreduce", "MPI_Waitall"]
