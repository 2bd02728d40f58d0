# SPDX-License-Identifier: BSD-2-Clause
"""claims: verdicts on claims whose traces are known, and what cannot be judged."""

import functools
import json
import os
import subprocess
from math import inf, isnan

import pytest
from traces import edited, quorate
from quorate.analysis import claims

# In place of a time:
MISSED = "missed"  # the run never gets to its target
UNFINISHED = 7
ABSENT = 0
PLAIN = {
    "name": "it",
    "origin": "x.ini:5: ",
    "paper": [2.0, 2.0],
    "says": "twice as fast",
    "source": "Work 2026",
    "there": "a cluster",
    "here": "",
    "measure": "time-to loss=0.6",
    "where": "",
    "best": "",
    "best_of_pair": "",
    "pairs": "seed",
    "not_comparable": "",
}


@pytest.fixture(scope="module")
def trace(simulated, tmp_path_factory):
    """A trace that takes so many times as long as others, or never gets to the target; its path."""
    where = tmp_path_factory.mktemp("claimed")

    @functools.cache
    def make(time):
        def edit(file):
            for table in ("round", "evaluation"):
                file[table]["time"][:] *= 1 if time == MISSED else time
            file["evaluation/train_loss"][:] = 0.7 if time == MISSED else 0.5
            file["evaluation/train_loss"][0] = 0.69
            file.attrs["status"] = "running" if time == UNFINISHED else "completed"

        return str(edited(simulated["uncoded-1"], where, edit, f"{time}"))

    return make


@pytest.fixture
def folder(trace, tmp_path):
    """Makes the folder of one claim: of a side a list of times in units of the first, or MISSED, or
    lists of these by the value of `best`."""

    def side(name, times):
        tried = times if isinstance(times, dict) else {"": times}
        runs = [
            {"pair": str(seed), "best": best, "trace": trace(time) if time else "none.h5"}
            for best, some in tried.items()
            for seed, time in enumerate(some, 1)
        ]
        return {"options": f"scheme={name}", "runs": runs}

    def make(of, beside, **words):
        claim = {**PLAIN, **words, "of": side("of", of), "beside": side("beside", beside)}
        whole = {"experiment": "x", "summary": "a summary", "claims": [claim]}
        (tmp_path / "claims.json").write_text(json.dumps(whole))
        return tmp_path

    return make


@pytest.mark.parametrize(
    "of, beside, words, verdict, reason",
    [
        ([1] * 5, [1.9, 2.2, 2, 2.1, 1.7], {}, "reproduced", "direction and size"),
        ([1] * 5, [1.7] * 5, {}, "reproduced", "size"),  # within 20 %
        ([1] * 5, [1.6] * 5, {}, "partly", "smaller"),
        ([1] * 5, [2.5] * 5, {}, "partly", "greater"),
        ([1] * 5, [9] * 5, {"paper": [2, None]}, "reproduced", "size"),
        ([1] * 5, [1.5] * 5, {"paper": [2, None]}, "partly", "smaller"),
        ([1] * 5, [1.8, 1.7, 1.8, 1.9, 2.5], {"paper": [2, None]}, "partly", "below the bound"),
        ([1] * 5, [5] * 5, {"paper": [3, 4.5]}, "reproduced", "size"),
        ([1] * 5, [1.2] * 5, {"paper": [1, None]}, "reproduced", "size"),
        ([1] * 5, [1.2] * 5, {"paper": [1, 1.5]}, "partly", "smaller"),  # up to 1.5
        ([1] * 5, [1.3] * 5, {"paper": [1, 1.5]}, "reproduced", "size"),
        ([1] * 5, [1.2, 1.2, 1.2, 1.2, 1.6], {"paper": [1, 1.5]}, "reproduced", "size"),
        ([1] * 5, [2] * 5, {"paper": [1, 1.5]}, "reproduced", "more than the paper's"),
        ([1] * 5, [1.9, 0.9, 2, 2.1, 1.7], {}, "not", "interval holds 1"),
        ([1] * 5, [0.5] * 5, {}, "not", "the other direction"),
        ([1] * 5, [2] * 5, {"paper": None}, "reproduced", "above 1"),
        ([1] * 5, [2] * 5, {"paper": None, "source": ""}, "holds", "above 1"),
        ([1] * 5, [1.02] * 5, {"paper": [1, 1]}, "reproduced", "at most 2 % apart"),
        ([1] * 5, [0.9] * 5, {"paper": [1, 1]}, "partly", "at most 11 % apart"),
        ([1] * 5, [0.5] * 5, {"paper": [1, 1]}, "not", "at most 100 % apart"),
        ([1] * 5, [2] * 5, {"paper": [1, 1]}, "reproduced", "takes less"),  # as long, or less
        ([1] * 5, [2, 2, 2, 2, 0.9], {"paper": [1, 1]}, "partly", "at most 11 % more"),
        (
            [1] * 5,
            [MISSED] * 5,
            {"paper": [1, 1], "measure": "final loss"},
            "not",
            "at most 40 % apart",
        ),
        ([1] * 4, [2] * 4, {}, "too few seeds", "4 of at least 5"),
        ([1] * 5, [2] * 5, {"not_comparable": "why"}, "not comparable", "why"),
        ([1, 1, 1, 1, MISSED], [2] * 5, {}, "partly", "scheme=of: 1 of 5"),
        ([1, 1, MISSED, MISSED, MISSED], [2] * 5, {}, "not", "scheme=of: 3 of 5"),
        ([1, 1, 1, 1, MISSED], [0.5] * 5, {}, "not", "scheme=of: 1 of 5"),
        ([1] * 5, [2, 2, 2, 2, MISSED], {}, "partly", "scheme=beside: 1 of 5"),
        ([1] * 5, [MISSED] * 5, {}, "partly", "scheme=beside: 5 of 5"),
        ([1, 1, 1, MISSED, MISSED], [2, 2, 2, MISSED, MISSED], {}, "partly", "2 of 5"),
        # A run that goes on for longer and does not get there says the direction, and no size.
        ([0.1] * 5, [MISSED] * 5, {"paper": None}, "reproduced", "5 of 5 do not get there in"),
        ([0.1] * 5, [MISSED] * 5, {"paper": [5, None]}, "reproduced", "times as long"),
        ([0.1] * 5, [MISSED] * 5, {"paper": [500, None]}, "partly", "scheme=beside: 5 of 5"),
        ([0.1] * 5, [MISSED] * 5, {"paper": [5, 5]}, "partly", "scheme=beside: 5 of 5"),
        ([40] * 5, [MISSED] * 5, {"paper": None}, "partly", "scheme=beside: 5 of 5"),
        ([1] * 5, [MISSED] * 5, {"measure": "round-time"}, "not", "the interval holds 1"),
    ],
)
def test_verdicts_follow_from_the_ratios(folder, of, beside, words, verdict, reason):
    (claim,) = claims.read_claims(folder(of, beside, **words))
    assert claim.verdict[0] == verdict and reason in claim.verdict[1], claim.verdict


def test_runs_that_are_not_complete_are_waited_for(folder):
    (claim,) = claims.read_claims(folder([1, 1, ABSENT, 1, 1], [UNFINISHED, 2, 2, 2, 2]))
    assert claim.verdict == ("not run", "8 of 10 runs are complete")
    assert claim.pairs == ["2", "4", "5"] and claim.ours == "-"  # a part is no result


def test_a_gap_without_an_optimum_is_not_a_gap_that_is_missed(folder, trace, monkeypatch):
    path = folder([1] * 5, [2] * 5, measure="time-to gap=10")
    (claim,) = claims.read_claims(path)
    verdict, reason = claim.verdict
    assert verdict == "not run" and reason.startswith("no optimum beside ") and claim.ours == "-"
    assert "quorate optimum" in reason
    monkeypatch.setattr(claims.Trace, "optimum", 0.01)
    (claim,) = claims.read_claims(path)
    assert claim.verdict[0] == "reproduced"


def test_a_run_that_passes_a_gap_and_moves_away_does_not_get_there(trace, tmp_path, monkeypatch):
    monkeypatch.setattr(claims.Trace, "optimum", 0.5)

    def end_at(objective):
        def edit(file):
            values = file["evaluation/objective"]
            values[:] = 0.6
            values[1], values[len(values) - 1] = 0.501, objective

        return claims.read_trace(edited(trace(1), tmp_path, edit))

    for measure in ("time-to gap=0.0011", "rounds-to gap=0.0011"):
        cost = claims.cost_of(measure)
        assert cost(end_at(0.505)) > 0 and isnan(cost(end_at(0.52)))


def test_the_interval_of_the_median_is_by_ranks():
    numbers = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert claims.median_interval(numbers) == (3, 1, 5)
    assert claims.median_interval([*numbers, inf]) == (3.5, 1, inf)
    assert claims.median_interval([float(i) for i in range(1, 11)]) == (5.5, 2, 9)  # 97.9 %
    assert claims.median_interval([float(i) for i in range(1, 21)]) == (10.5, 6, 15)
    assert isnan(claims.median_interval([])[0])


def test_each_side_has_its_best_step(folder):
    of = {"1": [1.05] * 5, "2": [1] * 5, "3": [1.1] * 5, "8": [0.1, 0.1, 0.1, 0.1, MISSED]}
    beside = {"0.5": [2.1] * 5, "1": [2] * 5, "2": [2.1] * 5, "8": [MISSED] * 5}
    (claim,) = claims.read_claims(folder(of, beside, best="step"))
    assert [side.best for side in claim.sides] == ["step 2", "step 1"]
    assert claim.interval == pytest.approx((2, 2, 2)) and claim.verdict[0] == "reproduced"
    assert "(step 2)" in claim.question


def test_each_pair_may_have_its_own_best(folder):
    of = {"0.1, 27": [1, 1, 1, 3, MISSED], "1, 9": [3, MISSED, 3, 1, 1]}
    (claim,) = claims.read_claims(folder(of, [2] * 5, best_of_pair="mu, lambda"))
    assert claim.interval == pytest.approx((2, 2, 2)) and claim.verdict[0] == "reproduced"
    assert claim.question.startswith(
        "time-to loss=0.6, scheme=of (the best mu, lambda of each pair) beside scheme=beside"
    )


@pytest.mark.parametrize(
    "of, words",
    [
        ({"2": [3] * 5, "10": [1] * 5}, "step 10 is at an end of the grid"),  # as numbers
        ({"2": [1] * 5, "9": [1.05] * 5, "10": [2] * 5}, "step 2 is at an end of the grid"),
        ({"2": [3] * 5, "9": [1] * 5, "10": [1.2] * 5}, "2 is 200 % worse and 10 is 20 % worse"),
        ({"2": [1.1] * 5, "9": [1] * 5, "10": [1.2] * 5}, "beside step 9, 10 is 20 % worse"),
        ({"2": [1.1] * 5, "9": [1] * 5, "10": [1.1] * 5}, ""),
        ({"2": [1] * 5}, ""),  # no grid
        ({"one": [1] * 5, "two": [2] * 5}, ""),  # words have no ends
    ],
)
def test_without_the_best_step_there_is_no_verdict(folder, analyse, of, words):
    path = folder(of, {"2": [2] * 5}, best="step")
    (claim,) = claims.read_claims(path)
    assert (claim.verdict[0] == "best not known") == bool(words)
    assert (words and "scheme=of: ") in claim.reason and words in claim.reason
    assert ("best not known 1" in analyse("claims", path, "--overview")[1]) == bool(words)


def test_verdicts_are_held_against_a_page(folder, analyse, tmp_path):
    path = folder([1] * 5, [2] * 5)
    page = tmp_path / "page.md"
    page.write_text(analyse("claims", path, "--markdown")[1])
    status, said, _ = analyse("claims", path, "--verdicts", page)
    assert (status, said) == (0, f"all 1 verdicts are those of {page}\n")
    page.write_text(page.read_text().replace("| reproduced |", "| partly |"))
    status, said, _ = analyse("claims", path, "--verdicts", page)
    assert (status, said) == (1, "x it: reproduced, the page says partly\n")
    page.write_text(page.read_text().replace("### x", "### y"))
    assert "says nothing of it" in analyse("claims", path, "--verdicts", page)[1]
    page.write_text("# Nothing")
    status, _, error = analyse("claims", path, "--verdicts", page)
    assert (status, error.count("\n")) == (2, 1) and "has no claims" in error
    page.unlink()  # what is wrong is said before traces are read
    status, _, error = analyse("claims", path / "none", "--verdicts", page)
    assert (status, error.count("\n")) == (2, 1) and str(page) in error


def test_of_a_paper_there_is_one_line(folder, analyse):
    path = folder([1] * 5, [1.4] * 5)
    whole = json.loads((path / "claims.json").read_text())
    (claim,) = whole["claims"]
    whole["claims"].append({**claim, "name": "own", "source": ""})
    whole["claims"].append({**claim, "name": "less", "paper": [1.4, 1.4]})
    (path / "claims.json").write_text(json.dumps(whole))
    said = analyse("claims", path, "--papers")[1]
    (line,) = [line for line in said.splitlines() if "[x](#x)" in line]
    assert line.endswith("| [x](#x) | 2 | 1 | it (partly) |")


def test_of_what_counts_an_end_of_the_grid_is_said(folder):
    """There are no values between, and perhaps none beyond."""
    of = {"2": [3] * 5, "9": [1.5] * 5, "10": [1] * 5}
    (claim,) = claims.read_claims(folder(of, {"2": [2] * 5}, best="collect"))
    assert claim.verdict[0] == "reproduced"
    assert claim.reason.endswith("; best at an end of the grid: scheme=of (collect 10)")


def test_measures_are_times_rounds_and_last_scores(folder, simulated):
    path = folder([1] * 5, [3] * 5)
    for measure, ratio in [
        ("time", 3),
        ("round-time", 3),
        ("rounds-to loss=0.6", 1),
        ("final loss", 1),
        ("final accuracy", 1),
    ]:
        whole = json.loads((path / "claims.json").read_text())
        whole["claims"][0]["measure"] = measure
        (path / "claims.json").write_text(json.dumps(whole))
        (claim,) = claims.read_claims(path)
        assert claim.interval[0] == pytest.approx(ratio), measure
    trace = claims.read_trace(simulated["uncoded-1"])
    assert claims.cost_of("final accuracy")(trace) == 1 / trace.final("accuracy")
    assert isnan(claims.cost_of("final gap")(trace))  # without an optimum


@pytest.fixture(scope="module")
def shared_tasks(tmp_path_factory):
    """Simulates eight tasks a round for three workers, shared out by a scheme; its trace."""
    where = tmp_path_factory.mktemp("work")

    def simulate(*scheme, arrivals="all"):
        path = where / "-".join([*scheme, arrivals, ".h5"])
        words = ("--dry", "--rows", 3, "--workers", 3, "--row-time", 1, "--rounds", 30)
        words += ("--slowdown", "uneven:0,3,0,1,1,1", "--trace-arrivals", arrivals)
        quorate("simulate", *words, "--scheme", *scheme, "--trace", path, "--quiet")
        return claims.read_trace(path)

    return simulate


def test_work_is_what_busy_workers_compute(shared_tasks):
    work = claims.cost_of("work")
    all_wait = shared_tasks("uncoded")
    arrivals = all_wait.arrivals("worker", "compute", "delay")
    assert work(all_wait) == pytest.approx(arrivals["compute"].sum() + arrivals["delay"].sum())
    assert work(all_wait) < 3 * all_wait.time  # the fast ones rest
    shared = shared_tasks("ata", "--tasks", "8")
    assert 0 < work(shared) < 3 * shared.time
    # Tasks that are cut off at the end of a round have no answer, and nobody rests.
    cancelled = shared_tasks("rennala", "--collect", "8")
    assert work(cancelled) == pytest.approx(3 * cancelled.time)


def test_work_needs_all_arrivals(shared_tasks):
    with pytest.raises(claims.BadInput, match="--trace-arrivals all"):
        claims.cost_of("work")(shared_tasks("uncoded", arrivals="none"))


def test_up_to_is_shown_as_that(folder, analyse):
    out = analyse("claims", folder([1] * 5, [1.3] * 5, paper=[1, 1.5]))[1]
    assert "up to 1.50" in out


def test_tables_numbers_and_other_seeds(folder, analyse, tmp_path):
    path = folder([1] * 5, [2, 2, 2, 2, MISSED], says="a | b")
    status, out, _ = analyse("claims", path)
    assert status == 0 and "2.00 (2.00 to inf)" in out and "5 of 5, 4 of 5" in out
    assert "partly" in out and "a | b (Work 2026)" in out
    status, out, _ = analyse("claims", path, "--markdown")
    (line,) = [line for line in out.splitlines() if line.startswith("| it")]
    assert "### x\n\na summary\n" in out and r"a \| b" in line and "| a cluster |" in line
    assert "4 workers" in line and "all pairs are alike" not in line
    folder([1] * 5, [2] * 5)
    assert "all pairs are alike" in analyse("claims", path)[1]
    folder([1] * 5, [2, 2, 2, 2, MISSED], says="a | b")
    status, out, _ = analyse("claims", path, "--json")
    (found,) = json.loads(out)
    assert found["verdict"] == "partly" and found["ratio"]["high"] is None
    assert found["ratio"]["pairs"] == 5 and found["beside"]["measured"]["5"] is None
    status, out, _ = analyse("claims", path, "--again", path)
    assert status == 0 and "same" in out and "DIFFERS" not in out
    status, out, _ = analyse("claims", path, "--again", path, "--markdown")
    assert status == 0 and out == "Of 1 claims 1 have the same verdict.\n"
    status, _, error = analyse("claims", path, "--again", path, "--json")
    assert status == 2 and "--again has no --json" in error
    other = tmp_path / "other"
    other.mkdir()
    whole = json.loads((path / "claims.json").read_text())
    whole["claims"][0]["paper"] = [1, None]
    whole["claims"][0]["beside"]["runs"].pop()
    (other / "claims.json").write_text(json.dumps(whole))
    status, out, _ = analyse("claims", path, "--again", other, "--markdown")
    (line,) = [line for line in out.splitlines() if line.startswith("| [x](#x) it | ")]
    assert out.startswith("Of 1 claims 0 have the same verdict. These differ:\n\n")
    assert "| partly |" in line and line.endswith("| too few seeds |")
    whole["experiment"] = "y"
    (other / "claims.json").write_text(json.dumps(whole))
    status, _, error = analyse("claims", path, "--again", other)
    assert status == 2 and "no claims in common" in error


def test_the_overview_has_what_papers_say(folder, analyse):
    path = folder([1] * 5, [2] * 5)
    whole = json.loads((path / "claims.json").read_text())
    whole["claims"].append({**whole["claims"][0], "name": "own", "source": "", "paper": None})
    (path / "claims.json").write_text(json.dumps(whole))
    status, out, _ = analyse("claims", path, "--overview")
    lines = out.splitlines()
    assert status == 0 and lines[0] == "Claims of papers: 1; reproduced 1."
    assert lines[-1] == "Claims of our own: 1; holds 1."
    (row,) = [
        line for line in lines if line.startswith("| [x](#x) | it | twice as fast (Work 2026)")
    ]
    assert row.endswith(" | 2.00 | 2.00 (2.00 to 2.00) | reproduced; all pairs are alike |")


def test_what_cannot_be_judged_is_refused_in_one_line(folder, analyse, tmp_path):
    def refused(*phrases):
        status, out, error = analyse("claims", tmp_path)
        assert status == 2 and error.count("\n") == 1 and not out, error
        for phrase in phrases:
            assert phrase in error

    refused("claims.json is not there", "quorate script")
    (tmp_path / "claims.json").write_text("{}")
    refused("claims.json is not as quorate script writes it")
    folder([1] * 5, [2] * 5, measure="final beauty")
    refused("x.ini:5: claim it: 'beauty' cannot be drawn")
    folder([1] * 5, [2] * 5, measure="time-to loss")
    refused("x.ini:5: claim it: time-to: 'loss' is no METRIC=VALUE")
    folder([1] * 5, [ABSENT] * 5)
    (tmp_path / "none.h5").write_text("no trace")
    refused("none.h5 is not an HDF5 file")


def test_an_experiment_is_judged_from_its_file_to_the_verdict(tmp_path, analyse):
    source = tmp_path / "x.ini"
    source.write_text(
        "summary = waiting for all\nscheme = uncoded, frc\nworkers = 4\nrounds = 20\n"
        "delay = exponential:0.05\nseed = 1..5\ndry = on\ncommands = simulate\n"
        "[scheme frc]\nstragglers = 1\n"
        "[claim faster]\npaper = 2..\nsource = S\nmeasure = time\nof = scheme=frc\n"
        "beside = scheme=uncoded\n"
    )
    words = ("--command", "simulate", "--cluster", "hosts", "--quiet", "--output", tmp_path / "out")
    quorate("script", "--experiment", source, *words)
    run = ["bash", str(tmp_path / "out" / "run.sh")]
    subprocess.run(run, check=True, capture_output=True, timeout=60, env=dict(os.environ))
    (claim,) = claims.read_claims(tmp_path / "out")
    # Of 4 and 2 exponential times: 25/12 beside two pairs' greatest least, 3/4 of the mean.
    assert claim.interval[0] == pytest.approx(25 / 9, rel=0.3)
    assert claim.verdict[0] == "reproduced" and claim.of.final_loss != claim.of.final_loss
    status, out, _ = analyse("claims", tmp_path / "out")
    assert status == 0 and out.startswith("x ") and "our own" not in out
