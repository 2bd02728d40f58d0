# SPDX-License-Identifier: BSD-2-Clause
"""quorate by its name alone: env/activate, what make install puts beside it, its analysis."""

import os
import pathlib
import subprocess

import pytest

from program import QUORATE, REPOSITORY, call, environment, output

BUILD = pathlib.Path(QUORATE).parent


def bash(*lines, **env):
    """What bash prints; PATH and the like are as after login."""
    plain = {**environment(), "PATH": "/usr/bin:/bin", **env}
    for name in ("PYTHONPATH", "MANPATH"):
        if name not in env:
            plain.pop(name, None)
    return subprocess.run(
        ["bash", "-euc", "\n".join(lines)], env=plain, capture_output=True, text=True, timeout=60
    )


def activate(build=BUILD):
    return f". {REPOSITORY}/env/activate {build}"


def test_activate_makes_quorate_a_command():
    done = bash(activate(), "command -v quorate", "quorate --version", "quorate analysis --help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{BUILD}/quorate\nquorate ")
    assert "usage: quorate analysis" in done.stdout


def test_activate_again_changes_nothing_but_the_order():
    shown = ('echo "$PATH $PYTHONPATH $MANPATH"',)
    once = bash(activate(), *shown)
    assert once.stdout.split() == [
        f"{BUILD}:/usr/bin:/bin",
        f"{BUILD}/python",
        f"{BUILD}/share/man:",
    ]
    assert bash(activate(), activate(), *shown).stdout == once.stdout
    mine = {"PYTHONPATH": f"/mine:{BUILD}/python:/other", "PATH": f"/usr/bin:{BUILD}:/bin"}
    assert bash(activate(), *shown, **mine).stdout.split()[:2] == [
        f"{BUILD}:/usr/bin:/bin",
        f"{BUILD}/python:/mine:/other",
    ]


def test_activate_brings_completion_and_leaves_nothing_else():
    done = bash(
        "before=$(compgen -v | sort)",
        activate(),
        "complete -p quorate mpiexec srun",
        'comm -13 <(echo "$before") <(compgen -v | sort)',
        "compgen -A function",
    )
    lines = done.stdout.split("\n")
    assert all("-F _quorate" in line for line in lines[:3])
    assert not [line for line in lines[3:] if "quorate" in line and line != "_quorate"]


@pytest.mark.parametrize("build", ["nowhere", "folder"])
def test_activate_refuses_what_is_no_build(build, tmp_path):
    (tmp_path / "folder" / "quorate").mkdir(parents=True)
    build = tmp_path / build
    done = bash(f"if {activate(build)}; then echo yes; fi", "echo $PATH")
    assert done.stdout == "/usr/bin:/bin\n"
    assert done.stderr.count("\n") == 1 and "run make first" in done.stderr


def test_activate_is_for_bash():
    done = subprocess.run(["dash", "-c", activate()], capture_output=True, text=True, timeout=20)
    assert done.returncode != 0 and "env/activate is for bash" in done.stderr


# --- analysis -------------------------------------------------------------------------------------


def test_the_analysis_is_a_command(gaussians, tmp_path):
    trace = tmp_path / "t.h5"
    words = ["--data", gaussians, "--workers", 3, "--rounds", 5, "--quiet", "--trace", trace]
    assert call("simulate", *words).returncode == 0
    done = call("analysis", "compare", trace)
    assert done.returncode == 0 and "final loss" in done.stdout
    alias = [os.environ.get("PYTHON", "python3"), REPOSITORY / "analysis" / "quorate-analysis"]
    assert output(*alias, "compare", trace) == done.stdout


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "quorate analysis: the following arguments are required: COMMAND"),
        (["compare", "none.h5"], "quorate analysis: none.h5 is not a file"),
        (["compare", "--plugin", "x"], "see quorate analysis"),
    ],
)
def test_what_is_wrong_with_the_analysis_is_one_line(words, message):
    done = call("analysis", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_the_analysis_is_one_process():
    done = call("analysis", "--help", ranks=2)
    assert done.returncode == 2
    assert "quorate analysis is one process: start it without a launcher" in done.stderr


def test_an_installed_tree_has_all_of_it(prefix):
    completions = prefix / "share" / "bash-completion" / "completions"
    assert os.readlink(completions / "mpiexec") == "quorate"
    done = output("bash", "-c", f". {completions}/mpiexec; complete -p mpiexec")
    assert "-F _quorate mpiexec" in done
    assert "usage: quorate analysis" in output(prefix / "bin" / "quorate", "analysis", "--help")
