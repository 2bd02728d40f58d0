# SPDX-License-Identifier: BSD-2-Clause
"""env/check-layers refuses what docs/architecture.md does not allow."""

import ast
import shutil
import subprocess
from graphlib import TopologicalSorter

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


@pytest.mark.parametrize("form", ["class {} final {{", "struct {} {{}};", "enum class {} {{"])
def test_two_classes_of_one_name(tree, form):
    def add(name, space, layer):
        text = f"namespace {space} {{\n\n{form.format('Twice')}\n}}  // namespace {space}\n"
        (tree / "src" / layer / name).write_text(text)

    add("one.hpp", "quorate", "scheme")
    add("other.hpp", "quorate::trace", "trace")  # of another namespace
    (tree / "src" / "scheme" / "own.cpp").write_text(
        "namespace quorate {\n\nclass Twice;\n\nnamespace {\n\nclass Twice {};\n\n"
        "}  // namespace\n\n}  // namespace quorate\n"
    )
    assert check(tree).returncode == 0
    add("two.hpp", "quorate", "optimum")
    refused = check(tree)
    assert refused.returncode == 1
    assert "quorate::Twice: src/optimum/two.hpp and src/scheme/one.hpp" in refused.stderr


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


def imported(name, path, modules):
    """The modules among some that a module imports, wherever it does so."""
    package = name.split(".")[: None if path.stem == "__init__" else -1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            of = package[: len(package) - node.level + 1] if node.level else []
            home = ".".join([*of, *([node.module] if node.module else [])])
            inner = {f"{home}.{one.name}" for one in node.names}
            found |= inner & modules or ({home} if node.module else set())
    return found & modules - {name}


def test_no_modules_of_python_import_each_other():
    root = REPOSITORY / "analysis"
    paths = {}
    for path in root.rglob("*.py"):
        words = path.relative_to(root).with_suffix("").parts
        paths[".".join(words[:-1] if words[-1] == "__init__" else words)] = path
    graph = {name: imported(name, path, set(paths)) for name, path in paths.items()}
    assert len(graph) > 50 and graph["quorate._result"] >= {"quorate._kept", "quorate._native"}
    TopologicalSorter(graph).prepare()  # names the circle


def test_functions_of_python_fit_on_a_screen():
    scripts = [path for path in (REPOSITORY / "jobs").iterdir() if path.is_file()]
    programs = [path for path in scripts if path.read_bytes()[:40].find(b"python") > 0]
    long = [
        (path.name, node.name)
        for path in [*(REPOSITORY / "analysis").rglob("*.py"), *programs]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= 60
    ]
    assert not long
