# SPDX-License-Identifier: BSD-2-Clause
"""refine: grids get further values until the best is known, on a problem whose best step is."""

import functools
import os
import shutil
import subprocess

import pytest

from program import QUORATE
from traces import quorate
from quorate.analysis import claims, refine
from quorate.analysis.refine import Grid

# Curvatures of 1 and 10: of the steps of gradient descent 2/11 is the best, with a cusp, where both
# of them converge like 9/11 a round. Any step below makes the first slower, any above the second.
BEST = 2 / 11
ROWS = f"a,b,y\n1,0,1\n0,{10**0.5},1\n"
EXPERIMENT = """
model = ridge
optimizer = gd
l2 = 0
workers = 2
rounds = 200
row-time = 1
evaluate-every = 1
commands = simulate
seed = 1
step = 0.1, 0.15, 0.19
scheme = uncoded, frc

[scheme frc]
stragglers = 1

[tune]
step = 0.1, 0.15, 0.19
seed = 11
target = loss=1e-8

[prepare]
command = import
input = {here}/rows.csv
format = csv
label = y
task = regression

[claim twice]
measure = time-to loss=1e-8
of = scheme=uncoded
beside = scheme=frc
best = step
"""


def grid(costs, option="step"):
    return Grid(option, {str(value): (-5.0, float(cost)) for value, cost in costs.items()})


def test_a_best_value_is_known_if_both_neighbours_are_within_a_tenth():
    known = grid({1: 10.9, 2: 10, 4: 11})
    assert (known.best, known.doubt, known.more) == ("2", "", [])
    kink = grid({1: 20, 2: 10, 4: 10.5})
    assert kink.doubt == "beside step 2, 1 is 100 % worse" and kink.more == ["1.414"]
    both = grid({1: 20, 2: 10, 4: 30})
    assert both.more == ["1.414", "2.828"]
    missed = Grid("step", {"1": (-5, 20.0), "2": (-5, 10.0), "4": (-3, 9.0)})
    assert missed.doubt == "beside step 2, 1 is 100 % worse and 4 is missed by runs"


def test_at_an_end_the_grid_goes_on_by_the_same_ratio():
    for costs, more in (({1: 10, 2: 10.5}, "0.5"), ({2: 20, 1: 30, 6: 5}, "18")):
        found = grid(costs)
        assert found.doubt == f"step {found.best} is at an end of the grid"
        assert found.more == [more]


def test_counts_words_and_single_values_have_no_values_between():
    for costs in ({1: 20, 2: 10, 4: 30}, {"a": 1, "b": 2}):
        found = grid(costs, "collect")
        assert (found.doubt, found.more) == ("", [])
    assert grid({1: 10}).doubt == grid({}).doubt == ""
    assert grid({0.5: 20, 1: 10, 2: 30}, "deadline").more == ["0.7071", "1.414"]
    none = Grid("step", {"1": (0, 0.0), "2": (0, 0.0)})
    assert none.doubt == "" and none.more == []  # nobody gets there


def test_of_equal_values_that_counts_whose_neighbours_agree():
    """As of numbers of rounds: the plateau, not its edge."""
    found = grid({1: 3, 2: 2, 3: 2, 4: 2, 5: 3})
    assert (found.best, found.doubt) == ("3", "")
    assert grid({1: 2, 2: 2, 3: 2}).best == "2"


def test_four_digits_are_the_finest_grid():
    found = grid({1: 20, 1.001: 10, 1.002: 20})
    assert found.doubt and found.more == []


def test_cells_of_a_manifest_are_read_as_they_are_written():
    for cell in ("a\tb", "a\\tb", "\\\n\r", "plain"):
        assert refine.unescaped(refine.escaped(cell)) == cell


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Writes the experiment's scripts, and runs run.sh, for a command; the folder, made once."""

    @functools.cache
    def make(command):
        where = tmp_path_factory.mktemp(command)
        (where / "rows.csv").write_text(ROWS)
        (where / "x.ini").write_text(EXPERIMENT)
        words = ("--command", command, "--cluster", "hosts", "--quiet", "--output", where / "out")
        quorate("script", "--experiment", where / "x.ini", *words)
        for name in ("prepare", "run"):
            bash(where / "out" / f"{name}.sh")
        return where / "out"

    return make


@pytest.fixture
def simulated(made, tmp_path):
    """The folder of the simulated experiment, a copy."""
    return shutil.copytree(made("simulate"), tmp_path / "out")


def bash(script, status=0):
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def near(text):
    return float(text) == pytest.approx(BEST, rel=0.02)


def test_claims_are_judged_at_the_cusp_or_not_at_all(simulated, analyse, monkeypatch):
    (claim,) = claims.read_claims(simulated)
    verdict, reason = claim.verdict
    assert verdict == "best not known" and "beside step 0.15, 0.1 is" in reason
    assert reason.endswith("try --refine") and not (simulated / refine.FILE).exists()
    # A limit of runs: still no verdict.
    monkeypatch.setattr(refine, "MOST", 2)
    claims.refine(simulated, str(QUORATE))
    (claim,) = claims.read_claims(simulated)
    assert claim.verdict[0] == "best not known" and "after 2 further values" in claim.reason
    monkeypatch.undo()
    status, out, error = analyse("claims", simulated, "--refine", QUORATE)
    assert status == 0 and "refine: beside step" in error
    (claim,) = claims.read_claims(simulated)
    assert claim.verdict[0] == "too few seeds" and claim.ratios == [pytest.approx(2)]
    assert all(near(side.best.removeprefix("step ")) for side in claim.sides)
    # Each scheme has each value once, and nothing is left to do.
    rows = refine.read_rows(simulated / refine.FILE)
    runs = [(row["scheme"], row["step"]) for row in rows]
    assert len(set(runs)) == len(runs) == claim.of.further + claim.beside.further
    before = (simulated / refine.FILE).read_text()
    status, out, error = analyse("claims", simulated, "--refine", QUORATE)
    assert status == 0 and not error and (simulated / refine.FILE).read_text() == before
    # What is left of further runs is not judged.
    os.remove(simulated / rows[-1]["trace"])
    (claim,) = claims.read_claims(simulated)
    assert claim.verdict[0] == "not run"


def test_runs_go_on_where_they_were_interrupted(simulated, monkeypatch):
    monkeypatch.setattr(refine, "MOST", 1)
    refined = refine.Refined(simulated)
    like = [row for row in refined.manifest.values() if row["scheme"] == "frc"]
    refined.add([like], "step", ["0.16"])
    refined.write()
    claims.refine(simulated, str(QUORATE))
    (claim,) = claims.read_claims(simulated)
    assert claim.verdict[0] == "best not known"
    assert claim.beside.complete == claim.beside.wanted == 4


def test_further_runs_are_like_those_of_the_nearest_value(simulated):
    refined = refine.Refined(simulated)
    like = [{**row, "rounds": row["step"]} for row in refined.manifest.values()]
    groups = [[row for row in like if row["scheme"] == name] for name in ("uncoded", "frc")]
    refined.add(groups, "step", ["0.08", "0.16"])
    refined.add(groups, "step", ["0.16"])
    found = [(row["scheme"], row["step"], row["rounds"]) for row in refined.rows]
    assert found == [
        (name, *of) for of in (("0.08", "0.1"), ("0.16", "0.15")) for name in ("uncoded", "frc")
    ]
    assert [row["run"] for row in refined.rows] == ["7", "8", "9", "10"]
    assert refined.rows[0]["trace"] == "7-step0.08.h5"


def test_a_program_that_is_none_is_named(simulated, analyse):
    status, out, error = analyse("claims", simulated, "--refine", "/no/quorate")
    assert status == 2 and "--refine is /no/quorate, which is no program" in error


def test_runs_over_mpi_are_not_refined_by_simulations(simulated, analyse, monkeypatch):
    monkeypatch.setattr(claims.Trace, "clock", "wall")
    status, out, error = analyse("claims", simulated, "--refine", QUORATE)
    assert status == 2 and "write a finer grid into the experiment" in error


def test_tuning_goes_on_until_the_best_step_is_known(made, analyse):
    folder = made("tune")
    out = bash(folder / "analyse.sh")
    lines = (folder / "report" / "figure.tuned").read_text().splitlines()
    steps = [line.removeprefix("step = ") for line in lines if line.startswith("step")]
    assert len(steps) == 2 and all(map(near, steps)) and "no best value" not in out
    # Of the grid alone there is none.
    traces = [path for path in folder.glob("*.h5") if "uncoded" in path.name]
    words = ("--target", "loss=1e-8", "--any-data", "--out", folder / "one")
    status, out, _ = analyse("tune", *traces, *words)
    assert status == 1 and "uncoded: no best value: beside step 0.15, 0.1 is" in out
    text = (folder / "one" / "best.tuned").read_text()
    assert "[scheme" not in text and "# uncoded: no best value" in text
