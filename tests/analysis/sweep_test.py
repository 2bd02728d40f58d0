# SPDX-License-Identifier: BSD-2-Clause
"""sweep, and compare --by: runs along the values of an option."""

import numpy as np
import pandas as pd
import pytest
from traces import simulate
from quorate.analysis import claims, compare, layout, sweep
from quorate.analysis.groups import group
from quorate.analysis.numbers import number_of, shown_seconds
from quorate.analysis.quantities import transfers
from quorate.analysis.tables import brief
from quorate.analysis.traces import Trace, read_trace

DELAYS = ("exponential:0.01", "pareto:0.01,2")
IN_WORDS = [
    "exponential, mean 0.01\N{NO-BREAK SPACE}s",
    "Pareto from 0.01\N{NO-BREAK SPACE}s, shape 2",
]


@pytest.fixture(scope="module")
def swept(runs, tmp_path_factory):
    """uncoded and frc with one and three stragglers, two seeds each, under two delay models."""
    folder = tmp_path_factory.mktemp("swept")
    common = ("--data", runs["data"], "--workers", 4, "--row-time", 1e-5, "--rounds", 10)
    found = []
    for delay in DELAYS:
        for seed in (1, 2):
            for s in (0, 1, 3):
                scheme = ("--scheme", "frc", "--stragglers", s) if s else ("--scheme", "uncoded")
                words = (*common, *scheme, "--delay", delay, "--seed", seed)
                found.append(simulate(folder, str(len(found)), *words))
    return found


def sweep_of(paths, option, what):
    traces = [read_trace(path) for path in paths]
    return traces, sweep.Sweep(group(traces, but=[option]), option, what)


def test_a_sweep_holds_the_mean_of_the_seeds_at_each_value(swept, analyse, tmp_path):
    traces, found = sweep_of(swept[:6], "stragglers", "time")
    assert [one.label for one in found.all] == ["uncoded", "frc"] and found.values == ["1", "3"]
    for label, value, scheme, s in [
        ("frc", "1", "frc", "1"),
        ("frc", "3", "frc", "3"),
        ("uncoded", "1", "uncoded", None),  # without the option: the same all along
    ]:
        mine = [t.time for t in traces if t.scheme == scheme and t.config.get("stragglers") == s]
        assert len(mine) == 2
        rows = found.numbers.query("configuration == @label and stragglers == @value")
        assert rows["mean"].item() == pytest.approx(np.mean(mine))
        assert rows["least"].item() == min(mine) and rows["greatest"].item() == max(mine)
    table = found.table()
    assert list(table["stragglers"]) == ["1", "3"] and list(table.columns[1:]) == ["uncoded", "frc"]
    words = ("sweep", *swept[:6], "--over", "stragglers", "--out", tmp_path, "--name", "figure")
    status, out, _ = analyse(*words)
    assert status == 0 and "uncoded" in out
    assert {p.name for p in tmp_path.iterdir()} == {"figure.png", "figure.pdf", "figure.csv"}


def test_a_table_for_a_page_has_the_range_over_seeds(swept, analyse):
    traces = [read_trace(path) for path in swept[:6]]
    status, out, _ = analyse("sweep", *swept[:6], "--over", "stragglers", "--markdown")
    assert status == 0
    lines = dict(line.strip("| ").split(" | ", 1) for line in out.splitlines() if "`" in line)
    assert list(lines) == ["`uncoded`", "`frc`"]
    mine = [1000 * t.time_per_round for t in traces if t.config.get("stragglers") == "3"]
    mean, least, greatest = (f"{f(mine):.3g}" for f in (np.mean, min, max))
    assert lines["`frc`"].endswith(f" | {mean} ({least} to {greatest})")


def test_names_are_dots_and_numbers_a_line(swept):
    _, names = sweep_of(swept, "delay", "speed-up")
    axis = sweep.plot([names]).figure.axes[0]
    assert [label.get_text() for label in axis.get_yticklabels()] == IN_WORDS
    assert {line.get_linestyle() for line in axis.get_lines()} == {"None"}
    base = names.numbers.query("configuration == 'uncoded'")
    assert np.allclose(base["mean"], 1)
    assert sweep.names(["trace:/x/a_1.csv.gz", "trace:/y/a_2.csv"]) == ["1", "2"]
    _, numbers = sweep_of(swept[:6], "stragglers", "round-time")
    axis = sweep.plot([numbers]).figure.axes[0]
    assert axis.get_xlabel() == "stragglers" and axis.get_ylabel() == "time per round (ms)"


@pytest.mark.parametrize(
    "values, kind",
    [([1, 2], "linear"), ([1, 100], "log"), ([0, 1, 100], "symlog"), ([0, 1, 2], "linear")],
)
def test_values_that_differ_much_are_drawn_by_their_size(values, kind):
    axis = sweep.panels(1, 1)[1][0][0]
    sweep.scale(axis, "x", pd.Series(values))
    assert axis.get_xscale() == kind


def test_options_that_go_along_do_not_split_a_configuration(tmp_path, analyse):
    common = ("--dry", "--row-time", 1, "--rounds", 2)
    paths = []
    for workers in (2, 4):
        size = ("--workers", workers, "--rows", 10 * workers)
        for scheme in ("uncoded", "frc --stragglers 1", "frc --stragglers 0"):
            words = (*common, *size, "--scheme", *scheme.split())
            paths.append(simulate(tmp_path, str(len(paths)), *words))
    over = ("--over", "workers", "--best", "stragglers")
    status, out, _ = analyse("sweep", *paths, *over)
    assert status == 0
    lines = [line.split() for line in out.splitlines() if line.strip()]
    assert lines[0] == ["workers", "uncoded", "frc"]
    best = ["(stragglers", "0)"]
    assert lines[1:3] == [
        ["2", "10000.00", "10000.00", *best],
        ["4", "10000.00", "10000.00", *best],
    ]


def test_what_does_not_vary_is_refused(swept, analyse):
    for option, words in [("step", "in all runs"), ("beauty", "no run has the option")]:
        status, _, error = analyse("sweep", *swept, "--over", option)
        assert status == 2 and words in error and error.count("\n") == 1


def test_panels_and_tables_by_the_values_of_an_option(swept, analyse, tmp_path):
    groups = group([read_trace(path) for path in swept], but=["delay"])
    assert [len(one.traces) for one in groups] == [4, 4, 4]
    figure = compare.panel(groups, [("train_loss", "time")], by="delay").figure
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert titles == [f"delay {words}" for words in IN_WORDS]
    longest = max(read_trace(path).time for path in swept[:6])
    for axis in figure.axes:
        assert {line.get_label() for line in axis.get_lines()} >= {one.label for one in groups}
    assert figure.axes[0].get_xlim()[1] < 1.2 * longest
    status, out, _ = analyse("compare", *swept, "--by", "delay", "--out", tmp_path, "--panel")
    assert status == 0
    for delay in DELAYS:
        assert f"delay {delay}\n" in out
    assert out.count("1.00") >= 2  # each table has its own base


def test_seeds_and_other_incidental_options_are_options_too(swept, analyse, tmp_path):
    traces, found = sweep_of(swept[:6], "seed", "time")
    assert found.values == ["1", "2"]
    for trace in traces:
        row = found.numbers.query("configuration.str.startswith(@trace.scheme)")
        row = row[row["seed"] == str(trace.seed)]
        assert trace.time in list(row["mean"])
    status, out, _ = analyse("compare", *swept[:6], "--by", "seed", "--panel", "--out", tmp_path)
    assert status == 0 and "seed 1\n" in out and "seed 2\n" in out
    parts = layout.split(group(traces, but=["seed"]), "seed")
    figure = compare.panel(group(traces, but=["seed"]), by="seed").figure
    assert "band" not in figure.texts[-1].get_text()  # of one seed each
    for value, some in parts:
        assert {trace.seed for one in some for trace in one.traces} == {int(value)}
    assert analyse("sweep", *swept[:6], "--over", "threads")[0] == 2  # the same in all
    status, _, error = analyse("compare", *swept[:6], "--by", "sead")
    assert status == 2 and "seed" in error and error.count("\n") == 1


def test_the_noise_floor_is_the_mean_gap_of_the_last_quarter(swept, monkeypatch):
    traces, _ = sweep_of(swept[:6], "stragglers", "time")
    monkeypatch.setattr(Trace, "optimum", 0.01)
    found = sweep.Sweep(group(traces, but=["stragglers"]), "stragglers", "noise-floor")
    objectives = traces[1].evaluation["objective"].to_numpy()
    floor = objectives[-(len(objectives) // 4) :].mean() - 0.01
    assert sweep.noise_floor(traces[1]) == pytest.approx(floor)
    assert np.isfinite(found.numbers["mean"]).all()
    monkeypatch.setattr(Trace, "optimum", float("nan"))
    assert np.isnan(sweep.noise_floor(traces[1]))


def test_the_best_value_of_another_option_counts_at_each_place(runs, analyse, tmp_path):
    common = ("--data", runs["data"], "--workers", 4, "--row-time", 1e-5, "--rounds", 30)
    common = (*common, "--optimizer", "gd")
    paths = []
    for scheme in ("uncoded", "ignore"):
        for delay in DELAYS:
            for seed in (1, 2):
                for step in (0.01, 1):
                    words = ("--scheme", scheme, "--delay", delay, "--seed", seed, "--step", step)
                    paths.append(simulate(tmp_path, f"{len(paths)}", *common, *words))
    traces = [read_trace(path) for path in paths]
    target = ("train_loss", 0.9 * traces[1].final_loss + 0.1 * traces[1].first_loss)
    groups = group(traces, but=["delay", "step"])
    found = sweep.Sweep(groups, "delay", "time-to", target, "step")
    assert len(found.numbers) == 4 and set(found.numbers["step"]) == {"1"}
    for row in found.numbers.to_dict("records"):
        scheme = row["configuration"]
        mine = [t for t in traces if t.scheme == scheme and t.config["step"] == "1"]
        times = [sweep.reached(t, *target)[0] for t in mine if t.config["delay"] == row["delay"]]
        assert row["mean"] == pytest.approx(np.mean(times)) and row["reached"] == 2
    never = ("train_loss", 0.0)
    words = sweep.Sweep(groups, "delay", "time-to", never, "step").table()
    assert (words[["uncoded", "ignore"]] == "0 of 2").all(axis=None)
    given = ("sweep", *paths, "--over", "delay", "--best", "step", "--what", "time-to")
    status, out, _ = analyse(*given, "--target", f"loss={target[1]}", "--out", tmp_path)
    assert status == 0 and "(step 1)" in out
    for words in [given, ("sweep", *paths, "--over", "delay", "--target", "loss=1")]:
        status, _, error = analyse(*words)
        assert status == 2 and "go together" in error
    status, _, error = analyse("sweep", *paths, "--over", "delay", "--best", "steps")
    assert status == 2 and "no run has the option 'steps'" in error


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """Messages of 8 and 80 kB at 1 GB/s and 20 us over a link to each of 2 and 4 workers."""
    folder = tmp_path_factory.mktemp("linked")
    common = ("--dry", "--row-time", 1e-6, "--rounds", 6, "--rows", 40, "--delay", "constant:0.01")
    common += ("--bandwidth", 1e9, "--latency", 2e-5, "--port", "separate", "--scheme", "uncoded")
    return {
        (workers, columns): simulate(
            folder, f"{workers}-{columns}", *common, "--workers", workers, "--columns", columns
        )
        for workers in (2, 4)
        for columns in (1000, 10000)
    }


def test_sending_and_receiving_are_what_the_links_take(linked):
    for (workers, columns), path in linked.items():
        found = transfers(read_trace(path))[["receive", "send"]]
        # The last message of each worker is not told of.
        assert len(found) == 5 * workers
        wire = 2e-5 + 8 * columns / 1e9
        assert np.allclose(found, wire, rtol=0.05, atol=2e-7)


def test_messages_that_take_no_time_take_exactly_none(swept):
    assert not transfers(read_trace(swept[0]))["receive"].any()


def test_several_quantities_have_a_panel_and_a_table_each(linked, analyse, tmp_path):
    words = ("--over", "workers", "--what", "receive,send", "--out", tmp_path, "--name", "figure")
    status, out, _ = analyse("sweep", *linked.values(), *words)
    assert status == 0
    assert out.index("receiving a task (ms)") < out.index("sending an answer (ms)")
    numbers = pd.read_csv(tmp_path / "figure.csv")
    assert list(dict.fromkeys(numbers["quantity"])) == ["receive", "send"]
    assert len(numbers) == 2 * len(linked)
    traces = [read_trace(path) for path in linked.values()]
    groups = group(traces, but=["workers"])
    plot = sweep.plot([sweep.Sweep(groups, "workers", what) for what in ("receive", "send")])
    left, right = plot.figure.axes[:2]
    assert left.get_ylabel() == "receiving a task (ms)"
    assert right.get_ylabel() == "sending an answer (ms)"


def test_a_quantity_that_is_not_known_is_refused(linked, analyse):
    status, _, error = analyse(
        "sweep", *linked.values(), "--over", "workers", "--what", "send,beauty"
    )
    assert status == 2 and "--what: 'beauty' is not known" in error and error.count("\n") == 1


def test_times_with_units_are_in_order_and_on_an_axis(runs, tmp_path):
    common = ("--data", runs["data"], "--workers", 4, "--rounds", 3, "--row-time", "10us")
    given = ["50ms", "100us", "0.001"]
    paths = [simulate(tmp_path, str(i), *common, "--latency", t) for i, t in enumerate(given)]
    _, found = sweep_of(paths, "latency", "time")
    assert found.numeric and found.values == ["100us", "0.001", "50ms"]
    assert list(found.numbers["x"]) == [1e-4, 1e-3, 0.05]
    assert compare.mark_of("2min=another") == (120, "another")


def test_numbers_for_people_and_values_for_labels():
    assert [number_of(text) for text in ("0.05", "50ms", "10us", "2h")] == [0.05, 0.05, 1e-5, 7200]
    with pytest.raises(ValueError):
        number_of("frc")
    assert shown_seconds(12345.6) == "12346 s" and shown_seconds(0.0012345) == "0.001234 s"
    assert brief("mixture:0/0.05/0.5,2/0.3/0.5") == "mixture:0/0.05/0.5,2/0.3/0.5"
    assert brief("mixture:0s/50ms/0.5,2s/300ms/0.5") == "mixture:0s/50ms/0.5,2s/300ms/0.5"
    assert brief("trace:/data/times.csv") == "trace:times"


@pytest.fixture(scope="module")
def pieces(runs, tmp_path_factory):
    """amb with 40 samples a round on 4 workers, in micro-batches of 1, 3 and 10, of two models."""
    folder = tmp_path_factory.mktemp("pieces")
    words = ("--data", runs["data"], "--workers", 4, "--row-time", 1e-3, "--rounds", 5)
    words += ("--scheme", "amb", "--compute-time", 10, "--samples-cap", 40, "--step", 0.1)
    return [
        simulate(folder, f"{size}-{model[1]}", *words, "--micro-batch", size, *model)
        for size in (1, 3, 10)
        for model in (("--model", "logistic"), ("--model", "mlp", "--hidden", 2))
    ]


def test_the_number_of_micro_batches_is_an_axis(pieces, analyse):
    status, out, err = analyse("sweep", *pieces, "--over", "micro-batches", "--what", "sample-time")
    assert status == 0, err
    lines = [line.split() for line in out.splitlines()]
    table = {row[0]: row[1:] for row in lines if row and row[0].isdigit()}
    # A worker computes a sample in 1 ms, and four workers do so at the same time.
    assert list(table) == ["1", "4", "10"]
    assert set(sum(table.values(), [])) == {"250.0"}
    assert analyse("sweep", *pieces, "--over", "micro-batch")[0] == 0


def test_what_another_option_says_is_no_part_of_a_label(pieces):
    found = sweep.Sweep(
        group([read_trace(p) for p in pieces], but=["micro-batch"]), "micro-batch", "time"
    )
    assert found.labels == ["amb (model logistic)", "amb (model mlp)"]


def test_only_rounds_of_a_number_of_samples_have_micro_batches(swept, analyse):
    status, _, err = analyse("sweep", *swept, "--over", "micro-batches")
    assert status == 2 and "no run has the option 'micro-batches'" in err


def test_goodput_is_the_share_of_all_workers_time_that_updates_used(simulated):
    trace = read_trace(simulated["uncoded-1"])
    # 200 rows of 1e-5 s in each of 30 rounds, by 4 workers.
    computing = 200 * 1e-5 * 30
    assert sweep.QUANTITIES["goodput"][1](trace) == pytest.approx(
        100 * computing / (4 * trace.time)
    )
    assert claims.cost_of("goodput")(trace) == pytest.approx(4 * trace.time / computing)
    assert claims.cost_of("received")(trace) == trace.round["bytes_received"].mean()
