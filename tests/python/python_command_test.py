# SPDX-License-Identifier: BSD-2-Clause
"""python3 -m quorate: the program, with plugins written in Python."""

import re
import subprocess
import sys

import h5py
import pytest

from program import (
    KEEP_GOING,
    LAUNCHER,
    PACKAGE,
    REPOSITORY,
    TIMEOUT,
    call,
    environment,
    inspect,
    rounds_in,
    wait_until,
)


@pytest.fixture
def plugin():
    return REPOSITORY / "tests" / "plugins" / "fastest.py"


def module(*words, launcher=(), cwd=None):
    return subprocess.run(
        [*launcher, sys.executable, "-m", "quorate", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=environment({"PYTHONPATH": PACKAGE}),
        cwd=cwd,
    )


def stopped(folder, *words, cwd):
    """Stops a run after a few rounds more than its folder holds."""
    before = rounds_in(folder / "trace.h5")
    process = subprocess.Popen(
        [sys.executable, "-m", "quorate", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment({"PYTHONPATH": PACKAGE}),
        cwd=cwd,
    )
    try:
        wait_until(lambda: rounds_in(folder / "trace.h5") > before + 10 or process.poll())
        process.terminate()
        said = process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
    assert process.returncode == 75, said
    return subprocess.CompletedProcess(process.args, process.returncode, *said)


def mpi(ranks, *more):
    return [*LAUNCHER, *more, "-n", str(ranks)]


def test_it_is_the_program(gaussians):
    words = ("simulate", "--dry", "--workers", 5, "--schem", "x")
    mine, its = module(*words), call(*words)
    assert (mine.returncode, mine.stdout, mine.stderr) == (its.returncode, its.stdout, its.stderr)
    assert module("list", "models").stdout == call("list", "models").stdout


def test_a_plugin_is_listed_with_its_options(plugin):
    done = module("list", "schemes", "--plugin", plugin)
    assert "Wait for the first R workers only" in done.stdout
    done = module("list", "schemes", "fastest", "--plugin", plugin)
    assert "--responders N        answers that end a round" in done.stdout


def test_the_program_without_python_refuses_it(plugin):
    done = call("list", "schemes", "--plugin", plugin)
    assert done.returncode == 2
    assert "is written in Python: start the command as 'python3 -m quorate ...'" in done.stderr


@pytest.mark.parametrize("resilient", [False, True])
def test_a_run_with_trace_is_replayed(plugin, gaussians, tmp_path, resilient):
    trace, again = tmp_path / "run.h5", tmp_path / "again.h5"
    words = ["--data", gaussians, "--scheme", "fastest", "--responders", 3, "--step", 0.1]
    words += ["--rounds", 10, "--plugin", plugin, "--trace", trace]
    launcher = mpi(5, *(KEEP_GOING if resilient else []))
    done = module("run", *words, *(["--resilient"] if resilient else []), launcher=launcher)
    assert done.returncode == 0, done.stderr
    done = module("simulate", "--replay", trace, "--trace", again, "--plugin", plugin)
    assert done.returncode == 0, done.stderr
    models = []
    for path in (trace, again):
        with h5py.File(path) as file:
            models.append(file["model/final"][:])
    assert inspect(trace)["status"] == "completed" and (models[0] == models[1]).all()
    done = module("simulate", "--replay", trace, "--trace", tmp_path / "third.h5")
    assert done.returncode == 2 and "give the same --plugin" in done.stderr


HEAVY = """
import os, signal
from pathlib import Path
import quorate as q

class Heavy(q.Optimizer):
    memory = 2

    def update(self, w, gradient, step, v, count):
        count += 1
        stopped = Path("{folder}/stopped")
        if count[0] == 6 and not stopped.exists():
            stopped.touch()
            os.kill(os.getpid(), signal.SIGTERM)
        v[:] = 0.9 * v + gradient
        return w - step * v

class Forgetful(q.Optimizer):
    def update(self, w, gradient, step):
        self.v = 0.9 * getattr(self, "v", 0) + gradient
        return w - step * self.v
"""


def test_an_optimiser_is_resumed_with_its_memory_or_refused(gaussians, tmp_path):
    plugin = tmp_path / "heavy.py"
    plugin.write_text(HEAVY.replace("{folder}", str(tmp_path)))
    words = ["--data", gaussians, "--workers", 3, "--rounds", 9, "--step", 0.1, "--plugin", plugin]
    models = []
    for name, runs in (("stopped", 2), ("whole", 1)):
        files = ["--trace", tmp_path / f"{name}.h5", "--checkpoint", tmp_path / f"{name}.ckp"]
        files += ["--checkpoint-every", "1r", "--resume"]
        ends = [module("simulate", *words, "--optimizer", "heavy", *files) for _ in range(runs)]
        assert [done.returncode for done in ends] == [75, 0][-runs:], ends[-1].stderr
        assert ("going on after round 6" in ends[-1].stderr) == (name == "stopped")
        with h5py.File(tmp_path / f"{name}.h5") as file:
            models.append(file["model/final"][:])
    assert (models[0] == models[1]).all()
    done = module("simulate", *words, "--optimizer", "forgetful", "--trace", tmp_path / "f.h5")
    assert done.returncode == 2 and "changes self.v, which no checkpoint keeps" in done.stderr


def test_a_run_in_a_folder_goes_on_with_its_plugin(plugin, gaussians, tmp_path):
    """By the line that it prints, from any folder; the plugin imports a file beside it."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "own.py").write_text("from beside import FIRST\n" + plugin.read_text())
    (work / "beside.py").write_text("FIRST = 1\n")
    words = ["--data", gaussians, "--scheme", "fastest", "--responders", 2, "--step", 0.1]
    words += ["--workers", 3, "--rounds", 1000000, "--plugin", "own.py", "--folder", "runs"]
    folder = work / "runs" / "0001"
    done = stopped(folder, "run", *words, cwd=work)
    printed = re.search(r"; (--folder \S+ --resume) goes on", done.stderr).group(1)
    assert printed == f"--folder {folder} --resume"
    assert f"plugin = {work}/own.py\n" in (folder / "options.ini").read_text()
    done = stopped(folder, "run", *printed.split(), cwd=tmp_path)
    assert "going on after round" in done.stderr
    moved = (work / "own.py").rename(work / "moved.py")
    done = module("run", *printed.split(), cwd=tmp_path)
    assert done.returncode == 2 and "--plugin FILE says where it is now" in done.stderr
    stopped(folder, "run", *printed.split(), "--plugin", moved, cwd=tmp_path)


def test_what_a_plugin_gets_wrong_is_told(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import quorate\n1 / 0\n")
    done = module("list", "schemes", "--plugin", wrong)
    assert done.returncode == 1
    assert done.stderr.count("ZeroDivisionError: division by zero") >= 1
    done = module("list", "schemes", "--plugin", tmp_path / "none.py")
    assert done.returncode == 2 and "none.py" in done.stderr


def test_jobs_of_an_experiment_start_python(plugin, gaussians, tmp_path):
    experiment = tmp_path / "mine.ini"
    experiment.write_text(
        f"""
summary = a scheme in Python
plugin = {plugin}
rounds = 5
step = 0.1
workers = 4
scheme = fastest, uncoded
[scheme fastest]
responders = 3
"""
    )
    out = tmp_path / "jobs"
    words = ["script", "--experiment", experiment, "--cluster", "local", "--output", out]
    words += ["--data", gaussians]
    done = module(*words)
    assert done.returncode == 0, done.stderr
    scripts = "".join(path.read_text() for path in out.glob("*.sh"))
    assert f"{sys.executable} -m quorate run --manifest" in scripts
    row = [*mpi(5), *("sh", "-c")]
    program = (
        f"PYTHONPATH={PACKAGE} {sys.executable} -m quorate run --manifest manifest.tsv --row 1"
    )
    done = subprocess.run(
        [*row, program], cwd=out, capture_output=True, text=True, timeout=TIMEOUT, env=environment()
    )
    assert done.returncode == 0, done.stderr


def test_the_analysis_is_one_of_its_commands():
    done = module("analysis", "--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: quorate analysis")
    done = module("analysis", "compare", "none.h5")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("quorate analysis: none.h5 is not a file")
