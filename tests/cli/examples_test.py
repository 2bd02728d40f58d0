# SPDX-License-Identifier: BSD-2-Clause
"""Each command of the documentation with one mistake: one line with the remedy, nothing changed."""

import contextlib
import functools
import glob
import gzip
import hashlib
import io
import re
import shlex
import shutil
import subprocess

import pytest

from pages import blocks
from program import LAUNCHER, QUORATE, REPOSITORY, call, environment, whole

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
# In commands that cannot run as they stand: components that the page writes, what is left open.
INCOMPLETE = {"fastest", "plugin.so", "fastest.py", "small.py", "..."}
FREE = {"--account"}  # options for which any word is right
REMEDY = re.compile(
    "did you mean|; known: |choose from|[;:,] (give|use|write|see|say|name|make|remove) "
)
# Of the wrong kind: a word, a file, a folder.
WORD, FILE, FOLDER = "no-such", "nowhere/none", "visits.csv"


def commands():
    """Words behind quorate, of each command of the pages; and how many are not complete."""
    found, incomplete = [], 0
    for page in PAGES:
        for line in (
            "\n".join(block.text for block in blocks(page)).replace("\\\n", " ").splitlines()
        ):
            line = line.removeprefix("$ ")
            if not re.match(r"((mpiexec|srun)\S* .*|build/)?quorate [a-z]", line):
                continue
            words = [word for word in shlex.split(line, comments=True) if word[0] != "["]
            words = words[[word.split("/")[-1] for word in words].index("quorate") + 1 :]
            if INCOMPLETE & set(words):
                incomplete += 1
            elif words not in found:
                found.append(words)
    return found, incomplete


IN_PYTHON = ("analysis", "hosts")  # commands that have commands


@functools.cache
def options_of(*command):
    """The options of a command and their arguments, as --help says: --seed, N."""
    words = [*command, "--help"] if command[0] in IN_PYTHON else [*command, "--help=all"]
    return dict(re.findall(r"^  (?:-\w, )?(--[\w-]+)(?: ([^\s\]]+))?", call(*words).stdout, re.M))


def mistakes(words):
    """A command with one mistake, each in turn, and what the message must say."""
    options = options_of(*words[: 2 if words[0] in IN_PYTHON else 1])
    for i, option in enumerate(words):
        if not option.startswith("--"):
            continue
        assert option in options, f"{shlex.join(words)} has an option that --help does not have"
        middle = (len(option) + 2) // 2
        typo = option[:middle] + option[middle - 1] + option[middle:]
        yield [*words[:i], typo, *words[i + 1 :]], f"{typo}; did you mean {option}?"
        argument = options[option]
        if not argument:
            continue
        yield [*words[: i + 1], *words[i + 2 :]], option
        if option in FREE:
            continue
        wrong = WORD
        if re.search("FOLDER|DIR", argument):
            wrong = FOLDER
        elif re.search("FILE|TRACE", argument):
            wrong = FILE
        if words[0] == "doctor" and wrong in (FOLDER, FILE):
            continue  # which it looks for, and says on which hosts they are not
        kind = [*words[: i + 1], wrong, *words[i + 2 :]]
        read = "--config" in words or {"--folder", "--resume"} <= {*words}  # options of a file
        if words[0] == "run" and not read:
            # It reads the same options by the same functions, and needs no ranks for its workers.
            kind[:1] = ["simulate"] if "--workers" in words else ["simulate", "--workers", "30"]
        # What the folder holds already would be refused before.
        replaces = words[0] in ("import", "generate") and "--overwrite" not in kind
        yield [*kind, *["--overwrite"] * replaces], wrong


def answer(folder, words):
    """What a command says, whose patterns a shell would have expanded."""
    words = [word.replace("$SCRATCH/", "") for word in words]
    words = [
        path
        for word in words
        for path in (sorted(glob.glob(word, root_dir=folder)) if "*" in word else [word])
    ]
    if words[0] == "analysis":  # in this process, since Python takes long to start
        return analyse(folder, words[1:])
    launched = words[0] == "run" and {WORD, FILE, FOLDER} & {*words}
    return call(*words, ranks=2 if launched else None)


def analyse(folder, words):
    from quorate.analysis.cli import main

    out, err = io.StringIO(), io.StringIO()
    redirected = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with contextlib.chdir(folder), redirected[0], redirected[1]:
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
    return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())


def table(rows):
    lines = ["city,device,minutes,pages,bought\n"]
    for i in range(rows):
        city, device = "Bonn" if i % 3 else "Celle", "phone" if i % 2 else "tablet"
        lines.append(f"{city},{device},{i % 7}.5,{i % 5},{i // 2 % 2}\n")
    return "".join(lines)


EXPERIMENT = """model = logistic
step = 0.1
rounds = 10
workers = 4
scheme = uncoded, agc
data = visits.h5

[scheme agc]
stragglers = 1
"""
TUNE = """
[tune]
step = 0.1, 0.2
seed = 1001
target = test-loss=0.5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where all files are that the commands read, and those that they would write."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "visits.csv").write_text(table(2000))
    (folder / "train.csv.gz").write_bytes(gzip.compress(table(2000).encode()))
    (folder / "new.csv").write_text(table(2))
    (folder / "visits.ini").write_text("label = bought\ncategorical = city,device\n")
    (folder / "times.csv").write_text("worker,round,seconds\n0,0,1\n0,1,2\n")
    (folder / "hosts").write_text("localhost\n")
    for name in ("day", "filled"):
        (folder / f"{name}.ini").write_text(EXPERIMENT)
    (folder / "compare.ini").write_text(f"seed = 1..5\n{EXPERIMENT}{TUNE}")
    shutil.copy(REPOSITORY / "slurm/generic-slurm.ini", folder / "my-cluster.ini")
    (folder / "jobs").mkdir()  # a folder of its own, into which files of the examples come
    for path in (REPOSITORY / "jobs").iterdir():
        (folder / "jobs" / path.name).symlink_to(path)

    def done(words, launcher=()):
        command = [*launcher, QUORATE, *words.split(), "--quiet"]
        ended = subprocess.run(
            command, cwd=folder, env=environment(), capture_output=True, text=True
        )
        assert ended.returncode == 0, ended.stderr

    done("import --config visits.ini --input visits.csv --test-fraction 0.1 --output visits.h5")
    for run in range(2):
        done("run --data visits.h5 --rounds 40 --folder runs", [*LAUNCHER, "-n", "9"])
    measured = "run --data visits.h5 --rounds 30 --evaluate-every 0 --trace measured.h5"
    done(measured, [*LAUNCHER, "-n", "9"])
    trained = "simulate --data visits.h5 --rounds 60 --delay exponential:0.02 --workers"
    for workers in (4, 8):
        done(f"{trained} {workers} --trace simulated-{workers}.h5")
    done("predict runs/0001 --output scores.csv")
    for output in ("day", "stragglers"):
        done(f"script --experiment day.ini --cluster hosts --hostfile hosts --output {output}")
    for name in ("figures", "report", "tables"):
        (folder / name).mkdir()
        (folder / name / "compare.png").write_text("mine")
    data = {"data.h5", "amazon.h5", "a.h5", "scaled.h5", "small.h5", "large.h5"}
    data |= {"plain.h5", "encoded.h5"}
    sources = {True: ["visits.h5"], False: ["simulated-8.h5", "simulated-4.h5"]}
    for words in commands()[0]:
        for word in words:
            for number, source in enumerate(sources[word in data]):
                path = folder / word.replace("$SCRATCH/", "").replace("*", f"x{number}")
                if word.endswith(".h5") and not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(folder / source, path)
    return folder


def state(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("third", [0, *whole((1,), (2,))])
def test_one_mistake_in_a_command_of_the_documentation_is_one_line_and_changes_nothing(
    folder, third, monkeypatch
):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SCRATCH", str(folder))
    monkeypatch.setenv("QUORATE_DATA", str(folder))
    found, incomplete = commands()
    assert len(found) >= 60 and incomplete <= 15
    cases = [case for words in found for case in mistakes(words)]
    assert len(cases) >= 500
    before = state(folder)
    wrong = []
    for words, says in cases[third::3]:
        done = answer(folder, words)
        if (
            done.returncode != 2
            or done.stderr.count("\n") != 1
            or says not in done.stderr
            or not REMEDY.search(done.stderr)
        ):
            said = f"{done.returncode} {done.stdout}{done.stderr}"
            wrong.append(f"quorate {shlex.join(words)}\n{said}")

    assert not wrong, f"{len(wrong)} of {len(cases)} / 3:\n" + "\n".join(wrong)
    changed = {path for path, _ in state(folder).items() ^ before.items()}
    assert not changed
