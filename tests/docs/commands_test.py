# SPDX-License-Identifier: BSD-2-Clause
"""Each command and all Python of the documentation run as they stand, in order, or say why not."""

import re
import shutil

import pytest

from pages import Interpreter, blocks, run, shell
from program import BUILD, REPOSITORY, environment, output

PAGES = sorted(
    [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md"), REPOSITORY / "env/README.md"]
)
PAGES = [page for page in PAGES if any(b.is_command() or b.is_python() for b in blocks(page))]
PAGES.remove(REPOSITORY / "docs" / "day.md")  # tests/slurm runs it

# What somebody new reads. The others' code runs in make test-all.
FIRST_READ = ("README.md", "docs/tutorial.md", "docs/first-scheme.md", "docs/commands.md")
TUTORIAL = REPOSITORY / "docs/first-scheme.md"

# What some pages take for granted: a file, and the command that makes it.
TRACE = "simulate --data data.h5 --workers 8 --rounds 60 --delay exponential:0.02 --scheme"
GIVEN = {
    "data.h5": "generate --rows 2000 --columns 20 --test-rows 200 --output data.h5",
    "a.h5": "generate --rows 2000 --columns 20 --test-rows 200 --output a.h5",
    "visits.h5": "generate --rows 2000 --columns 20 --output visits.h5",
    "uncoded.h5": f"{TRACE} uncoded --trace uncoded.h5",
    "frc.h5": f"{TRACE} frc --stragglers 1 --trace frc.h5",
    "agc.h5": f"{TRACE} agc --stragglers 1 --collect 4 --trace agc.h5",
    "uncoded-1.h5": f"{TRACE} uncoded --seed 1 --trace uncoded-1.h5",
    "agc-1.h5": f"{TRACE} agc --stragglers 1 --collect 4 --seed 1 --trace agc-1.h5",
}
TRACES = [name for name in GIVEN if name not in ("data.h5", "a.h5", "visits.h5")]
NEEDS = {
    "docs/commands.md": ["train.csv.gz"],
    "docs/advice.md": ["a.h5", "times.csv"],
    "docs/analysis.md": [*TRACES, "times.csv"],
    "docs/clusters.md": ["data.h5"],
    "docs/doctor.md": ["data.h5"],
    "docs/cloud.md": ["data.h5"],
    "docs/first-scheme.md": ["visits.h5"],
    "docs/python.md": ["amazon.h5", "visits.h5", "fastest.py"],
    "docs/trace.md": ["agc.h5", "data.h5"],
}
# What the Python of a page takes for granted, run before it.
BEFORE = {
    "docs/python.md": """
import numpy
X = numpy.random.default_rng(1).normal(size=(2000, 20))
y = numpy.sign(X[:, 0] + X[:, 1])
numpy.savetxt("my_code.csv", numpy.kron(numpy.eye(10), numpy.ones((3, 3))))
"""
}
# Of the repository, in which most pages say that one is.
LINKED = ["Makefile", "VERSION", "analysis", "build", "env", "examples", "jobs", "slurm", "src"]


@pytest.fixture(scope="module")
def given(real_data, amazon, tmp_path_factory):
    """A folder with all that some page takes for granted."""
    folder = tmp_path_factory.mktemp("given")
    env = shell(folder, environment())
    for words in GIVEN.values():
        done = run(f"quorate {words} --quiet", folder, env)
        assert done.returncode == 0, done.stderr
    shutil.copy(real_data / "amazon" / "train.csv.gz", folder)
    shutil.copy(amazon, folder / "amazon.h5")
    (scheme,) = (b for b in blocks(TUTORIAL) if b.marks.get("file") == ("", "fastest.py"))
    (folder / "fastest.py").write_text(scheme.text + "\n")
    rows = [f"{worker},{i},{1 + worker % 3}\n" for worker in range(10) for i in range(20)]
    (folder / "times.csv").write_text("".join(["worker,round,seconds\n", *rows]))
    return folder


@pytest.fixture
def folder(given, tmp_path, request):
    """Where the commands of a page run."""
    for name in LINKED:
        (tmp_path / name).symlink_to(REPOSITORY / name)
    for name in NEEDS.get(request.param, []):
        shutil.copy(given / name, tmp_path)
    if request.param == "docs/analysis.md":
        (tmp_path / "runs").mkdir()
        for name in TRACES:
            shutil.copy(given / name, tmp_path / "runs")
    return tmp_path


def shortened(block):
    """Commands of a block, with other values of the options that its mark names."""
    text = "\0".join(block.commands())
    for name, value in re.findall(r"(--\S+) (\S+)", block.marks.get("run with", ("", ""))[1]):
        text, found = re.subn(rf"{name} \S+", f"{name} {value}", text)
        assert found, f"{block.place}: no command has {name}"
    return text.split("\0")


def skipped_words(block):
    """Words of commands that do not run; None if nothing of the block does."""
    words, reason = block.marks.get("not run", ("", ""))
    assert "not run" not in block.marks or reason, f"{block.place}: not run, and why?"
    skipped = [one.strip() for one in words.split(";") if one]
    for word in skipped:
        assert any(word in command for command in block.commands()), f"{block.place}: {word}"
    return None if reason and not skipped else skipped


def run_commands(block, skipped, folder, env):
    expected = int(block.marks.get("ends with", ("", "0"))[1])
    for command in shortened(block):
        if any(word in command for word in skipped):
            continue
        done = run(command, folder, env)
        said = f"{block.place}: {command}\nends with {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.returncode == expected, said


@pytest.mark.parametrize(
    ("page", "folder"),
    [
        pytest.param(page, name, id=name, marks=() if name in FIRST_READ else pytest.mark.whole)
        for page in PAGES
        for name in [str(page.relative_to(REPOSITORY))]
    ],
    indirect=["folder"],
)
def test_the_code_of_a_page_runs(page, folder):
    extra = {"SCRATCH": str(folder), "PYTHONPATH": str(folder / "build/python")}
    env = shell(folder, environment(extra))
    with Interpreter(folder, env) as python:
        python.run(__file__, 1, BEFORE.get(str(page.relative_to(REPOSITORY)), ""))
        for block in blocks(page):
            if "file" in block.marks:
                path = folder / block.marks["file"][1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text + "\n")
            if block.is_python() and "file" not in block.marks:
                if skipped_words(block) is None:
                    continue
                python.run(page, block.line, block.text)
            elif block.is_command() and (skipped := skipped_words(block)) is not None:
                run_commands(block, skipped, folder, env)


def test_code_that_a_page_quotes_is_that_of_the_file():
    found = 0
    for page in REPOSITORY.glob("*.md"):
        for block in blocks(page):
            if "from" in block.marks:
                found += 1
                assert block.text in (REPOSITORY / block.marks["from"][1]).read_text(), block.place
    assert found


def test_the_scheme_of_the_tutorial_compiles_and_runs(prefix, tmp_path):
    """As a plugin, which takes no build of the program."""
    (block,) = (
        b for b in blocks(REPOSITORY / "docs/first-scheme.md") if "class Fastest final" in b.text
    )
    source = tmp_path / "fastest.cpp"
    plugin = "static void add() { quorate::add_scheme(quorate::FastestOptions::entry()); }"
    source.write_text(
        f"#include <quorate/quorate.hpp>\n{block.text}\n{plugin}\nQUORATE_PLUGIN(add)\n"
    )
    env = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = output("pkg-config", "--cflags", "quorate", env=env).split()
    flags = [flag for flag in flags if str(prefix) not in flag]  # the scheme is a file of src
    flags += [f"-I{REPOSITORY}/src", f"-I{BUILD}/include"]
    output("g++", "-shared", "-fPIC", source, "-o", tmp_path / "fastest.so", *flags)
    words = (
        "--dry --workers 8 --rounds 200 --delay exponential:0.02 --scheme fastest --responders 6"
    )
    env = shell(tmp_path, environment())
    done = run(f"quorate simulate --plugin ./fastest.so {words} --trace t.h5", tmp_path, env)
    assert done.returncode == 0, done.stderr
    per_round = float(re.search(r"([\d.]+) s a round", done.stdout)[1])
    assert per_round == pytest.approx(0.02 * sum(1 / k for k in range(3, 9)), rel=0.1)
