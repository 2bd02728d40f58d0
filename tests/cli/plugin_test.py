# SPDX-License-Identifier: BSD-2-Clause
"""Programs and plugins that are built against an installed copy."""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess

import h5py
import numpy
import pytest

from program import (
    BUILD,
    LAUNCHER,
    REPOSITORY,
    attributes_of,
    call,
    our_lines,
    output,
    petsc_flags,
)

PLUGINS = ["scheme", "code", "model", "delay", "format"]
DRY = ["--dry", "--workers", 6, "--rounds", 12, "--quiet"]


@pytest.fixture(scope="module")
def flags(prefix):
    env = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    return shlex.split(output("pkg-config", "--cflags", "--libs", "quorate", env=env))


@pytest.fixture(scope="module")
def plugins(flags, tmp_path_factory):
    """A shared object for each kind of component."""
    folder = tmp_path_factory.mktemp("plugins")
    sources = {name: REPOSITORY / f"tests/plugins/{name}.cpp" for name in PLUGINS}
    sources["scheme"] = REPOSITORY / "examples/plugin.cpp"
    built = {name: folder / f"{name}.so" for name in PLUGINS}
    compilers = [
        subprocess.Popen(["g++", "-shared", "-fPIC", sources[name], "-o", built[name], *flags])
        for name in PLUGINS
    ]
    assert [compiler.wait() for compiler in compilers] == [0] * len(PLUGINS)
    return built


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory):
    """The examples, built by CMake."""
    folder = tmp_path_factory.mktemp("examples")
    words = [f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_COMPILER=g++"]
    output("cmake", "-S", REPOSITORY / "examples", "-B", folder, *words)
    output("cmake", "--build", folder, "--parallel", 2)
    return folder


@pytest.fixture(scope="module")
def given(flags, tmp_path_factory):
    """A program with rows in memory, and the example of one: their paths."""
    folder = tmp_path_factory.mktemp("given")
    sources = [REPOSITORY / "tests/plugins/given.cpp", REPOSITORY / "examples/petsc.cpp"]
    for source in sources:
        output("g++", source, "-o", folder / source.stem, *flags, *petsc_flags())
    return folder


def refused(*words, **more):
    done = call(*words, **more)
    assert done.returncode == 2
    lines = our_lines(done.stderr)
    assert len(lines) == 1, done.stderr
    return lines[0]


def test_the_examples_are_short_and_their_makefile_builds_them(prefix, tmp_path):
    for source in (REPOSITORY / "examples").glob("*.cpp"):
        code = [line for line in source.read_text().splitlines() if line.strip()]
        assert len(code) <= 60, source
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    env = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    output("make", "simulate", "CXX=g++", cwd=tmp_path / "examples", env=env)
    table = output(tmp_path / "examples" / "simulate").splitlines()
    seconds = {line.split()[0]: float(line.split()[1]) for line in table[1:]}
    assert seconds["frc"] < seconds["uncoded"] and seconds["agc"] < seconds["uncoded"]


def test_a_program_tries_the_matrix_of_a_file(examples, tmp_path):
    matrix = tmp_path / "b.csv"
    matrix.write_text("\n".join(",".join(row) for row in ["110000", "011000", "001100", "000110"]))
    wrong = subprocess.run([examples / "code", matrix, "3"], capture_output=True, text=True)
    assert wrong.returncode == 1 and "column 6 of a code's matrix is zero" in wrong.stderr
    matrix.write_text("1,1,0\n0,1,1\n1,0,1\n")
    errors = re.findall(r"error (\S+)", output(examples / "code", matrix, "3"))
    assert errors == ["0.0000"] * 10
    # a = (2, 2) / 3 leaves a third of two partitions and adds one of the other.
    errors = re.findall(r"error (\S+)", output(examples / "code", matrix, "2"))
    assert errors == ["0.3333"] * 10


def test_a_program_trains_on_arrays(examples):
    lines = output(examples / "arrays").splitlines()
    assert [line.split(":")[0] for line in lines] == ["uncoded", "agc"]
    assert all(float(line.split()[-1]) < 0.6 for line in lines)


def test_the_example_with_petsc_trains(given):
    done = output(*LAUNCHER, "-n", 5, given / "petsc")
    assert float(re.search(r"^50 rounds, training loss (\S+)$", done, re.M)[1]) < 0.1


def test_a_program_trains_over_mpi(examples, gaussians, tmp_path):
    launcher = LAUNCHER
    (tmp_path / "trace.h5").write_text("not to be touched")
    done = output(*launcher, "-n", 5, examples / "run", gaussians, cwd=tmp_path)
    assert re.search(r"^50 rounds in \S+ s, training loss 0\.\d+, AUC \S+$", done, re.M)


@pytest.mark.parametrize("kind", ["aij", "dense"])
def test_a_program_trains_on_a_matrix_of_petsc_whoever_holds_its_rows(given, kind, tmp_path):
    def lines(*launch):
        done = output(*launch, given / "given", kind, env={"TMPDIR": str(tmp_path)})
        return [line.split(" ", 1) for line in done.splitlines()]

    alone, distributed = lines(), lines(*LAUNCHER, "-n", 4)
    assert [way for way, _ in alone] == ["run", "simulate", "arrays"]
    assert alone == distributed and len({numbers for _, numbers in alone}) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "fault, said",
    [
        ("unassembled", "the matrix of the training rows is not assembled: call MatAssemblyEnd"),
        ("infinite", "row 59 of the training rows has inf in column 0: give finite numbers"),
        ("nan", "label 59 of the training rows is nan: give finite numbers"),
        ("sizes", "the training rows are 60, but there are 59 labels"),
        ("split", "a rank holds the training rows 0 to 15, but the labels 0 to 60: distribute"),
        ("ranks", "matrices and vectors are distributed over different ranks: make them with one"),
        ("twice", "the data are given twice, as an object and by the option data: leave out one"),
    ],
)
def test_all_ranks_refuse_what_is_wrong_with_a_matrix(given, fault, said, tmp_path):
    words = [*LAUNCHER, "-n", "4", given / "given", "aij", fault]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and not done.stdout
    for rank in range(4):
        assert f"rank {rank}: {said}" in done.stderr
    assert not list(tmp_path.iterdir())


def test_complex_numbers_are_refused_by_the_compiler(flags, tmp_path):
    source = tmp_path / "complex.cpp"
    source.write_text(
        "#include <petscconf.h>\n#define PETSC_USE_COMPLEX 1\n#include <quorate/petsc.hpp>\n"
    )
    words = ["g++", "-fsyntax-only", source, *flags, *petsc_flags()]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode != 0 and "Quorate computes with real numbers" in done.stderr


ARRAYS = """
#include <cmath>
#include <cstdio>
#include <quorate/quorate.hpp>

using namespace quorate;

void refused(const LabelledRows& train, const LabelledRows& test = {}, DataOptions options = {})
{
    try {
        const Data data(train, test, options);
        std::puts("accepted");
    } catch (const BadInput& wrong) {
        std::puts(wrong.what());
    }
}

int main()
{
    const std::vector<double> x = {1, 2, 3, 4, 5, 6}, y = {0, 1, 1}, nan = {0, 1, std::nan("")};
    const std::vector<std::int64_t> start = {0, 2, 3, 4}, wide = {0, 2, 0, 1}, twice = {1, 1, 0, 2};
    const std::vector<int> column = {0, 2, 0, 1}, far = {0, 3, 0, 1};
    const std::vector<double> value = {1, 1, 1, 1};
    const CsrMatrix sparse{start, column, value, 3};
    refused({DenseMatrix{x, 2}, y});
    refused({sparse, y}, {CsrMatrix{start, wide, value, 3}, y});
    refused({sparse, y}, {}, {.task = "regression", .image = "1x1x3"});
    refused({DenseMatrix{x, 3}, y});
    refused({DenseMatrix{x, 2}, nan});
    refused({DenseMatrix{nan, 1}, y});
    refused({DenseMatrix{{}, 2}, {}});
    refused({DenseMatrix{x, 0}, y});
    refused({CsrMatrix{start, far, value, 3}, y});
    refused({CsrMatrix{start, twice, value, 3}, y});
    refused({CsrMatrix{column, column, value, 3}, y});
    refused({sparse, y}, {DenseMatrix{x, 2}, y});
    refused({sparse, y}, {}, {.task = "guess"});
    refused({sparse, y}, {}, {.image = "1x1x4"});
}
"""


def test_arrays_that_contradict_each_other_are_refused(flags, tmp_path):
    source = tmp_path / "arrays.cpp"
    source.write_text(ARRAYS)
    output("g++", source, "-o", tmp_path / "arrays", *flags)
    (tmp_path / "files").mkdir()
    said = output(tmp_path / "arrays", env={"TMPDIR": str(tmp_path / "files")}).splitlines()
    assert said[:3] == ["accepted"] * 3
    contradiction = "the training rows are no sparse matrix of that shape: its arrays contradict it"
    assert said[3:] == [
        "the training rows are no matrix with a row for each of 3 labels: give X of n x p and y of"
        " n",
        "the training labels hold nan at element 2: give finite numbers",
        "the training rows hold nan at element 2: give finite numbers",
        "there are no training rows: give some",
        "the rows have no columns: give X of n x p",
        contradiction,
        contradiction,
        contradiction,
        "the test rows are of another kind than the training rows, or have other columns: give both"
        " dense or both sparse, with the same columns",
        "--task is guess; known: auto, binary, multiclass or regression",
        "rows are to be images of 1x1x4, but have 3 columns: write CxHxW",
    ]
    assert not list((tmp_path / "files").iterdir())


def test_a_component_of_each_kind_comes_from_a_plugin(plugins, tmp_path):
    all_of_them = ",".join(str(path) for path in plugins.values())
    assert "half" in call("list", "schemes", "--plugin", plugins["code"]).stdout
    assert "--answers N" in call("simulate", "--help=all", "--plugin", plugins["code"]).stdout
    numbers = tmp_path / "numbers.txt"
    numbers.write_text("\n".join(str(0.01 * (i - 50)) for i in range(101)))
    data, trace = tmp_path / "d.h5", tmp_path / "t.h5"
    words = ["--format", "numbers", "--plugin", plugins["format"], "--quiet"]
    done = call("import", "--input", numbers, "--output", data, *words)
    assert done.returncode == 0, done.stderr
    run = ["--data", data, "--model", "log-cosh", "--scheme", "half", "--answers", 4]
    run += ["--step", 0.5, "--rounds", 40, "--plugin", all_of_them, "--quiet"]
    simulated = [*run, "--workers", 6, "--delay", "in-turn", "--trace", trace]
    assert call("simulate", *simulated).returncode == 0
    with h5py.File(trace) as file:
        assert file["evaluation/train_loss"][-1] < file["evaluation/train_loss"][0]
        assert file["round/used"][:].tolist() == [4] * 40
        assert file["round/time"][0] == 0.25  # four of five that are not late
        recorded = attributes_of(file)["plugins"]
    sums = {hashlib.sha256(plugins[name].read_bytes()).hexdigest() for name in plugins}
    found = [one.split()[-1] for one in recorded.split(";")]
    assert len(set(found)) == 5 and set(found) <= sums
    done = call("run", *run, "--trace", tmp_path / "m.h5", ranks=5)
    assert done.returncode == 0, done.stderr


def test_a_code_of_a_plugin_is_compared_with_all_others(plugins):
    words = ["--workers", 8, "--delay", "exponential:1", "--repeat", 2, "--json"]
    done = call("advise", *words, "--schemes", "uncoded,half", "--plugin", plugins["code"])
    assert done.returncode == 0, done.stderr
    both = {one["scheme"]: one for one in json.loads(done.stdout)}
    assert both["half --answers 4"]["closed_form"] == pytest.approx(1 / 8 + 1 / 7 + 1 / 6 + 1 / 5)
    assert both["uncoded"]["round_seconds"] > both["half --answers 4"]["round_seconds"]


@pytest.mark.whole
def test_what_holds_for_all_entries_holds_for_those_of_plugins(plugins):
    program = BUILD / "tests" / "unit"
    env = {**os.environ, "QUORATE_TEST_PLUGINS": ",".join(str(path) for path in plugins.values())}
    words = [program, "--gtest_filter=Registr*:EveryScheme*:EveryModel*"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    assert "EveryModel.LayersCoverTheParameters/log_cosh_binary" in done.stdout


def test_replay_needs_the_same_plugin_wherever_it_is(plugins, gaussians, tmp_path):
    trace, moved = tmp_path / "t.h5", tmp_path / "moved.so"
    run = ["simulate", "--data", gaussians, "--workers", 6, "--rounds", 12, "--step", 0.1]
    run += ["--quiet", "--scheme", "patient", "--delay", "exponential:1"]
    done = call(*run, "--plugin", plugins["scheme"], "--trace", trace)
    assert done.returncode == 0, done.stderr
    shutil.copy(plugins["scheme"], moved)
    replay = ["simulate", "--replay", trace, "--quiet", "--trace", tmp_path / "r.h5"]
    assert call(*replay, "--plugin", moved).returncode == 0
    with h5py.File(trace) as first, h5py.File(tmp_path / "r.h5") as again:
        assert numpy.array_equal(first["iterate/model"][:], again["iterate/model"][:])
    assert "has the plugins" in refused(*replay)
    assert "has the plugins" in refused(*replay, "--plugin", plugins["delay"])


def test_files_name_plugins_too(plugins, tmp_path):
    config = tmp_path / "c.ini"
    config.write_text(f"plugin = {plugins['scheme']}\nscheme = patient\n")
    done = call("simulate", *DRY, "--config", config, "--trace", tmp_path / "t.h5")
    assert done.returncode == 0, done.stderr


def test_an_experiment_with_a_plugin_becomes_jobs(plugins, tmp_path):
    experiment = tmp_path / "mine.ini"
    experiment.write_text(
        f"plugin = {plugins['scheme']}\nscheme = patient, uncoded\ndry = on\nworkers = 6\n"
        "rounds = 9\ndelay = exponential:1\n"
    )
    words = ["--experiment", experiment, "--output", tmp_path / "out", "--command", "simulate"]
    done = call("script", *words, "--cluster", "local")
    assert done.returncode == 0, done.stderr
    run = ["--manifest", tmp_path / "out" / "manifest.tsv", "--row", 1, "--quiet"]
    done = call("simulate", *run)
    assert done.returncode == 0, done.stderr
    with h5py.File(next((tmp_path / "out").glob("*.h5"))) as trace:
        assert attributes_of(trace)["scheme"] == "patient" and attributes_of(trace)["plugins"]


def test_what_is_no_plugin_of_this_program_is_refused(plugins, tmp_path):
    simulate = ["simulate", *DRY, "--trace", tmp_path / "t.h5", "--plugin"]
    assert "cannot open" in refused(*simulate, tmp_path / "none.so")
    text = tmp_path / "text.so"
    text.write_text("text")
    assert "cannot be loaded" in refused(*simulate, text)

    def library(name, code):
        (tmp_path / f"{name}.c").write_text(code)
        output("gcc", "-shared", "-fPIC", tmp_path / f"{name}.c", "-o", tmp_path / f"{name}.so")
        return tmp_path / f"{name}.so"

    assert "lacks QUORATE_PLUGIN" in refused(*simulate, library("other", "int x;"))
    old = library(
        "old",
        'const char quorate_plugin_built_with[] = "Quorate 0.0.1";'
        "void never(void); void quorate_plugin_add(void) { never(); }",
    )
    assert "was built with Quorate 0.0.1, this is Quorate 0.1" in refused(*simulate, old)
    both = f"{plugins['scheme']},{plugins['code']}"
    assert call(*simulate, both).returncode == 0
    twice = shutil.copy(plugins["scheme"], tmp_path / "copy.so")
    words = [f"{plugins['scheme']},{twice}", "--overwrite"]
    assert call(*simulate, *words).returncode == 0
    assert not (tmp_path / "t.h5.journal").exists()
