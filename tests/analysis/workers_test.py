# SPDX-License-Identifier: BSD-2-Clause
"""workers: what workers did when, who is slow, fitted delays."""

import numpy as np
import pytest
from traces import edited, simulate
from quorate.analysis import delays, workers
from quorate.analysis.stragglers import among_last
from quorate.analysis.tasks import ABSENT, CANCELLED, COMPUTING, DELAY, STATES, WAITING
from quorate.analysis.traces import BadInput, read_trace


def work_of(path, **options):
    return workers.Work(read_trace(path), **options)


@pytest.mark.parametrize("name", ["uncoded-1", "frc-1", "members", "amb", "asynchronous"])
def test_the_states_of_a_worker_fill_the_run_without_overlap(simulated, name):
    work = work_of(simulated[name])
    found = work.pieces
    assert np.allclose(work.seconds.sum(1), work.trace.time)
    for worker in range(work.trace.workers):
        mine = found[(found["worker"] == worker) & (found["end"] > found["begin"])]
        mine = mine.sort_values("begin")
        assert np.all(mine["begin"].to_numpy()[1:] >= mine["end"].to_numpy()[:-1] - 1e-9)


def test_an_uncoded_worker_is_delayed_computes_and_waits(simulated):
    work = work_of(simulated["uncoded-1"])
    arrival = work.trace.arrivals("worker", "delay", "compute")
    for worker in range(4):
        mine = arrival["worker"] == worker
        assert work.seconds[worker, DELAY] == pytest.approx(arrival["delay"][mine].sum())
        assert work.seconds[worker, COMPUTING] == pytest.approx(arrival["compute"][mine].sum())
    assert work.seconds[:, CANCELLED].sum() == pytest.approx(0, abs=1e-6)
    assert np.all(work.seconds[:, WAITING] > 0)


def test_parts_of_one_message_are_one_task(runs, tmp_path):
    """Complex answers come as two parts, and a simulated message takes no time."""
    words = ("--data", runs["data"], "--workers", 5, "--rounds", 10, "--row-time", 1e-5)
    path = simulate(tmp_path, "two", *words, "--scheme", "reed-solomon", "--step", 0.1)
    work = work_of(path)
    parts = work.trace.arrivals("event", "compute")
    assert len(work.table["event"]) == len(np.unique(parts["event"])) < len(parts["event"])
    assert work.seconds[:, STATES.index("message")].sum() == pytest.approx(0, abs=1e-6)


def test_who_left_is_absent(simulated):
    work = work_of(simulated["members"])
    ends = work.trace.round["time"]
    away = work.seconds[:, ABSENT]
    assert away[1] == pytest.approx(ends[9] - ends[4], rel=0.1)
    assert np.all(away[[0, 2, 3]] == 0)


def test_tasks_of_frc_that_were_not_waited_for_are_cancelled(simulated):
    work = work_of(simulated["frc-1"])
    assert work.seconds[:, CANCELLED].sum() > 0
    used, ended = workers.quorum(work)
    assert used.sum() * 30 == work.trace.round["used"].sum()
    assert ended.sum() == pytest.approx(1)


def test_places_among_the_last_are_shared_by_those_who_did_not_answer():
    nan = np.nan
    found = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, nan, nan, 4.0], [nan, 2.0, 3.0, 1.0]])
    there = np.ones((3, 4), dtype=bool)
    assert among_last(found, there, 1).tolist() == [
        [0, 0, 0, 1],
        [0, 0.5, 0.5, 0],
        [1, 0, 0, 0],
    ]
    there[2, 0] = False
    assert among_last(found, there, 2)[2].tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    "delay, verdict",
    [
        ("fixed:0.5,3", "chronic"),
        ("gilbert-elliott:0.02,0.2,0.5", "bursts"),
        ("exponential:0.1", "-"),
    ],
)
def test_slow_is_chronic_or_in_bursts(tmp_path, delay, verdict):
    path = simulate(
        tmp_path, "slow", "--dry", "--workers", 10, "--rounds", 600, "--delay", delay, "--seed", 1
    )
    found = work_of(path).slow.verdict
    if verdict == "chronic":
        assert [i for i, word in enumerate(found) if word == "chronic"] == [3]
    elif verdict == "bursts":
        assert found.count("bursts") >= 8
    else:
        assert set(found) == {"-"}


@pytest.mark.parametrize("model", ["shifted-exponential:0.5,2", "exponential:2", "pareto:1,3"])
def test_a_delay_model_is_found_again(tmp_path, model):
    path = simulate(
        tmp_path, "delays", "--dry", "--workers", 20, "--rounds", 200, "--delay", model, "--seed", 3
    )
    known, censored = workers.task_times(work_of(path))
    best = delays.fits(known, censored)[0]
    name, wanted = model.split(":")
    assert best.model.split(":")[0] in (name, f"shifted-{name}")
    numbers = [float(x) for x in best.model.split(":")[1].split(",")]
    assert numbers[-1] == pytest.approx(float(wanted.split(",")[-1]), rel=0.05)
    assert best.distance < delays.critical(len(known))


def test_cancelled_tasks_do_not_bias_the_fit():
    draw = np.random.default_rng(1)
    times, limit = draw.exponential(2.0, 5000), draw.exponential(2.0, 5000)
    known, censored = times[times <= limit], limit[times > limit]
    fit = delays.exponential(known, censored, 0.0)
    assert float(fit.model.split(":")[1]) == pytest.approx(2.0, rel=0.05)
    values, above = delays.kaplan_meier(known, censored)
    assert above[np.searchsorted(values, 2.0)] == pytest.approx(np.exp(-1), abs=0.03)


def test_two_kinds_of_times_are_a_mixture_and_equal_ones_a_constant():
    draw = np.random.default_rng(1)
    times = np.concatenate([draw.normal(1, 0.1, 700), draw.normal(5, 0.2, 300)])
    best = delays.fits(times, np.array([]))[0]
    assert best.model.startswith("mixture:") and best.distance < 0.05
    assert delays.fits(np.full(20, 3.0), np.array([]))[0].model == "constant:3"
    assert delays.fits(np.ones(3), np.array([])) == []


def test_workers_are_told_by_node_if_there_are_several(simulated, analyse, tmp_path):
    def two(file):
        file.attrs["nodes"] = "n07 n08"
        file["worker/node"][:] = [0, 1, 1, 0]

    status, out, _ = analyse("workers", edited(simulated["members"], tmp_path, two))
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    assert [line[1] for line in lines[1:5]] == ["n07", "n08", "n08", "n07"]
    assert [line[:2] for line in lines if line and line[0] in ("n07", "n08")] == [
        ["n07", "2"],
        ["n08", "2"],
    ]
    assert "node" not in analyse("workers", simulated["members"])[1]


def test_tables_and_figures_are_made(simulated, analyse, tmp_path):
    words = ("--rounds", "3:8", "--per-node", 2, "--out", tmp_path)
    status, out, _ = analyse("workers", simulated["members"], *words)
    assert status == 0
    assert {"timeline.png", "workers.pdf", "stragglers.csv", "delays.png"} <= {
        path.name for path in tmp_path.iterdir()
    }
    header = out.split("\n\n")[1].splitlines()
    assert header[0].startswith("worker  node") and len(header) == 5
    assert "\nnode  workers" in out and "\nmodel" in out
    drawn = np.genfromtxt(tmp_path / "timeline.csv", delimiter=",", names=True)
    ends = read_trace(simulated["members"]).round["time"]
    assert drawn["begin"].min() == pytest.approx(ends[1])
    assert drawn["end"].max() == pytest.approx(ends[7])


def test_what_cannot_be_shown_is_refused(simulated, analyse, tmp_path):
    for words in ("0:3", "5:4", "1:31", "x"):
        assert analyse("workers", simulated["frc-1"], "--rounds", words, "--out", tmp_path)[0] == 2
    dry = ("--dry", "--workers", 4, "--rounds", 5, "--trace-arrivals", "none")
    with pytest.raises(BadInput, match="--trace-arrivals all"):
        work_of(simulate(tmp_path, "none", *dry))


def test_figures_of_a_run_that_takes_no_time_have_axes_and_no_warnings(runs, script, tmp_path):
    trace = simulate(tmp_path, "zero", "--data", runs["data"], "--workers", 4, "--rounds", 9)
    done = script("workers", trace, "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    work = workers.Work(read_trace(trace))
    for plot in [*workers.plots(work), workers.fitted(work)[0]]:
        plot.figure.canvas.draw()
        panels = [axis for axis in plot.figure.axes if axis.get_subplotspec() is not None]
        assert panels and all(axis.get_ylabel() for axis in panels), plot.name
        assert panels[-1].get_xlabel() and len(panels[-1].get_xticks()) > 1, plot.name
