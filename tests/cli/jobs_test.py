# SPDX-License-Identifier: BSD-2-Clause
"""Experiments, manifests and job scripts: script, submit, todo, and runs of a manifest's row."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import h5py
import numpy
import pytest

from program import OPEN_MPI, QUORATE, REPOSITORY, call, environment, whole

BASE = "scheme = uncoded\nworkers = 4\nrounds = 5\n"
PREPARE = "[prepare]\ncommand = generate\nrows = 60\ncolumns = 3\n"
# What must stay text wherever a user can write it; each would leave a file X.
NASTY = [
    "two words",
    "it's",
    'say "x"',
    "$(touch X)",
    "`touch X`",
    "a; touch X",
    "a\ntouch X\n#",
    "'; touch X; '",
    "* ~ #",
    "100%j",
]
NASTY_IDS = "blank quote quotes dollar back semi line both glob percent".split()


def written(folder, text, name="x.ini"):
    path = folder / name
    path.write_text(text)
    return path


def script(folder, text, *words, cluster="local", env=None, name="x.ini"):
    """quorate script for an experiment of this text, with everything in FOLDER/out."""
    source = ["--experiment", written(folder, text, name), "--cluster", cluster]
    output = [] if "--output" in words else ["--output", folder / "out"]
    return call("script", *source, *output, *words, env=env)


def ok(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(done, *phrases):
    """Exit status 2, and one line that says this."""
    assert done.returncode == 2, done.stdout + done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("quorate: "), done.stderr
    for phrase in phrases:
        assert phrase in lines[0]
    assert done.stdout == ""


def rows_of(path):
    """The rows of a manifest, as Python reads them."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]


def expanded(folder, text, *words, **more):
    """The rows that an experiment expands to."""
    ok(script(folder, text, *words, **more))
    return rows_of(folder / "out" / "manifest.tsv")


def values(rows, *names):
    return [tuple(row.get(name, "") for name in names) for row in rows]


def run_bash(path, cwd, env=None, *words):
    return subprocess.run(
        ["bash", path, *words],
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        text=True,
        timeout=60,
    )


def stand_in(folder, name, text):
    """A program of this name that a PATH with the folder finds first."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


# --- expansion ------------------------------------------------------------------------------------


def test_lists_and_ranges_expand_with_the_first_option_slowest(tmp_path):
    text = "scheme = uncoded, frc\nworkers = 4\nrounds = 5\nseed = 7..8, 11\n"
    rows = expanded(tmp_path, text)
    want = [(scheme, seed) for scheme in ("uncoded", "frc") for seed in ("7", "8", "11")]
    assert values(rows, "scheme", "seed") == want
    assert [row["run"] for row in rows] == list("123456")
    assert rows[5]["trace"] == "6-frc-seed11.h5"
    assert rows[5]["checkpoint"] == "6-frc-seed11.ckpt"
    assert {row["workers"] for row in rows} == {"4"}


def test_a_comma_without_a_blank_belongs_to_the_value(tmp_path):
    rows = expanded(tmp_path, BASE + "delay = pareto:0.1,3, none\n")
    assert values(rows, "delay") == [("pareto:0.1,3",), ("none",)]
    assert "_" in rows[0]["trace"] and "," not in rows[0]["trace"]


def test_a_section_is_of_the_runs_whose_option_has_its_value(tmp_path):
    text = (
        "scheme = uncoded, agc\nworkers = 4\nrounds = 5\nstep = 1\n"
        "[scheme agc]\nstragglers = 1\ncollect = 2, 3\nstep = 0.5\n"
    )
    rows = expanded(tmp_path, text)
    assert values(rows, "scheme", "stragglers", "collect", "step") == [
        ("uncoded", "", "", "1"),
        ("agc", "1", "2", "0.5"),
        ("agc", "1", "3", "0.5"),
    ]


def test_braces_stand_for_the_folders_of_the_file_and_of_raw_data(tmp_path):
    text = BASE + "data = {here}/d.h5\ncheckpoint = {data}/c, {data}/d\n"
    rows = expanded(tmp_path, text, "--data-folder", tmp_path / "raw")
    assert values(rows, "data", "checkpoint") == [
        (f"{tmp_path}/d.h5", f"{tmp_path}/raw/{name}") for name in "cd"
    ]
    shutil.rmtree(tmp_path / "out")
    assert expanded(tmp_path, text, env={"QUORATE_DATA": f"{tmp_path}/raw/"}) == rows
    ok(script(tmp_path, text, "--data-folder", "/{data}/x", "--output", tmp_path / "b"))
    assert rows_of(tmp_path / "b" / "manifest.tsv")[0]["checkpoint"] == "/{data}/x/c"


def test_sections_name_values_that_have_braces(tmp_path):
    text = BASE + "data = d.h5\ndelay = none, trace:{data}/t.csv\n"
    text += "[delay trace:{data}/t.csv]\nseed = 7\n"
    rows = expanded(tmp_path, text, "--data-folder", tmp_path / "raw")
    assert [row["seed"] for row in rows if row["delay"] == f"trace:{tmp_path}/raw/t.csv"] == ["7"]


def test_sections_run_and_simulate_are_of_one_command(tmp_path):
    text = BASE + "[run]\ntimeout = 5\n[simulate]\nrow-time = 1e-6\n"
    assert values(expanded(tmp_path, text), "timeout", "row-time") == [("5", "")]
    shutil.rmtree(tmp_path / "out")
    rows = expanded(tmp_path, text, "--command", "simulate")
    assert values(rows, "timeout", "row-time") == [("", "1e-6")]
    run = (tmp_path / "out" / "run.sh").read_text()
    assert " simulate --manifest" in run and "srun" not in run


def test_an_experiment_says_which_commands_make_sense(tmp_path):
    text = "commands = simulate\n" + BASE
    refused(script(tmp_path, text), "is not made for quorate run", "--command simulate")
    ok(script(tmp_path, text, "--command", "simulate"))
    text = "commands = walk\n" + BASE
    refused(script(tmp_path, text), "x.ini:1: ", "write run, simulate or both")


TUNE = """
[tune]
step = 0.1, 1
seed = 1001..1002
target = loss=0.5
"""


def test_tuning_tries_its_grid_in_place_of_what_the_experiment_says(tmp_path):
    text = (
        "scheme = uncoded, frc\nstep = 0.3, 0.5\nseed = 1..3\nworkers = 4\n"
        "[run]\nrounds = 10\n[simulate]\nrounds = 20\n[scheme frc]\nstep = 7, 8, 9\n"
        "[prepare]\ncommand = generate\n"
    )
    before = expanded(tmp_path, text)
    shutil.rmtree(tmp_path / "out")
    rows = expanded(tmp_path, text + TUNE, "--command", "tune")
    wanted = [(s, step, i) for s in ("uncoded", "frc") for step in ("0.1", "1") for i in (1, 2)]
    found = values(rows, "scheme", "step", "seed", "rounds")
    assert sorted(found) == sorted((s, step, f"100{i}", "20") for s, step, i in wanted)
    lines = (tmp_path / "out" / "analyse.sh").read_text().splitlines()
    (line,) = [one for one in lines if " tune " in one]
    assert not any('report "$' in one for one in lines)
    words = "--option step --target loss=0.5 --out report --name figure --refine "
    assert line.endswith(words + str(QUORATE))
    # What has one value holds for all.
    shutil.rmtree(tmp_path / "out")
    more = TUNE + "rounds = 15\ndelay = exponential:1\n"
    longer = expanded(tmp_path, text + more, "--command", "tune")
    found = values(longer, "scheme", "step", "seed", "rounds", "delay")
    assert sorted(found) == sorted(
        (s, step, f"100{i}", "15", "exponential:1") for s, step, i in wanted
    )
    # A grid is of no other command.
    shutil.rmtree(tmp_path / "out")
    assert expanded(tmp_path, text + TUNE) == before
    # What came of it is used by the others, and tried again by tuning.
    (tmp_path / "x.tuned").write_text("[scheme frc]\nstep = 0.1\n[scheme gone]\nstep = 1\n")
    shutil.rmtree(tmp_path / "out")
    steps = values(expanded(tmp_path, text + TUNE), "scheme", "step", "seed")
    assert sorted(steps) == sorted(
        [("uncoded", step, str(i)) for step in ("0.3", "0.5") for i in (1, 2, 3)]
        + [("frc", "0.1", str(i)) for i in (1, 2, 3)]
    )
    shutil.rmtree(tmp_path / "out")
    assert expanded(tmp_path, text + TUNE, "--command", "tune") == rows


@pytest.mark.parametrize(
    "text, phrases",
    [
        ("", ["has no section [tune]: write one with target, seed and a list of step"]),
        ("[tune]\nstep = 1, 2\nseed = 5\n", ["section [tune] needs target"]),
        ("[tune]\nstep = 1, 2\ntarget = loss=1\n", ["section [tune] needs target"]),
        ("[tune]\nstep = 1\nseed = 5..6\ntarget = loss=1\n", ["one option with a list"]),
        (
            "[tune]\nstep = 1, 2\nl2 = 0, 1\nseed = 5\ntarget = loss=1\n",
            ["one option with a list"],
        ),
        ("seed = 3..5\n" + TUNE.replace("1001", "5"), ["x.ini:", "seed 5 is one of"]),
        (TUNE.replace("1001..1002", "0..3"), ["seed 0 is one of the experiment's too"]),
    ],
)
def test_a_grid_that_is_none_is_refused(tmp_path, text, phrases):
    text = "scheme = uncoded\nworkers = 4\n" + text + "\n[prepare]\ncommand = generate\n"
    refused(script(tmp_path, text, "--command", "tune"), *phrases)
    assert not (tmp_path / "out").exists()


def test_tuning_writes_what_the_runs_then_use(tmp_path):
    """make tune-NAME, in a tree of its own."""
    jobs = tmp_path / "jobs"
    for name in ("jobs/experiment", "env/fetch-data", "docs/data.md"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(REPOSITORY / name, tmp_path / name)
    (jobs / "x.ini").write_text(
        "model = ridge\noptimizer = gd\nworkers = 4\nrounds = 30\nscheme = uncoded, frc\n"
        "row-time = 0.01\nevaluate-every = 1\nseed = 1\nstep = 0.5\n"
        "[tune]\nstep = 0.001, 0.01\nseed = 11\ntarget = loss=0.36\n"
        "[prepare]\ncommand = generate\nrows = 200\ncolumns = 5\n"
    )
    env = {**environment(), "QUORATE": str(QUORATE), "B": "build"}
    words = ["bash", jobs / "experiment", "tune", "x"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    tuned = (jobs / "x.tuned").read_text()
    assert "# Made by make tune-x.\n# quorate analysis tune --option step" in tuned
    # Beyond the grid, as its end is the best of it.
    assert re.search(r"\n# of 0\.001, .*, 0\.1 with the seeds 11\.\n", tuned)
    chosen = dict(re.findall(r"\[scheme (\w+)\]\nstep = (\S+)\n", tuned))
    assert set(chosen) == {"uncoded", "frc"} and min(map(float, chosen.values())) > 0.01
    words = ["--experiment", jobs / "x.ini", "--cluster", "local", "--command", "simulate"]
    ok(call("script", *words, "--output", tmp_path / "out"))
    rows = rows_of(tmp_path / "out" / "manifest.tsv")
    assert {row["scheme"]: row["step"] for row in rows} == chosen


def test_an_experiment_says_what_its_figure_is(tmp_path):
    ok(script(tmp_path, "figure = sweep --over seed --what loss $(x)\n" + BASE))
    lines = (tmp_path / "out" / "analyse.sh").read_text().splitlines()
    (line,) = [one for one in lines if " sweep " in one]
    assert line.endswith(" --over seed --what loss '$(x)' --out report --name figure")
    assert not any(" compare " in one for one in lines)
    for figure in ("pie", "report"):
        text = f"figure = {figure}\n" + BASE
        refused(script(tmp_path, text), "x.ini:1: ", "write compare or sweep")


def test_a_manifest_reads_back_as_it_was_written(tmp_path):
    # The second call compares what it reads with what it would write.
    text = BASE + "checkpoint = a\\tb \"q\" 's' \\\\ $(x).c\n"
    first = expanded(tmp_path, text)
    assert expanded(tmp_path, text) == first
    assert first[0]["checkpoint"] == "a\\\\tb \"q\" 's' \\\\\\\\ $(x).c"
    manifest = tmp_path / "out" / "manifest.tsv"
    ok(call("script", "--manifest", manifest, "--cluster", "local"))
    assert rows_of(manifest) == first


def test_an_edited_manifest_makes_new_scripts_and_stays_as_it_is(tmp_path):
    ok(script(tmp_path, BASE + "seed = 1..2\n"))
    manifest = tmp_path / "out" / "manifest.tsv"
    lines = manifest.read_text().splitlines()
    lines += ["", "# mine", "7" + lines[-1][1:].replace("2-", "7-")]
    edited = "\n".join(lines).replace("\t4\t", "\t6\t") + "\n"
    manifest.write_text(edited)
    ok(call("script", "--manifest", manifest, "--cluster", "local", "--time", "30min"))
    assert manifest.read_text() == edited
    run = (tmp_path / "out" / "run.sh").read_text()
    for line in ("--array=1-2,7", "--ntasks=7", "--time=0:30:00", "--job-name=out"):
        assert f"#SBATCH {line}\n" in run
    for other in (BASE + "seed = 1..2\n", BASE):
        refused(script(tmp_path, other), f"{manifest} is there", f"--manifest {manifest}")
        assert manifest.read_text() == edited


def test_a_job_is_named_by_its_folder_however_that_is_given(tmp_path):
    ok(script(tmp_path, BASE))
    out = tmp_path / "out"
    command = [QUORATE, "script", "--manifest", "./manifest.tsv", "--cluster", "local"]
    done = subprocess.run(command, cwd=out, env=environment(), capture_output=True, text=True)
    assert (ok(done), f"{out}/manifest.tsv: 1 runs\n" in done.stderr) == ("", True)
    run = (out / "run.sh").read_text()
    assert "#SBATCH --job-name=out\n" in run and f"\ncd {out}\n" in run
    done = script(tmp_path, BASE, "--output", f"{out}/")
    assert (ok(done), f"{out}/manifest.tsv" in done.stderr) == ("", True)


def test_rows_and_data_set_are_named_and_prepared(tmp_path):
    rows = expanded(tmp_path, BASE + PREPARE)
    assert values(rows, "data") == [("data.h5",)]
    text = (tmp_path / "out" / "prepare.sh").read_text()
    assert "[ -e data.h5 ] || " in text
    assert "generate --rows 60 --columns 3 --output data.h5" in text
    assert "optimum --data" not in text


def test_the_optimum_of_the_runs_objective_is_found_with_the_data(tmp_path):
    expanded(tmp_path, BASE + "model = ridge\nl2 = 0.01\n" + PREPARE + "optimum = on\n")
    text = (tmp_path / "out" / "prepare.sh").read_text()
    assert text.endswith("optimum --data data.h5 --model ridge --l2 0.01\n"), text
    other = tmp_path / "other"
    other.mkdir()
    expanded(other, BASE + PREPARE + "optimum = off\n")
    assert "optimum --data" not in (other / "out" / "prepare.sh").read_text()


def test_a_list_takes_the_place_of_another_and_a_run_is_made_once(tmp_path):
    rows = expanded(tmp_path, BASE + "step = 1, 2\nseed = 1, 2\n[scheme uncoded]\nstep = 3, 4\n")
    assert values(rows, "seed", "step") == [("1", "3"), ("1", "4"), ("2", "3"), ("2", "4")]


CLAIM = "measure = time\nof = scheme=frc\nbeside = scheme=uncoded\n"
CLAIMED = "scheme = uncoded, frc\nworkers = 4\nrounds = 5\nseed = 1..2\n[claim it]\n"


def test_a_claim_names_the_runs_of_both_sides(tmp_path):
    text = CLAIMED + CLAIM + "paper = 20 % less\nsource = X\nwhere = workers=4\n"
    ok(script(tmp_path, text + "[claim own]\n" + CLAIM.replace("time", "final gap")))
    claims = json.loads((tmp_path / "out" / "claims.json").read_text())
    first, own = claims["claims"]
    assert (first["name"], first["paper"], first["says"]) == ("it", [1.25, 1.25], "20 % less")
    assert own["paper"] is None and own["measure"] == "final gap" and own["pairs"] == "seed"
    rows = rows_of(tmp_path / "out" / "manifest.tsv")
    for side, scheme in (("of", "frc"), ("beside", "uncoded")):
        found = {(run["pair"], run["trace"]) for run in first[side]["runs"]}
        assert found == {(r["seed"], r["trace"]) for r in rows if r["scheme"] == scheme}
    # Without the section there is none; over MPI one that has no runs there is left out.
    ok(script(tmp_path, text.split("[claim")[0]))
    assert not (tmp_path / "out" / "claims.json").exists()
    text = text.replace("workers=4", "step=2") + "[run]\nstep = 1\n[simulate]\nstep = 2\n"
    ok(script(tmp_path, text, "--output", tmp_path / "run"))
    ok(script(tmp_path, text, "--command", "simulate", "--output", tmp_path / "simulate"))
    assert not (tmp_path / "run" / "claims.json").exists()
    assert (tmp_path / "simulate" / "claims.json").exists()


def test_each_pair_of_a_claim_may_have_the_best_of_several_options(tmp_path):
    grid = "[scheme frc]\nstep = 1, 2\nbatch = 4, 8\n[claim it]\n"
    text = CLAIMED.replace("[claim it]\n", grid) + CLAIM + "best-of-pair = step, batch\n"
    ok(script(tmp_path, text))
    (claim,) = json.loads((tmp_path / "out" / "claims.json").read_text())["claims"]
    assert (claim["best"], claim["best_of_pair"]) == ("", "step, batch")
    found = {(run["pair"], run["best"]) for run in claim["of"]["runs"]}
    assert found == {(s, b) for s in "12" for b in ("1, 4", "1, 8", "2, 4", "2, 8")}


def test_papers_say_numbers_ranges_and_percent(tmp_path):
    for paper, low, high in [("3", 3, 3), ("2..5", 2, 5), ("2..", 2, None), ("50 % less", 2, 2)]:
        ok(script(tmp_path, CLAIMED + CLAIM + f"paper = {paper}\nsource = X\n"))
        claims = json.loads((tmp_path / "out" / "claims.json").read_text())["claims"]
        assert claims[0]["paper"] == [low, high], paper


@pytest.mark.parametrize(
    "text, phrases",
    [
        (CLAIM + "papr = 1\n", ["x.ini:9: ", "no line papr", "did you mean paper?"]),
        (CLAIM + "paper = fast\nsource = X\n", ["x.ini:9: paper is fast", "30 % less"]),
        (CLAIM + "paper = 0.5\nsource = X\n", ["x.ini:9: paper is 0.5", "exchange"]),
        (CLAIM + "paper = 5..2\nsource = X\n", ["x.ini:9: paper is 5..2"]),
        (CLAIM + "paper = 100 % less\nsource = X\n", ["x.ini:9: paper is 100 % less"]),
        (CLAIM + "paper = 2\n", ["x.ini:9: ", "no source"]),
        (CLAIM + "best =\n", ["x.ini:9: best is empty"]),
        (CLAIM + "best = step\nbest-of-pair = step\n", ["x.ini:10: ", "leave one out"]),
        (CLAIM.replace("time", "beauty"), ["x.ini:6: measure is beauty", "round-time"]),
        ("of = scheme=frc\n", ["x.ini:6: claim it does not say measure"]),
        (CLAIM.replace("=frc", "=agc"), ["x.ini:7: claim it has no runs for of = scheme=agc"]),
        (CLAIM.replace("=frc", "-frc"), ["x.ini:7: of is scheme-frc", "OPTION=VALUE"]),
        (CLAIM.replace("scheme=frc", "shceme=frc"), ["x.ini:7: ", "did you mean scheme?"]),
        (CLAIM.replace("scheme=frc", "rounds=5"), ["x.ini:7: ", "runs 1 and 3", "seed 1"]),
        (CLAIM + "pairs = scheme\n", ["x.ini:7: ", "both of scheme frc"]),
    ],
)
def test_a_claim_that_cannot_be_is_refused(tmp_path, text, phrases):
    refused(script(tmp_path, CLAIMED + text, "--command", "simulate"), *phrases)
    refused(script(tmp_path, BASE + "[claim]\n" + CLAIM), "x.ini:5: ", "no name")
    assert not (tmp_path / "out").exists()


def test_an_experiment_is_run_with_other_seeds(tmp_path):
    text = BASE + "scheme = uncoded, frc\nseed = 1..9\n[scheme frc]\nseed = 5\n" + PREPARE
    rows = expanded(tmp_path, text.split("\n", 1)[1] + "seed = 3\n", "--seeds", "100..101")
    assert values(rows, "scheme", "seed") == [
        (scheme, seed) for scheme in ("uncoded", "frc") for seed in ("100", "101")
    ]
    assert "--seed 3" in (tmp_path / "out" / "prepare.sh").read_text()
    manifest = tmp_path / "out" / "manifest.tsv"
    words = ("script", "--manifest", manifest, "--cluster", "local", "--seeds", "1")
    refused(call(*words), "--seeds", "leave it out")
    refused(script(tmp_path, BASE, "--seeds", "1..2", "--output", tmp_path / "b"), "no seeds")


@pytest.mark.whole
def test_all_claims_are_simulated_and_written_down(tmp_path):
    """As `make claims` does, in a folder with experiments of its own."""
    (tmp_path / "docs").mkdir()
    shutil.copy(REPOSITORY / "docs" / "data.md", tmp_path / "docs")
    shutil.copytree(REPOSITORY / "jobs", tmp_path / "jobs", ignore=shutil.ignore_patterns("*.ini"))
    shutil.copytree(REPOSITORY / "env", tmp_path / "env")
    (tmp_path / "jobs" / "papers.md.in").write_text("# Papers\n\n@paper Work 2026@\n")
    text = CLAIMED.replace("1..2", "1..5").replace("[claim", "dry = on\n[claim", 1) + CLAIM
    text = text.replace("frc", "ignore, frc", 1)
    text = text.replace("dry = on", "dry = on\ndelay = exponential:0.05\nsummary = of ours")
    written(tmp_path / "jobs", text, "tiny.ini")
    written(tmp_path / "jobs", text.replace("seed = 1..5\n", ""), "seedless.ini")
    written(tmp_path / "jobs", text.split("[claim")[0], "silent.ini")
    written(tmp_path / "jobs", "commands = run\n" + text, "over-mpi.ini")
    env = {"QUORATE": str(QUORATE), "B": "b"}
    run_claims = (tmp_path / "jobs" / "claims", tmp_path)
    paper = tmp_path / "docs" / "papers.md"

    done = run_bash(*run_claims, env, "tiny")
    assert "holds" in ok(done) and done.stderr.startswith("tiny: ")
    assert not (tmp_path / "docs/experiments.md").exists()
    assert not (tmp_path / "b/jobs/seedless").exists()
    done = run_bash(*run_claims, env)
    assert done.returncode == 1 and not paper.exists()
    assert "papers_page.py: docs/experiments.md has no claims of Work 2026\n" in done.stderr
    (tmp_path / "jobs" / "papers.md.in").write_text("# Papers\n")
    assert ok(run_bash(*run_claims, env)).endswith("docs/experiments.md docs/papers.md\n")
    assert paper.read_text() == "# Papers\n"
    traces = (tmp_path / "b" / "jobs" / "tiny" / "simulate").glob("*.h5")
    assert sorted({path.name.split("-")[1] for path in traces}) == ["frc", "uncoded"]
    page = (tmp_path / "docs" / "experiments.md").read_text()
    assert "@" not in page and "### tiny\n\nof ours\n\n| claim |" in page
    assert "too few seeds" in page and "### seedless" in page and "silent" not in page
    assert "### over-mpi" not in page
    assert "stragglers  " in page  # of quorate list experiments
    assert "Claims of papers" not in page
    assert "Claims of our own: 2; holds 1, too few seeds 1." in page
    assert "The runs took 0 minutes" in page and "No runs with other seeds were there" in page

    done = run_bash(*run_claims, {**env, "SEEDS": "100..104"})
    (line,) = [line for line in ok(done).splitlines() if "tiny it " in line]
    assert line.startswith("tiny it ") and line.endswith("same")
    rows = rows_of(tmp_path / "b" / "jobs" / "tiny" / "simulate-seeds-100..104" / "manifest.tsv")
    assert {row["seed"] for row in rows} == {"100", "101", "102", "103", "104"}
    page = (tmp_path / "docs" / "experiments.md").read_text()
    assert "SEEDS=100..104` computes" in page and "Of 1 claims 1 have the same verdict." in page

    done = run_bash(*run_claims, env, "none")
    assert done.returncode != 0 and "there is no jobs/none.ini" in done.stderr


def test_a_thousand_runs_are_written_at_once(tmp_path):
    rows = expanded(tmp_path, BASE + "seed = 1..1000\n")
    assert len(rows) == 1000 and len({row["trace"] for row in rows}) == 1000
    assert "#SBATCH --array=1-1000\n" in (tmp_path / "out" / "run.sh").read_text()


def test_clusters_are_listed(tmp_path):
    lines = ok(call("list", "clusters")).splitlines()
    names = {line.split()[0] for line in lines if not line.startswith(" ")}
    assert names == {path.stem for path in (REPOSITORY / "slurm").glob("*.ini")}


# --- bad input ------------------------------------------------------------------------------------

BAD_EXPERIMENTS = [
    ("scheme = uncoded\nworkers 4\n", ["x.ini:2: ", "'name = value'"]),
    ("[scheme\n" + BASE, ["x.ini:1: "]),
    (BASE + "rounds = 6\n", ["x.ini:4: ", "duplicate"]),
    (BASE + "[walk]\nseed = 1\n", ["x.ini:5: ", "no section [walk]", "[run]"]),
    (BASE + "seed = \n", ["x.ini:4: seed is empty", "leave the line out"]),
    (BASE + "seed = 9..1\n", ["x.ini:4: seed is 9..1", "smaller number first"]),
    (BASE + "seed = 1, , 2\n", ["x.ini:4: seed is 1, , 2", "between two commas"]),
    (BASE + "seed = 1..99999999999\n", ["x.ini:4: ", "too much"]),
    (BASE + "seed = 1..2000\n", ["more than 1000 runs", "--max-runs"]),
    (BASE + "seed = 1..40\nstep = 1..40\n", ["more than 1000 runs", "--max-runs"]),
    (BASE + "sed = 1\n", ["no option sed", "did you mean seed?"]),
    (BASE + "[scheme frc]\nstragglers = 1\n", ["x.ini:5: ", "[scheme frc] is of no run"]),
    ("", ["expands to no runs", "scheme = uncoded"]),
    ("summary = nothing\n", ["expands to no runs", "scheme = uncoded"]),
    ("scheme = uncoded\n", ["no number of workers", "workers = 30"]),
    (BASE + "seed = 1, x\n", ["run 2: seed is x", "whole number"]),
    (BASE + "step = fast\n", ["run 1: step is fast", "number"]),
    (BASE + "resilient = yes\n", ["resilient is yes", "on or off"]),
    (BASE + "scheme2 = frc\n", ["no option scheme2", "did you mean scheme?"]),
    (BASE.replace("uncoded", "uncode"), ["run 1: --scheme is uncode", "did you mean uncoded?"]),
    (BASE + "delay = cheetah\n", ["run 1: --delay is cheetah", "none"]),
    (BASE + "data = {data}/x.h5\n", ["x.ini:4: data", "--data-folder", "QUORATE_DATA"]),
    (BASE + "[prepare]\nrows = 5\n", ["says no command", "import or generate"]),
    (BASE + "[prepare]\ncommand = rm\n", ["x.ini:5: command is rm", "import or generate"]),
    (BASE + PREPARE + "optimum = yes\n", ["optimum is yes", "write on or off"]),
    (
        BASE + "l2 = 1e-3, 1e-2\n" + PREPARE + "optimum = on\n",
        ["l2 differs from run to run", "leave out optimum"],
    ),
    (BASE + PREPARE + "colums = 3\n", ["[prepare]", "--colums", "did you mean --columns?"]),
    (
        BASE + "[prepare]\ncommand = import\ninput = {data}/x\n",
        ["x.ini:6: input", "--data-folder"],
    ),
    (BASE + "manifest = m\n", ["no option manifest"]),
    (BASE + "seed = 1, 2\ncheckpoint = c\n", ["run 2: checkpoint is c", "of its own"]),
]


@pytest.mark.parametrize("text, phrases", BAD_EXPERIMENTS)
def test_a_bad_experiment_is_refused_and_nothing_is_written(tmp_path, text, phrases):
    refused(script(tmp_path, text, env={"QUORATE_DATA": ""}), *phrases)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.ini"]


BAD_OPTIONS = [
    (["--time", "soon"], ["--time is soon", "40min"]),
    (["--time", "-1h"], ["--time is -1h", "40min"]),
    (["--time", "0"], ["--time is 0", "40min"]),
    (["--time", "1e999"], ["--time is 1e999", "40min"]),
    (["--memory", "much"], ["--memory is much", "64GiB"]),
    (["--memory", "-4GiB"], ["--memory is -4GiB", "64GiB"]),
    (["--links", "0"], ["--links is 0", "at least 1"]),
    (["--links", "two"], ["--links is two", "whole number"]),
    (["--links", "2", "--time", "5min"], ["a run stops 5 min before its end", "ask for more"]),
    (["--time", "5"], ["--time is 5 min", "a run stops 5 min before its end"]),
    (["--time", "1h", "--stop-before", "2h"], ["--time is 60 min", "--stop-before"]),
    (["--time", "1:2:3:4"], ["--time is 1:2:3:4", "2:00:00"]),
    (["--stop-before", "x"], ["--stop-before is x", "40min"]),
    (["--nodes", "0"], ["--nodes is 0", "at least 1"]),
    (["--max-runs", "0"], ["--max-runs is 0", "at least 1"]),
    (["--command", "walk"], ["--command is walk", "run, simulate or tune"]),
    (["--hostfile", "h"], ["a scheduler chooses the hosts", "--cluster hosts"]),
    (["--manifest", "manifest.tsv"], ["one of --experiment", "--manifest"]),
    (["--acount", "x"], ["no option --acount", "--account"]),
]


@pytest.mark.parametrize(
    "cluster, words, lines",
    [
        ("slurm", ["--time", "60"], ["#SBATCH --time=1:00:00", "--walltime 3600 "]),
        ("slurm", ["--time", "1-06:00:00"], ["#SBATCH --time=30:00:00", "--walltime 108000 "]),
        ("slurm", ["--time", "90m", "--stop-before", "0:10:00"], ["=1:30:00", "--stop-before 600"]),
        ("slurm", ["--memory", "4000"], ["#SBATCH --mem-per-cpu=800M"]),
        ("slurm", ["--memory", "5gb"], ["#SBATCH --mem-per-cpu=1024M"]),
        ("torque", ["--time", "3600"], ["#PBS -l walltime=1:00:00"]),
        ("torque", ["--time", "2:00:00", "--memory", "4gb"], ["mem=4096Mb", "walltime=2:00:00"]),
        ("openpbs", ["--memory", "4194304kb"], ["mem=4096Mb"]),
    ],
)
def test_time_and_memory_are_read_as_the_scheduler_reads_them(cluster, words, lines, tmp_path):
    profile = f"scheduler = {cluster}\nmemory-request = per-core\n"
    ok(script(tmp_path, BASE, *words, cluster=written(tmp_path, profile, "c.ini")))
    run = (tmp_path / "out" / "run.sh").read_text()
    for line in lines:
        assert line in run


# What jobs over several nodes are told of themselves.
NODES = "scheduler = slurm\ncores = 8\nmemory = 64GiB\nmemory-request = per-node\n"


def comments(folder, text, *words, profile=NODES):
    """The estimates in a job script, and the memory of a node in MiB."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    ok(script(folder, text, *words, cluster=written(folder, profile, "c.ini")))
    run = (folder / "out" / "run.sh").read_text()
    memory = re.search(r"#SBATCH --mem=(\d+)M", run)
    return re.search(r"# (memory: .*)", run)[1], memory and int(memory[1])


def wide_data(folder):
    size = ["--rows", 90, "--columns", 300000, "--nnz-per-row", 20]
    ok(call("generate", *size, "--output", folder / "d.h5", "--quiet"))
    return f"workers = 31\nrounds = 5\nrow-time = 1e-3\ndata = {folder}/d.h5\n"


def test_runs_that_end_by_their_loss_have_scripts(tmp_path):
    # What a run takes is estimated by a dry simulation, which has no losses.
    rules = "commands = run\nscheme = frc\nstragglers = 1\nworkers = 4\nrounds = 50\n"
    for last in ("stop-at = loss=0.5\nstop-for = 3\n", "patience = 3\nevaluate-every = 1\n"):
        folder = tmp_path / last[:4]
        folder.mkdir()
        ok(script(folder, rules + last, cluster="hosts"))


def test_the_estimate_of_a_job_over_nodes_is_that_of_the_way_it_adds_up(tmp_path):
    text = wide_data(tmp_path) + "scheme = uncoded\n"
    auto, _ = comments(tmp_path, text)
    assert "4 nodes, each with what the largest takes" in auto
    assert "of the owner of a share; contributions are added up by node, for the owners" in auto
    flat, _ = comments(tmp_path, text + "aggregate = flat\n")
    assert "owner" not in flat and flat.endswith("contributions are added up at the coordinator")
    # What forbids shares to a run forbids them to its estimate.
    live, _ = comments(tmp_path, text + "evaluate = live\n")
    assert live.endswith("contributions are added up by node")
    anywhere = "scheduler = slurm\nmemory-request = per-core\n"
    one, _ = comments(tmp_path, text + "aggregate = shares\n", profile=anywhere)
    assert "copies of" in one and "added up" not in one


def test_contributions_that_are_kept_lie_on_all_nodes_unless_the_coordinator_adds_up(tmp_path):
    text = wide_data(tmp_path) + "scheme = dsag\nevaluate-every = 0\n"
    kept = {}
    for way in ["flat", "node", "shares"]:
        reason, memory = comments(tmp_path, text + f"aggregate = {way}\n")
        kept[way] = float(re.search(r"([\d.e-]+) GB of contributions", reason)[1])
        assert memory > 8 * 0.95 * 150  # MB, of eight ranks
    assert kept["shares"] == kept["node"] < kept["flat"]


def test_memory_that_no_rank_can_begin_with_is_refused(tmp_path):
    profile = written(tmp_path, "scheduler = openpbs\nmemory-request = per-node\n", "c.ini")
    done = script(tmp_path, BASE, "--memory", "4000", cluster=profile)
    refused(done, "--memory is 0.00381 MiB for 5 ranks", "ask for more, as 1280M")


@pytest.mark.parametrize("words, phrases", BAD_OPTIONS)
def test_a_bad_option_is_refused_and_nothing_is_written(tmp_path, words, phrases):
    refused(script(tmp_path, BASE, *words), *phrases)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "cluster, phrases",
    [
        ("trilium", ["--cluster is trilium", "did you mean trillium?"]),
        ("xxxxxxxxxxxx", ["--cluster is xxxxxxxxxxxx", "narval"]),
        ("./none.ini", ["none.ini"]),
    ],
)
def test_an_unknown_cluster_is_refused_with_its_neighbours(tmp_path, cluster, phrases):
    refused(script(tmp_path, BASE, cluster=cluster), *phrases)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text, phrases",
    [
        ("cores = 4\n", ["says no scheduler", "scheduler = slurm"]),
        ("scheduler = lsf\n", ["c.ini:1: scheduler is lsf", "slurm"]),
        ("scheduler = slurm\ncores = many\n", ["c.ini:2: cores is many", "whole number"]),
        ("scheduler = slurm\ntime-most = long\n", ["c.ini:2: time-most is long", "24h"]),
        ("scheduler = slurm\ntime-classes = 12h 3h\n", ["c.ini:2: ", "ascending"]),
        ("scheduler = slurm\nmemory = big\n", ["c.ini:2: memory is big", "755GiB"]),
        ("scheduler = slurm\nwhole-nodes = maybe\n", ["c.ini:2: ", "yes"]),
        ("scheduler = slurm\ncore = 4\n", ["c.ini:2: ", "no core", "did you mean cores?"]),
        ("scheduler = slurm\n[nodes]\ncores = 4\n", ["c.ini:3: ", "no sections"]),
        ("scheduler slurm\n", ["c.ini:1: ", "name = value"]),
    ],
)
def test_a_bad_profile_is_refused_with_file_and_line(tmp_path, text, phrases):
    refused(script(tmp_path, BASE, cluster=written(tmp_path, text, "c.ini")), *phrases)
    assert not (tmp_path / "out").exists()


def edited(folder, change):
    """A manifest of three runs, changed line by line: 3 is the first run's, behind the comments."""
    ok(script(folder, BASE + "seed = 1..3\n"))
    path = folder / "out" / "manifest.tsv"
    lines = path.read_text().splitlines()
    change(lines)
    path.write_text("\n".join(lines) + "\n")
    return path


def set_cell(lines, line, name, text):
    cells = lines[line].split("\t")
    cells[lines[2].split("\t").index(name)] = text
    lines[line] = "\t".join(cells)


BAD_MANIFESTS = [
    (lambda m: m.__setitem__(4, m[4] + "\t1"), ["tsv:5: ", "8 cells", "7 columns", "tabs"]),
    (lambda m: m.__setitem__(4, m[4].replace("\t", " ")), ["tsv:5: 1 cells", "tabs"]),
    (lambda m: set_cell(m, 4, "trace", m[3].split("\t")[1]), ["tsv:5: trace", "of its own"]),
    (lambda m: set_cell(m, 4, "trace", "./1-seed1.h5"), ["tsv:5: trace", "of its own"]),
    (lambda m: set_cell(m, 4, "checkpoint", "1-seed1.ckpt"), ["tsv:5: checkpoint", "of its own"]),
    (lambda m: set_cell(m, 4, "trace", ""), ["tsv:5: trace is ''", "of its own"]),
    (lambda m: set_cell(m, 4, "seed", "two"), ["tsv:5: seed is two", "whole number"]),
    (lambda m: set_cell(m, 5, "rounds", "5x"), ["tsv:6: rounds is 5x", "whole number"]),
    (lambda m: set_cell(m, 5, "workers", "x"), ["tsv:6: workers is x", "whole number"]),
    (lambda m: set_cell(m, 4, "run", "one"), ["tsv:5: run is 'one'", "from 1"]),
    (lambda m: set_cell(m, 4, "run", "1"), ["tsv:5: run is '1'", "ascending"]),
    (lambda m: set_cell(m, 3, "run", "0"), ["tsv:4: run is '0'", "from 1"]),
    (lambda m: set_cell(m, 3, "scheme", "frk"), ["tsv:4: --scheme is frk", "frc"]),
    (lambda m: set_cell(m, 2, "seed", "sede"), ["no option sede", "seed"]),
    (lambda m: set_cell(m, 2, "seed", "rounds"), ["tsv:3: ", "different options"]),
    (lambda m: set_cell(m, 2, "run", "number"), ["tsv:3: ", "run, trace"]),
    (lambda m: m.__delitem__(slice(3, None)), ["no runs", "one a line"]),
    (lambda m: m.clear(), ["no runs", "one a line"]),
]


@pytest.mark.parametrize("change, phrases", BAD_MANIFESTS)
def test_a_manifest_edited_to_nonsense_is_refused_with_its_line(tmp_path, change, phrases):
    path = edited(tmp_path, change)
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    refused(call("script", "--manifest", path, "--cluster", "local", "--time", "3h"), *phrases)
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_manifest_that_is_none_is_refused(tmp_path):
    path = edited(tmp_path, lambda lines: None)
    words = ["--cluster", "local", "--manifest"]
    refused(call("script", *words, tmp_path / "none.tsv"), "none.tsv", "quorate script")
    shutil.copy(path, tmp_path / "copy.tsv")
    refused(call("script", *words, tmp_path / "copy.tsv"), "must be manifest.tsv")
    refused(call("script", *words, path, "--output", tmp_path / "b"), "--output", "leave it out")
    refused(call("script", "--manifest", path), "--cluster", "list clusters")
    assert not (tmp_path / "b").exists()


def test_a_host_file_names_hosts(tmp_path):
    def hosts(text):
        file = written(tmp_path, text, "hosts")
        return script(tmp_path, BASE, "--hostfile", file, cluster="hosts")

    refused(hosts("# nobody\n\n"), "hosts names no hosts", "one a line")
    refused(hosts("node1\n-oProxyCommand=x\n"), "hosts:2: ", "no host")
    refused(hosts("node1\nnode;2\n"), "hosts:2: ", "no host")
    refused(hosts("fe80::1\n"), "hosts:1: ", "IPv6")
    refused(
        script(tmp_path, BASE, "--hostfile", tmp_path / "none", cluster="hosts"), "cannot be read"
    )
    assert not (tmp_path / "out").exists()
    ok(hosts("node1:4  # big\n\nnode2\n"))
    option = "--hostfile" if OPEN_MPI else "-f"
    bind = "--bind-to core:overload-allowed --map-by slot:pe=1" if OPEN_MPI else "-bind-to core:1"
    run = (tmp_path / "out" / "run.sh").read_text()
    theirs = "hosts" if not OPEN_MPI else "out/hosts.openmpi"
    assert f" {option} {tmp_path}/{theirs} {bind} -n 5 " in run


def test_a_host_file_of_the_other_mpi_is_written_anew(tmp_path):
    text = "node1:2\nnode2\n" if OPEN_MPI else "node1 slots=2\nnode2 max_slots=3\n"
    ours = tmp_path / "out" / f"hosts.{'openmpi' if OPEN_MPI else 'mpich'}"
    words = ["--hostfile", written(tmp_path, text, "hosts")]
    ok(script(tmp_path, BASE, *words, cluster="hosts"))
    lines = ours.read_text().splitlines()
    assert lines[2:] == (["node1 slots=2", "node2"] if OPEN_MPI else ["node1:2", "node2:3"])
    assert f" {ours} " in (tmp_path / "out" / "run.sh").read_text()
    ok(script(tmp_path, BASE, *words, cluster="hosts"))
    ours.write_text("mine\n")
    refused(script(tmp_path, BASE, *words, cluster="hosts"), ours.name, "did not write it")


@pytest.mark.parametrize(
    "launch, binding, words",
    [
        ("launcher = srun", "cores", "srun --cpus-per-task=1 --cpu-bind=cores Q"),
        ("launcher = srun --mpi=pmi2", "--cpu-bind=none", "srun --mpi=pmi2 --cpu-bind=none Q"),
        ("launcher = srun", "", "srun Q"),
        ("launcher = mpirun\nmpi = openmpi", "cores", "slot:pe=1 -n 5 Q"),
        ("launcher = mpirun\nmpi = mpich", "cores", "mpirun -bind-to core:1 -n 5 Q"),
        ("launcher = mpirun", "--rankfile r{ranks}", "mpirun --rankfile r5 -n 5 Q"),
    ],
)
def test_ranks_are_bound_as_the_profile_says(launch, binding, words, tmp_path):
    profile = tmp_path / "own.ini"
    profile.write_text(
        f"scheduler = slurm\n{launch}\n" + (f"binding = {binding}\n" * bool(binding))
    )
    ok(script(tmp_path, BASE, "--time", "1h", cluster=profile))
    text = (tmp_path / "out" / "run.sh").read_text().replace(os.path.realpath(QUORATE), "Q")
    assert f"{words} run --manifest" in text
    assert f"{words} doctor\n" in text


# --- nothing of a user's words is executed --------------------------------------------------------


def nothing_was_executed(folder):
    assert not list(folder.rglob("X")) and not pathlib.Path("X").exists()


SMALL = BASE + "row-time = 1e-6\n"


@pytest.mark.parametrize("name", [NASTY[0], *NASTY[6:8], *whole(*zip(NASTY[1:6] + NASTY[8:]))])
def test_names_of_files_and_folders_are_never_executed(tmp_path, name):
    # Simulated runs on no cluster, so that the scripts do all their work.
    folder = tmp_path / f"out {name}"
    source = written(tmp_path, SMALL + PREPARE, f"{name}.ini")
    words = ["--experiment", source, "--cluster", "hosts", "--command", "simulate"]
    words += ["--output", folder]
    data = folder / f"data {name}.h5"
    if "\n" in name:
        refused(call("script", *words, "--data", data), "data", "leave out the line break")
        assert not folder.exists()
        data = tmp_path / "data.h5"
    ok(call("script", *words, "--data", data))
    for part in ("prepare", "run", "analyse"):
        done = run_bash(folder / f"{part}.sh", tmp_path)
        assert done.returncode == 0, done.stderr
    assert ok(call("todo", "--manifest", folder / "manifest.tsv")) == ""
    assert (folder / "1.h5").exists() and data.exists()
    nothing_was_executed(tmp_path)


@pytest.mark.parametrize("cluster", ["local", "generic-pbs", "generic-torque"])
@pytest.mark.parametrize("name", NASTY, ids=NASTY_IDS)
def test_job_scripts_call_the_launcher_with_plain_words(tmp_path, name, cluster):
    profile = tmp_path / "c.ini"
    text = (REPOSITORY / "slurm" / f"{cluster}.ini").read_text()
    kept = [line for line in text.splitlines() if not line.startswith("launcher")]
    profile.write_text("\n".join([*kept, "launcher = stand-in"]) + "\n")
    folder = tmp_path / name.replace("/", "_")
    source = written(tmp_path, BASE + "seed = 1..2\n", f"{name}.ini")
    words = ["--experiment", source, "--cluster", profile, "--output", folder]
    ok(call("script", *words))
    env = stand_in(tmp_path / "bin", "stand-in", 'printf "%s\\n" "$@" > "$OLDPWD/said"; pwd')
    done = run_bash(folder / "run.sh", tmp_path, {**env, "SLURM_ARRAY_TASK_ID": "2"})
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "said").read_text().splitlines()
    after = said[said.index(os.path.realpath(QUORATE)) + 1 :]
    assert after[:5] == ["run", "--manifest", "manifest.tsv", "--row", "2"]
    directives = [line for line in (folder / "run.sh").read_text().splitlines() if "#SB" in line]
    assert all("%j" not in line for line in directives)
    nothing_was_executed(tmp_path)


@pytest.mark.parametrize("option", ["account", "mail", "partition"])
@pytest.mark.parametrize("name", [n for n in NASTY if n != "100%j"])
def test_names_for_the_scheduler_are_refused_if_they_are_more_than_names(tmp_path, option, name):
    refused(script(tmp_path, BASE, f"--{option}", name), f"--{option}", "letters, digits")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [n for n in NASTY if "\n" not in n])
def test_values_of_options_are_never_executed(tmp_path, name):
    text = SMALL + f"checkpoint = {name}\n" + PREPARE
    words = ["--command", "simulate"]
    ok(script(tmp_path, text, *words, cluster="hosts"))
    out = tmp_path / "out"
    for part in ("prepare", "run"):
        done = run_bash(out / f"{part}.sh", tmp_path)
        assert done.returncode == 0, done.stderr
    assert (out / "1.h5").exists()
    nothing_was_executed(tmp_path)
    # A value that makes no sense is refused; one of the data set's preparation, by its command.
    for bad in (BASE + f"events = {name}\n", BASE + f"delay = {name}\n"):
        shutil.rmtree(out, ignore_errors=True)
        done = script(tmp_path, bad)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
        assert not out.exists()
    ok(script(tmp_path, BASE + PREPARE + f"seed = {name}\n"))
    assert run_bash(out / "prepare.sh", tmp_path).returncode == 2
    nothing_was_executed(tmp_path)


def test_a_script_names_the_command_that_makes_it_again(tmp_path):
    folder, source = tmp_path / "it's here", written(tmp_path, BASE, "a b.ini")
    ok(call("script", "--experiment", source, "--cluster", "local", "--output", folder))
    before = (folder / "run.sh").read_text()
    made = before.splitlines()[1].removeprefix("# made by: quorate ")
    shutil.rmtree(folder)
    again = f"{QUORATE} {made}"
    subprocess.run(["bash", "-c", again], check=True, env=environment(), capture_output=True)
    assert (folder / "run.sh").read_text() == before


# --- rules of clusters ----------------------------------------------------------------------------

SLURM = "scheduler = slurm\n"
THREADS = BASE + "threads = {}\n"
OTHER_MPI = "mpich" if OPEN_MPI else "openmpi"
HERE = {"SCRATCH": "{folder}", "HOME": "/nowhere", "PROJECT": "/nowhere"}
PAYS = ["--account", "def-x", "--time", "3h"]

GPU = ["--gpus-per-task", "1"]
GPUS = SLURM + "gpus = 4\ngpu-request = {}\n"

RULES = {
    "retired": ("niagara", BASE, PAYS, HERE, "use --cluster trillium, or give --retired"),
    "not_retired": ("narval", BASE, [*PAYS, "--retired"], {}, "narval is in use: leave it out"),
    "untried": ("narval", BASE, PAYS, {}, "warning: narval: no run was made there yet"),
    "account": ("narval", BASE, [], {}, "jobs need an account: give --account"),
    "account_too": (
        "trillium",
        BASE,
        [],
        HERE,
        "warning: trillium: those with several allocations must name one: give --account",
    ),
    "account_wins": (
        "narval",
        BASE,
        PAYS,
        {"SBATCH_ACCOUNT": "def-y"},
        "warning: narval: SBATCH_ACCOUNT is def-y and wins over --account def-x: unset it",
    ),
    "time_most": ("narval", BASE, [*PAYS[:2], "--time", "15d"], {}, "ask for that, with --links 3"),
    "time_least": ("narval", BASE, [*PAYS[:2], "--time", "2min"], {}, "ask for 5 min at least"),
    "time_class": (
        "narval",
        BASE,
        [*PAYS[:2], "--time", "190min"],
        {},
        "warning: narval: --time is 3.17 h: jobs of up to 3 h start sooner",
    ),
    "time_links": ("local", BASE, ["--links", "2", "--time", "4min"], {}, "before its end"),
    "nodes": ("local", BASE, ["--nodes", "5"], {}, "5 nodes are asked for, and there are 4"),
    "nodes_most": (
        "trillium",
        BASE,
        [*PAYS, "--nodes", "11"],
        HERE,
        "11 nodes are asked for, and a job may have 10",
    ),
    "array": (
        "local",
        BASE + "seed = 1..1001\n",
        ["--max-runs", "2000"],
        {},
        "run 1001 would be an index above 1000 (MaxArraySize - 1): split the manifest",
    ),
    "jobs": (
        "narval",
        BASE + "seed = 1..501\n",
        [*PAYS, "--links", "2"],
        {},
        "1004 jobs would be submitted, and a user may have 1000: submit fewer",
    ),
    "memory_none": (
        "trillium",
        BASE,
        [*PAYS, "--memory", "4GiB"],
        HERE,
        "memory is not asked for here, a job has that of its nodes: leave out --memory",
    ),
    "memory_node": (
        "narval",
        BASE,
        [*PAYS, "--memory", "300GiB"],
        {},
        "300 GiB a node are needed, and a node has 249 GiB: use --nodes 2",
    ),
    "idle": (
        "local",
        BASE.replace("4", "8"),
        [],
        {},
        "warning: local: 7 of the 16 cores of 2 full nodes stay idle: "
        "use 7 more workers in each run",
    ),
    "idle_threads": (
        "local",
        THREADS.format(3),
        ["--nodes", "4"],
        {},
        "17 of the 32 cores of 4 full nodes stay idle: use 3 more workers in each run",
    ),
    "fit": (
        "local",
        THREADS.format(3).replace("4", "6"),
        ["--nodes", "3"],
        {},
        "7 ranks of 3 threads do not fit on 3 nodes of 8 cores: use --nodes 4",
    ),
    "fit_threads": (
        "local",
        THREADS.format(10),
        ["--nodes", "4"],
        {},
        "ranks have 10 threads, and a node has 8 cores: use threads = 8 at most",
    ),
    "whole": (SLURM + "whole-nodes = yes\n", BASE, [], {}, "jobs use full nodes: give --nodes"),
    "cache": (
        "rorqual",
        THREADS.format(3),
        PAYS,
        {},
        "warning: rorqual: --threads is 3, and 8 cores share a cache: ranks would straddle two",
    ),
    "scratch": (
        "trillium",
        BASE,
        PAYS,
        {**HERE, "SCRATCH": "/scratch/x"},
        "is not below $SCRATCH (/scratch/x), where jobs must be submitted: use --output /scratch/x",
    ),
    "scratch_unset": (
        "trillium",
        BASE,
        PAYS,
        {**HERE, "SCRATCH": ""},
        "warning: trillium: jobs must be submitted from below $SCRATCH, which is not set here",
    ),
    "read_only": (
        "trillium",
        BASE,
        PAYS,
        {**HERE, "SCRATCH": "", "PROJECT": "{folder}"},
        "is below $PROJECT, which jobs cannot write: use another --output",
    ),
    "gpus_none": (
        "local",
        BASE,
        GPU,
        {},
        "local: its nodes have no GPUs: leave out --gpus-per-task",
    ),
    "gpus_hosts": ("hosts", BASE, GPU, {}, "nobody gives out GPUs here, each worker takes one"),
    "gpus_most": (
        GPUS.format("per-task"),
        BASE,
        ["--gpus-per-task", "5"],
        {},
        "--gpus-per-task is 5, and a node has 4 GPUs: use 4 at most",
    ),
    "gpus_task": (
        GPUS.format("per-task"),
        BASE,
        [*GPU, "--nodes", "1"],
        {},
        "5 ranks with 1 GPU for each do not fit on 1 nodes of 4 GPUs: use --nodes 2",
    ),
    "gpus_node": (
        GPUS.format("per-node"),
        BASE.replace("4", "9"),
        [*GPU, "--nodes", "2"],
        {},
        "10 ranks with 1 GPU for each do not fit on 2 nodes of 4 GPUs: use --nodes 3",
    ),
    "gpus_idle": (
        GPUS.format("per-node") + "whole-nodes = yes\ncores = 8\n",
        BASE.replace("4", "5"),
        GPU,
        {},
        "3 of the 8 GPUs of 2 full nodes stay idle: use 3 more workers in each run",
    ),
    "mail": ("local", BASE, ["--mail", "me"], {}, "--mail is me: give an address, or leave it out"),
    "mpi": (
        SLURM + f"mpi = {OTHER_MPI}\n",
        BASE,
        [],
        {},
        f"ranks are started with {OTHER_MPI}, and this program was built with",
    ),
    "partition": (
        "narval",
        BASE,
        [*PAYS, "--partition", "fast"],
        {},
        "warning: narval: --partition is fast, but partitions are chosen by time here: leave",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_broken_rule_of_the_cluster_is_said_before_anything_is_written(tmp_path, rule):
    cluster, text, words, variables, message = RULES[rule]
    if "\n" in cluster:
        cluster = written(tmp_path, cluster, "c.ini")
    env = {name: value.format(folder=tmp_path) for name, value in variables.items()}
    env.setdefault("SBATCH_ACCOUNT", "")
    if "{folder}" in variables.get("SCRATCH", "/"):
        env["HOME"] = "/nowhere"
    done = script(tmp_path, text, "--check", *words, cluster=cluster, env=env)
    said = [line for line in done.stderr.splitlines() if message in line]
    assert len(said) == 1, done.stderr
    errors = [x for x in done.stderr.splitlines() if not x.startswith("quorate: warning: ")]
    warns = said[0].startswith("quorate: warning: ")
    assert warns or errors == said, "no other rule is broken"
    assert done.returncode == (2 if errors else 0)
    assert not (tmp_path / "out").exists()
    done = script(tmp_path, text, *words, cluster=cluster, env=env)
    assert message in done.stderr
    assert (tmp_path / "out").exists() == (not errors)


def test_what_keeps_all_rules_is_said_nothing_about(tmp_path):
    text = BASE.replace("4", "191")
    env = {"SCRATCH": str(tmp_path), "HOME": "/nowhere", "PROJECT": "/nowhere"}
    done = script(tmp_path, text, "--check", *PAYS, cluster="trillium", env=env)
    assert done.returncode == 0
    known = ("built with", "no run was made there yet")
    assert [x for x in done.stderr.splitlines() if not any(one in x for one in known)] == []
    done = script(tmp_path, BASE, "--check")
    assert (done.returncode, done.stdout) == (0, "")
    assert OPEN_MPI or done.stderr == ""


@pytest.mark.parametrize(
    "cluster, workers, lines",
    [
        ("generic-slurm", 4, ["--ntasks=5", "--gpus-per-task=2"]),
        (
            GPUS.format("per-task") + "cores = 8\n",
            8,
            ["--nodes=5", "--ntasks=9", "--gpus-per-task=2"],
        ),
        (
            GPUS.format("per-node"),
            3,
            ["--nodes=2", "--ntasks-per-node=2", "--gpus-per-node=4"],
        ),
        (
            GPUS.format("per-node"),
            4,
            ["--nodes=2", "--ntasks=5", "--ntasks-per-node=3", "--gpus-per-node=4"],
        ),
        ("generic-pbs", 4, ["-l select=1:ncpus=5:mpiprocs=5:ngpus=8"]),
        ("generic-torque", 4, ["-l nodes=1:ppn=5:gpus=8"]),
    ],
)
def test_a_script_asks_for_gpus_as_the_profile_says(tmp_path, cluster, workers, lines):
    if "\n" in cluster:
        cluster = written(tmp_path, cluster, "c.ini")
    text = BASE.replace("workers = 4", f"workers = {workers}") + PREPARE
    ok(script(tmp_path, text, "--gpus-per-task", "2", cluster=cluster))
    about = ("--nodes", "--ntasks", "--gpus", "-l select", "-l nodes")

    def asked(part):
        said = (tmp_path / "out" / f"{part}.sh").read_text().splitlines()
        words = [line.split(maxsplit=1)[1] for line in said if line.startswith(("#SBATCH", "#PBS"))]
        return [line for line in words if line.startswith(about)]

    assert asked("run") == lines
    for part in ("prepare", "analyse"):
        assert not any("gpus" in line for line in asked(part))


def test_pbs_knows_no_gpus_of_a_task(tmp_path):
    profile = written(tmp_path, "scheduler = openpbs\ngpu-request = per-task\n", "c.ini")
    refused(script(tmp_path, BASE, cluster=profile), "gpu-request = per-task", "per-node")


def test_links_need_checkpoints(tmp_path):
    text = BASE + "dry = on\nrows = 10\ncolumns = 2\n"
    done = script(tmp_path, text, "--command", "simulate", "--links", "2", "--time", "1h")
    refused(done, "--links is 2", "checkpoint")
    ok(script(tmp_path, text, "--command", "simulate"))
    assert "--walltime" not in (tmp_path / "out" / "run.sh").read_text()


def test_processors_that_lack_the_instructions_are_named(tmp_path):
    profile = written(tmp_path, SLURM + "instructions = x86-64-v2\n", "c.ini")
    done = script(tmp_path, BASE, "--check", cluster=profile)
    if b"-march=x86-64-v3" not in pathlib.Path(QUORATE).with_name("libquorate.so").read_bytes():
        pytest.skip("the program was not built for x86-64-v3")
    refused(done, "processors have x86-64-v2", "-march=x86-64-v2")


# --- submission, to stand-ins of the schedulers ---------------------------------------------------

# Each counts its calls and repeats its words, which have no blanks here.
SBATCH = """
cd "$(dirname "$0")"; n=$(($(cat count 2> /dev/null || echo 100) + 1)); echo $n > count
echo "$*" >> calls
echo "sbatch: warning: mind the step" >&2
echo "$n;cluster"
echo "sbatch: 0 warnings are left" >&2
"""


def submit(folder, text, *words, program="sbatch", stands=SBATCH, **more):
    env = stand_in(folder / "bin", program, stands)
    calls = folder / "bin" / "calls"
    calls.unlink(missing_ok=True)
    source = ["--experiment", written(folder, text), "--output", folder / "out"]
    done = call("submit", *source, *words, env=env, **more)
    return done, calls.read_text().splitlines() if calls.exists() else []


def test_jobs_are_submitted_in_a_chain(tmp_path):
    text = BASE + "seed = 1..3\n" + PREPARE
    done, calls = submit(tmp_path, text, "--cluster", "local", "--links", "2")
    out = tmp_path / "out"
    begin, kill = f"--parsable --chdir={out}", "--kill-on-invalid-dep=yes"
    assert calls == [
        f"{begin} prepare.sh",
        f"{begin} --array=1-3 --dependency=afterok:101 {kill} run.sh",
        f"{begin} --array=1-3 --dependency=aftercorr:102 {kill} run.sh",
        f"{begin} --dependency=afterany:103 {kill} analyse.sh",
    ]
    assert [line.split("\t")[0] for line in ok(done).splitlines()] == ["101", "102", "103", "104"]


def test_jobs_get_the_environment_of_who_submits_them(tmp_path):
    stands = SBATCH + f"env > {tmp_path}/seen\n"
    before = {"UCX_TLS": "tcp,self", "OMPI_MCA_btl": "tcp,self"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in before.items():
            patch.setenv(name, value)
        ok(submit(tmp_path, BASE, "--cluster", "local", stands=stands)[0])
    seen = dict(
        line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines() if "=" in line
    )
    assert {name: seen.get(name) for name in before} == before


def test_links_may_have_other_workers_each(tmp_path):
    text = BASE + "seed = 1..3\n"
    words = ["--cluster", "local", "--link-workers", "4,9,2", "--time", "1h"]
    done, calls = submit(tmp_path, text, *words)
    ok(done)
    out = tmp_path / "out"
    assert [call.split()[-1] for call in calls] == ["run.sh", "run-2.sh", "run-3.sh", "analyse.sh"]
    assert "--dependency=aftercorr:102" in calls[2]
    for name, workers in [("run.sh", 4), ("run-2.sh", 9), ("run-3.sh", 2)]:
        made = (out / name).read_text()
        assert f' --row "$SLURM_ARRAY_TASK_ID" --workers {workers} --resume' in made
        assert f"# 3 runs of {workers + 1} ranks" in made


@pytest.mark.parametrize(
    "words, message",
    [
        (["--link-workers", "4,no"], "write a whole number of workers for each link"),
        (["--link-workers", "4,"], "write a whole number of workers for each link"),
        (["--link-workers", "4,2", "--links", "2"], "leave out --links"),
        (["--link-workers", "4,2", "--command", "simulate"], "simulations have no ranks"),
    ],
)
def test_bad_workers_of_links_are_refused(words, message, tmp_path):
    refused(script(tmp_path, BASE, *words), message)


@pytest.mark.parametrize(
    "cluster, array, depend",
    [("generic-pbs", "-J 1-3", "101[].host"), ("generic-torque", "-t 1,3", "101[].host")],
)
def test_jobs_are_submitted_to_pbs(tmp_path, cluster, array, depend):
    stands = SBATCH.replace(";cluster", "[].host")
    text = BASE + "seed = 1..3\n"
    ok(script(tmp_path, text, cluster=cluster))
    complete(tmp_path / "out" / "2-seed2.h5")
    words = ["--cluster", cluster, "--links", "2"]
    done, calls = submit(tmp_path, text, *words, program="qsub", stands=stands)
    assert done.returncode == 0, done.stderr
    assert calls == [
        f"{array} run.sh",
        f"{array} -W depend=afterok:{depend} run.sh",
        "-W depend=afterany:102[].host analyse.sh",
    ]
    complete(tmp_path / "out" / "1-seed1.h5")
    unknown = "echo qstat: Unknown Job Id $1 >&2; exit 153\n"
    stand_in(tmp_path / "bin", "qstat", unknown)
    done, calls = submit(tmp_path, text, "--cluster", cluster, program="qsub", stands=stands)
    assert calls[0] == "-v row=3 run.sh"
    listed = 'printf "Job id Name User Time Use S Queue\\n---\\n$1 run me 0 %s main\\n"'
    for qstat, again in [(f"{listed} R\n", False), (f"{listed} C\n", True), (unknown, True)]:
        stand_in(tmp_path / "bin", "qstat", qstat)
        done, calls = submit(tmp_path, text, "--cluster", cluster, program="qsub", stands=stands)
        assert done.returncode == 0, done.stderr
        assert bool(calls) == again
    stand_in(tmp_path / "bin", "qstat", "echo qstat: cannot connect to server >&2; exit 111\n")
    done, calls = submit(tmp_path, text, "--cluster", cluster, program="qsub", stands=stands)
    assert (done.returncode, calls) == (1, [])
    assert "qstat failed with status 111: qstat: cannot connect to server; nothing" in done.stderr


def test_what_is_complete_is_not_submitted_again(tmp_path):
    text = BASE + "seed = 1..3\n"
    ok(script(tmp_path, text))
    out = tmp_path / "out"
    complete(out / "2-seed2.h5")
    done, calls = submit(tmp_path, text, "--cluster", "local")
    assert "--array=1,3" in calls[0]
    for name in ("1-seed1", "3-seed3"):
        complete(out / f"{name}.h5")
    done, calls = submit(tmp_path, text, "--cluster", "local")
    assert calls == [] and "nothing is submitted" in ok(done)


def test_what_is_queued_is_not_submitted_again(tmp_path):
    text = BASE + "seed = 1..4\n"
    done, calls = submit(tmp_path, text, "--cluster", "local", "--links", "2")
    assert len(calls) == 3 and "--array=1-4" in calls[0]
    out = tmp_path / "out"
    assert (out / "jobs.tsv").read_text().splitlines() == [
        "job\tscript\truns\tscheduler",
        "101\trun.sh\t1-4\tslurm",
        "102\trun.sh\t1-4\tslurm",
        "103\tanalyse.sh\t\tslurm",
    ]
    # A job of others, one element of ours that runs and one that waits, and our analysis.
    there = ["99 2 RUNNING x", "101 1 RUNNING x", "102 1 PENDING x", "102 3 PENDING x", "103 N/A"]
    queue = "".join(f"echo {one}\n" for one in there)
    stand_in(tmp_path / "bin", "squeue", queue)
    complete(out / "4-seed4.h5")
    done, calls = submit(tmp_path, text, "--cluster", "local")
    assert "--array=2 " in calls[0] and len(calls) == 2
    assert done.stderr == "quorate: 2 runs are queued or running already\n"
    stand_in(tmp_path / "bin", "squeue", queue + "echo 104 2\n")
    done, calls = submit(tmp_path, text, "--cluster", "local")
    assert (done.returncode, calls) == (0, [])
    assert done.stderr == "quorate: 3 runs are queued or running already: nothing is submitted\n"
    stand_in(tmp_path / "bin", "squeue", "echo 'slurm_load_jobs error: no socket' >&2; exit 1\n")
    done, calls = submit(tmp_path, text, "--cluster", "local")
    assert (done.returncode, calls) == (1, [])
    assert "what is queued is not known" in done.stderr


@pytest.mark.parametrize("name", ["run.sh", "analyse.sh", "manifest.tsv", "jobs.tsv"])
def test_files_of_others_are_kept(tmp_path, name):
    out = tmp_path / "out"
    out.mkdir()
    path = written(out, "run\ttrace\n1\tmine.h5\n" if "tsv" in name else "echo mine\n", name)
    before = path.read_text()
    done, calls = submit(tmp_path, BASE, "--cluster", "local")
    assert (done.returncode, calls) == (2, [])
    assert str(path) in done.stderr and done.stderr.count("\n") == 1
    assert path.read_text() == before and list(out.iterdir()) == [path]


def test_a_scheduler_that_refuses_is_quoted(tmp_path):
    stands = "echo 'sbatch: error: invalid account' >&2; exit 1\n"
    done, calls = submit(tmp_path, BASE, "--cluster", "local", stands=stands)
    assert done.returncode == 1
    assert "failed with status 1: sbatch: error: invalid account" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done, calls = submit(tmp_path, BASE, "--cluster", "local", stands="echo all is well\n")
    assert done.returncode == 1
    done = call("submit", "--experiment", tmp_path / "x.ini", "--cluster", "hosts")
    refused(done, "no scheduler", "quorate script")
    done, calls = submit(tmp_path, BASE, "--cluster", "local", "--check")
    assert (done.returncode, calls) == (0, [])


def test_an_array_of_openpbs_has_no_gaps(tmp_path):
    ok(script(tmp_path, BASE + "seed = 1..3\n", cluster="generic-pbs"))
    manifest = tmp_path / "out" / "manifest.tsv"
    lines = manifest.read_text().splitlines()
    del lines[4]
    manifest.write_text("\n".join(lines) + "\n")
    words = ["script", "--manifest", manifest, "--cluster"]
    refused(call(*words, "generic-pbs"), "from 1 to 3", "without gaps")
    ok(call(*words, "generic-torque"))


def test_an_analysis_of_nothing_says_so(tmp_path):
    ok(script(tmp_path, BASE))
    done = run_bash(tmp_path / "out" / "analyse.sh", tmp_path)
    assert (done.returncode, done.stderr) == (1, "no run is complete yet\n")


# --- what is left to run --------------------------------------------------------------------------


def complete(path, status="completed"):
    with h5py.File(path, "w") as trace:
        trace.attrs["status"] = status


def test_traces_say_what_is_left_to_run(tmp_path):
    ok(script(tmp_path, BASE + "seed = 1..15\n"))
    out, manifest = tmp_path / "out", tmp_path / "out" / "manifest.tsv"
    todo = ["todo", "--manifest", manifest]
    assert ok(call(*todo)) == "1-15\n"
    rows = rows_of(manifest)
    left = {3: "running", 7: "failed", 12: "stopped", 13: None, 14: "", 15: None}
    for number, row in enumerate(rows, 1):
        if left.get(number, "completed") is not None:
            complete(out / row["trace"], left.get(number, "completed"))
    assert ok(call(*todo)) == "3,7,12-15\n"
    assert ok(call(*todo, "--lines")) == "3\n7\n12\n13\n14\n15\n"
    table = [line.split("\t") for line in ok(call(*todo, "--table")).splitlines()]
    assert [trace for number, state, trace in table] == [row["trace"] for row in rows]
    states = {int(number): state for number, state, trace in table}
    assert [states[n] for n in (1, 3, 7, 12, 13, 14)] == [
        "complete",
        "partial",
        "partial",
        "partial",
        "absent",
        "partial",
    ]
    assert len(ok(call(*todo, "--traces")).splitlines()) == 9
    for number, status, word in [(1, 0, "complete"), (3, 75, "partial"), (13, 1, "absent")]:
        done = call(*todo, "--row", number)
        assert (done.returncode, done.stdout, done.stderr) == (status, word + "\n", "")


def test_a_truncated_trace_is_partial(tmp_path):
    ok(script(tmp_path, BASE))
    trace = tmp_path / "out" / "1.h5"
    complete(trace)
    row = ["todo", "--manifest", tmp_path / "out" / "manifest.tsv", "--row", 1]
    assert call(*row).returncode == 0
    for size in (trace.stat().st_size // 2, 20, 0):
        with open(trace, "r+b") as file:
            file.truncate(size)
        done = call(*row)
        assert (done.returncode, done.stdout, done.stderr) == (75, "partial\n", "")


def test_todo_refuses_what_is_no_row(tmp_path):
    ok(script(tmp_path, BASE + "seed = 1..3\n"))
    manifest = tmp_path / "out" / "manifest.tsv"
    refused(call("todo"), "--manifest")
    refused(call("todo", "--manifest", manifest, "--row", 4), "--row is 4", "1 to 3")
    refused(call("todo", "--manifest", manifest, "--row", "x"), "--row is x", "whole number")
    refused(call("todo", "--manifest", tmp_path / "no.tsv"), "no.tsv", "quorate script")


# --- a row is a run -------------------------------------------------------------------------------

RUN = (
    "scheme = uncoded, frc\nworkers = 4\nrounds = 6\nmodel = logistic\noptimizer = agd\n"
    "step = 0.3\nseed = 5\nrow-time = 1e-6\ndelay = exponential:0.05\n"
    "[scheme frc]\nstragglers = 1\n"
)
RUN_WORDS = ["--model", "logistic", "--optimizer", "agd", "--step", "0.3", "--seed", "5"]
RUN_WORDS += ["--workers", "4", "--row-time", "1e-6", "--delay", "exponential:0.05"]
RUN_WORDS += ["--scheme", "frc", "--stragglers", "1"]


@pytest.fixture
def manifest(tmp_path, gaussians):
    """Of two simulated runs; the second is RUN_WORDS with 6 rounds."""
    words = ["--command", "simulate", "--data", gaussians]
    ok(script(tmp_path, RUN, *words))
    return tmp_path / "out" / "manifest.tsv"


def contents(path):
    found = {}
    with h5py.File(path, "r") as trace:
        trace.visititems(
            lambda name, item: (
                found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None
            )
        )
    return found


def same(one, other):
    one, other = contents(one), contents(other)
    assert one.keys() == other.keys()
    for name in ("iterate", "round/time", "model/final"):
        for path in [path for path in one if path == name or path.startswith(name + "/")]:
            assert numpy.array_equal(one[path], other[path]), path
    return "model/final" in one


def test_a_row_is_the_same_run_as_its_options_by_hand(manifest, gaussians, tmp_path):
    ok(call("simulate", "--manifest", manifest, "--row", 2))
    by_hand = ["--data", gaussians, "--rounds", 6, "--trace", tmp_path / "b.h5"]
    ok(call("simulate", *RUN_WORDS, *by_hand))
    assert same(manifest.parent / "2-frc.h5", tmp_path / "b.h5")
    assert call("todo", "--manifest", manifest, "--row", 2).returncode == 0
    assert call("todo", "--manifest", manifest, "--row", 1).returncode == 1


def test_the_command_line_wins_over_the_row(manifest, gaussians, tmp_path):
    row = ["simulate", "--manifest", manifest, "--row", 2]
    ok(call(*row, "--rounds", 3, "--trace", tmp_path / "a.h5"))
    by_hand = ["--data", gaussians, "--rounds", 3, "--trace", tmp_path / "b.h5"]
    ok(call("simulate", *RUN_WORDS, *by_hand))
    assert same(tmp_path / "a.h5", tmp_path / "b.h5")
    assert not (manifest.parent / "2-frc.h5").exists()
    config = written(tmp_path, "rounds = 3\n", "c.ini")
    ok(call(*row, "--config", config))
    assert same(manifest.parent / "2-frc.h5", tmp_path / "b.h5")


@pytest.mark.parametrize(
    "name, text, phrases",
    [
        ("rounds", "many", ["--rounds is many", "whole number"]),
        ("model", "logistik", ["--model is logistik", "did you mean logistic?"]),
        ("stragglers", "9", ["--stragglers is 9"]),
    ],
)
def test_a_bad_cell_is_named_by_file_and_line(manifest, name, text, phrases):
    lines = manifest.read_text().splitlines()
    set_cell(lines, 4, name, text)
    manifest.write_text("\n".join(lines) + "\n")
    refused(call("simulate", "--manifest", manifest, "--row", 2), f"{manifest}:5: ", *phrases)


def test_a_row_needs_a_manifest_that_has_it(manifest, tmp_path):
    simulate = ["simulate", "--manifest", manifest]
    refused(call(*simulate), "which of its runs?", "--row")
    refused(call("simulate", "--row", 1), "of which --manifest?")
    refused(call(*simulate, "--row", 3), "--row is 3", "1 to 2")
    refused(call(*simulate, "--row", "x"), "--row is x")
    text = manifest.read_text()
    manifest.write_text(text.replace("stragglers", "straglers"))
    refused(call(*simulate, "--row", 2), "no option --straglers", "--stragglers")
    manifest.write_text(text.replace("optimizer\t", "resume\t").replace("\tagd\t", "\tyes\t"))
    refused(call(*simulate, "--row", 2), "resume is yes", "on or off")
    manifest.write_text(text.replace("optimizer\t", "resume\t").replace("\tagd\t", "\toff\t"))
    ok(call(*simulate, "--row", 2))
