# SPDX-License-Identifier: BSD-2-Clause
"""What the program says of itself: help, lists, the manual page, completion."""

import os
import re
import shlex
import shutil
import subprocess

import pytest

from program import QUORATE, REPOSITORY, call, environment

COMMANDS = re.findall(r"^  quorate (\S+)", call("help").stdout, re.MULTILINE)
LISTS = "schemes models optimizers schedules delays compressors aggregators formats".split()
LISTS += ["clusters", "experiments"]


def ok(*words):
    done = call(*words)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def widest(text):
    return max(len(line) for line in text.splitlines())


def options_in(text):
    return re.findall(r"^  --([a-z0-9-]+)", text, re.MULTILINE)


def test_everything_fits_a_terminal_of_80_columns():
    for command in set(COMMANDS) - {"analysis", "hosts"}:
        assert widest(ok(command, "--help")) <= 80
        assert widest(ok(command, "--help=all")) <= 80
    for what in LISTS:
        text = ok("list", what)
        assert widest(text) <= 80
    assert widest(ok("help")) <= 80


def test_help_of_a_run_begins_with_ten_options_and_two_examples():
    text = ok("run", "--help")
    assert len(options_in(text)) == 10
    assert text.count("quorate run --data") == 2
    assert len(text.splitlines()) <= 52
    for group in ("data and model", "scheme", "optimiser", "messages", "resilience", "output"):
        assert f"\n  {group} " in text
    # The others are named there, and told in groups.
    everything = ok("run", "--help=all")
    assert everything == ok("run", "--help", "all")
    for name in ("timeout", "trace-arrivals", "row-time"):
        assert f"--{name}" in text and name not in options_in(text)
        assert name in options_in(everything)
    for title in ("resilience:", "output:", "of schemes:", "of optimizers:"):
        assert f"\n{title}\n" in everything


def test_a_scheme_tells_its_options_in_two_places():
    of_run = ok("run", "--scheme", "agc", "--help")
    assert options_in(of_run) == options_in(ok("list", "schemes", "agc"))
    assert "collect" in options_in(of_run) and "trace" not in options_in(of_run)
    assert "collect" not in options_in(ok("run", "--help"))
    assert "e.g. --workers 9" in ok("list", "schemes", "margulis")
    assert "SECONDS" in ok("list", "delays", "constant")
    assert "\nshifted-exponential:SHIFT,MEAN\n" + 24 * " " + "SHIFT" in ok("list", "delays")


@pytest.mark.parametrize(
    "words, message",
    [
        (["list", "schemes", "agx"], "quorate list schemes: there is no agx; did you mean agc?"),
        (["list", "schemes", "agc", "frc"], "quorate list: unexpected argument frc"),
        (["list"], "quorate list needs WHAT: quorate list WHAT [NAME]"),
        (["run", "--scheme", "agx", "--help"], "--scheme is agx; did you mean agc?"),
        (["run", "--help=some"], "quorate run: option '--help' does not take any arguments"),
    ],
)
def test_what_is_not_there_is_one_line(words, message):
    done = call(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and done.stderr.count("\n") == 1


def examples_of(command):
    """The commands below Examples, as the shell would read them."""
    lines = ok(command, "--help").partition("Examples:\n")[2].partition("\n\n")[0]
    return [shlex.split(line) for line in lines.replace("\\\n", " ").splitlines()]


def test_every_example_runs(tmp_path):
    """In the order in which a user would: each as it stands, with a program of that name."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "quorate").symlink_to(QUORATE)
    (tmp_path / "train.csv").write_text("a,b,target\n" + "0.5,1,1\n1.5,-1,-1\n2.5,1,1\n" * 100)
    (tmp_path / "train.libsvm").write_text("1 1:1 2:0.5\n-1 2:1\n" * 100)
    shutil.copy(tmp_path / "train.libsvm", tmp_path / "test.libsvm")
    env = environment()
    env["PATH"] = f"{tmp_path / 'bin'}:{env['PATH']}"
    uncoded = "mpiexec -n 5 quorate run --data data.h5 --trace uncoded.h5 --quiet".split()
    ran = []

    def execute(words):
        done = subprocess.run(
            words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, (words, done.stderr)
        ran.append(words)

    for command in ["import", "generate", "run", "simulate", "inspect", "list", "predict"]:
        for words in examples_of(command):
            if command in ("import", "generate"):  # ways to the same data set
                (tmp_path / "data.h5").unlink(missing_ok=True)
            execute(words)
    execute([*examples_of("run")[0][:3], *uncoded[3:]])
    for command in ["tune", "optimum", "evaluate", "script", "todo"]:
        for words in examples_of(command):
            execute(words)
    execute(examples_of("advise")[0])
    assert len(ran) > 15


def test_the_manual_page_has_groups_and_examples():
    page = ok("help", "--man")
    assert ".SH EXAMPLES\n" in page and "quorate simulate \\-\\-dry" in page
    assert page.count("\\fB\\-\\-plugin\\fR") == 1  # once, for all commands
    assert "\n.PP\n\\fIresilience\\fR\n" in page
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-z"], input=page, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0 and done.stderr == ""


# --- completion -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """What bash would offer for the last of some words, of which one names the program."""
    script = REPOSITORY / "env" / "completion"
    folder = tmp_path_factory.mktemp("completion")
    for place in (folder, folder / "build", folder / "a b"):
        place.mkdir(exist_ok=True)
        (place / "quorate").symlink_to(QUORATE)
    (folder / "home" / "quorate").mkdir(parents=True)
    env = {**environment(), "PATH": f"{folder}:{os.environ['PATH']}"}
    ask = 'COMPREPLY=(); . "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); function="$({})"\n'
    ask = ask.format(r'complete -p "${1##*/}" | sed "s/.*-F \([^ ]*\).*/\1/"')
    ask += 'last=${COMP_WORDS[COMP_CWORD]}; [[ $last != [=:] ]] || last=""  # as bash does\n'
    ask += '"$function" "$1" "$last" "${COMP_WORDS[COMP_CWORD - 1]}"\n'
    ask += 'printf "%s\\n" "${COMPREPLY[@]}"'

    def offered(*words):
        done = subprocess.run(
            ["bash", "-u", "-c", ask, script, *words],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=20,
        )
        assert done.stderr == ""
        return done.stdout.split()

    return offered


@pytest.mark.parametrize(
    "words, offered",
    [
        (["quorate", "insp"], ["inspect"]),
        (["build/quorate", "insp"], ["inspect"]),
        (["quorate", "run", "--schem"], ["--scheme"]),
        (["quorate", "run", "--scheme", "ag"], ["agc"]),
        (["quorate", "simulate", "--slowdown", "par"], ["pareto"]),
        (["quorate", "generate", "--model", "s"], ["softmax", "sparse-onehot", "samples"]),
        (["quorate", "run", "--evaluate", ""], ["after", "live"]),
        (["quorate", "run", "--data", ""], []),  # then bash offers files
        (["quorate", "list", "sch"], ["schemes", "schedules"]),
        (["quorate", "list", ""], LISTS),
        (["quorate", "list", "schemes", "uncod"], ["uncoded"]),
        (["quorate", "list", "experiments", "strag"], ["stragglers"]),
        (["quorate", "script", "--cluster", "niag"], ["niagara"]),
        (["mpiexec", "-n", "9", "quorate", "sim"], ["simulate"]),
        (["mpiexec", "-n", "9", "build/quorate", "run", "--optimizer", "ad"], ["adam", "adamw"]),
        (["srun", "-n", "9", "quorate", "list", "sched"], ["schedules"]),
        (["quorate", "analysis", "re"], ["report"]),
        (["quorate", "analysis", "report", "--o"], ["--out"]),
        (["quorate", "analysis", "sweep", "a.h5", "--wh"], ["--what"]),
        (["quorate", "analysis", "compare", ""], []),
        # Bash splits words at = and at :, and leaves quotes and variables as they are typed.
        (["quorate", "run", "--scheme", "=", "ag"], ["agc"]),
        (["quorate", "run", "--evaluate", "="], ["after", "live"]),
        (["quorate", "run", "--delay", "tr"], ["trace"]),
        (["quorate", "run", "--delay", "trace", ":"], []),
        (["quorate", "run", "--delay", "trace", ":", "d"], []),
        (["mpiexec", "a\\ b/quorate", "insp"], ["inspect"]),
        (["mpiexec", "'a b'/quorate", "insp"], ["inspect"]),
        (["mpiexec", '"$B"/quorate', "insp"], ["inspect"]),
        (["mpiexec", "--wdir", "home/quorate", "quorate", "insp"], ["inspect"]),
        (["mpiexec", "--wdir", "none/quorate", "build/quorate", "insp"], ["inspect"]),
        (["quorate", "run", "--checkpoint", "none/quorate", "--schem"], ["--scheme"]),
        (["mpiexec", "quorate", "run", ":", "quorate", "insp"], ["inspect"]),
        (["mpiexec", "-n"], []),
        (["mpiexec", "-n", "9", "other", "ru"], []),
    ],
)
def test_completion_knows_what_can_follow(complete, words, offered):
    assert complete(*words) == offered


def test_completion_knows_all_commands_of_the_analysis_and_their_options(complete):
    from quorate.analysis.cli import parser

    commands = parser().commands
    assert set(complete("quorate", "analysis", "")) == {*commands, "--help"}
    for name, command in commands.items():
        known = {option for option in command._option_string_actions if option[:2] == "--"}
        assert set(complete("quorate", "analysis", name, "--")) == known


def test_completion_knows_all_commands_of_hosts_and_their_options(complete):
    told = call("hosts", "--help").stdout
    commands = re.findall(r"^    ([a-z]+) ", told, re.M)
    assert set(complete("quorate", "hosts", "")) == {*commands, "--help"}
    for command in commands:
        options = set(re.findall(r"--[a-z]+", call("hosts", command, "--help").stdout))
        assert set(complete("quorate", "hosts", command, "--")) == options
