# SPDX-License-Identifier: BSD-2-Clause
"""Figures: what is written stays inside, lines are seen whole, and nothing hides another thing."""

import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text
from program import call
from traces import simulate
from quorate.analysis import compare, cost, diagnose, figures, rounds, sweep, workers
from quorate.analysis.groups import group, read_all
from quorate.analysis.traces import read_trace
from quorate.analysis.wording import WORDS, in_words

LONG = "cyclic (stragglers 3, delay mixture:0/0.05/0.9,0.3/0.1/0.1, optimizer agd, step {})"
FOLDERS = ("trace:/a/profile_one.csv", "trace:/a/profile_two.csv")


@pytest.fixture(scope="module")
def many(simulated):
    """Twenty configurations with long labels, two seeds each."""
    names = [f"{scheme}-{seed}" for scheme in ("uncoded", "frc") for seed in (1, 2)]
    few = group(read_all([simulated[name] for name in names]))
    return [replace(few[i % 2], label=LONG.format(i), base=few[0]) for i in range(20)]


@pytest.fixture(scope="module")
def slowed(runs, tmp_path_factory):
    """Three schemes of equal times under two slowdowns."""
    folder = tmp_path_factory.mktemp("slowed")
    common = ("--data", runs["data"], "--workers", 4, "--row-time", 1e-5, "--rounds", 5)
    found = []
    for slowdown in ("fixed:1,0", "fixed:4,0,1"):
        for scheme in ("uncoded", "ignore --stragglers 1", "k-sync --collect 3"):
            words = (*common, "--slowdown", slowdown, "--scheme", *scheme.split())
            found.append(simulate(folder, str(len(found)), *words))
    return found


def boxes_of(texts):
    return [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]


def ticks(axis):
    found = [label for label in axis.get_ticklabels() if label.get_text()]
    low, high = sorted(axis.get_view_interval())
    places = 1 if axis.axis_name == "y" else 0
    return [label for label in found if low <= label.get_position()[places] <= high]


def outside(figure):
    """Texts that leave the figure. Ticks beyond the scale are not drawn."""
    figure.draw_without_rendering()  # where texts of legends are
    whole, drawn = figure.bbox.padded(1), figure.findobj(Text)
    hidden = set()
    for axes in [*figure.axes, *(child for axes in figure.axes for child in axes.child_axes)]:
        for axis in (axes.xaxis, axes.yaxis):
            shown = set(ticks(axis)) if axes.get_visible() else set()
            hidden |= set(axis.get_ticklabels(which="both")) - shown
    texts = [t for t in drawn if t not in hidden and t.get_text() and t.get_visible()]
    return [
        text.get_text()
        for text in texts
        if (box := text.get_window_extent()).x0 < whole.x0
        or box.x1 > whole.x1
        or box.y0 < whole.y0
        or box.y1 > whole.y1
    ]


def overlap(boxes):
    pairs = [(one, other) for i, one in enumerate(boxes) for other in boxes[i + 1 :]]
    return [pair for pair in pairs if pair[0].padded(-1).overlaps(pair[1].padded(-1))]


def plots_of(groups):
    first = groups[0].first
    work = workers.Work(first)
    costs = [[cost.Cost(trace) for trace in one.traces] for one in groups]
    return [
        compare.panel(groups, marks=[(0.2, "another program, " * 5), (0.01, "early")]),
        compare.speedup_plot(groups),
        cost.plot(groups, costs),
        rounds.panel(groups),
        rounds.distribution(groups),
        *workers.plots(work),
        workers.fitted(work)[0],
        diagnose.plot(diagnose.read(str(first.path), None, 0)),
    ]


@pytest.mark.parametrize("count", [2, 20])
def test_all_that_is_written_is_inside_the_figure_and_over_no_panel(many, count):
    for plot in plots_of(many[:count]):
        assert not outside(plot.figure), plot.name
        assert not overlap(boxes_of(ticks(plot.figure.axes[0].yaxis))), plot.name
        for legend in plot.figure.legends:
            box = legend.get_window_extent()
            assert box.height < 3.2 * plot.figure.dpi, plot.name  # of two columns at least
            assert box.x0 >= 0 and box.x1 <= plot.figure.bbox.width
            assert all(box.y0 >= axes.get_window_extent().y1 for axes in plot.figure.axes)


def test_titles_of_panels_beside_each_other_do_not_meet(simulated):
    traces = read_all([simulated["uncoded-1"], simulated["uncoded-2"], simulated["uncoded-3"]])
    delays = [f"mixture:0/0.05/0.9,0.3/0.{i}/0.1" for i in range(1, 4)]
    for trace, delay in zip(traces, delays):
        trace.config["delay"] = delay
    figure = compare.panel(group(traces, but=["delay"]), by="delay").figure
    titles = [axis.set_title(axis.get_title("left")) for axis in figure.axes]
    words = "delay normal 0 ± 0.05 s (90 %), 0.3 ± 0.1 s (10 %)"
    assert titles[0].get_text().split() == words.split()
    assert not overlap(boxes_of(titles)) and not outside(figure)


def test_what_is_too_long_breaks_where_it_may():
    words = "events random:change=0.02,numbers=10+12+15+18+20"
    assert figures.broken(words, 60) == words
    assert figures.broken(words, 30).split("\n") == [
        "events random:change=0.02,",
        "numbers=10+12+15+18+20",
    ]


def test_lines_do_not_lie_on_the_edge_of_a_panel(many):
    """But for cells, what ends at a window of time, and a survival curve that ends at zero."""
    for plot in plots_of(many[:2])[:4]:
        for axes in plot.figure.axes:
            left, right = axes.get_xlim()
            low, high = sorted(axes.get_ylim())
            for line in axes.get_lines():
                x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
                if line.get_transform() == axes.transData and len(x):
                    assert left < np.nanmin(x) and np.nanmax(x) < right, plot.name
                    assert low < np.nanmin(y) and np.nanmax(y) < high, plot.name
            ends = [bar.get_x() + bar.get_width() for bar in axes.patches if bar.get_label() == ""]
            assert not ends or max(ends) < right


def test_shares_above_a_time_are_steps(many):
    groups = many[:2]
    axis = rounds.distribution(groups).figure.axes[0]
    for one in groups:
        (line,) = [drawn for drawn in axis.get_lines() if drawn.get_label() == one.name]
        assert line.get_drawstyle() == "steps-post"
        times = 1000 * np.concatenate([trace.durations for trace in one.traces])
        x, y = line.get_xdata(), line.get_ydata()
        assert (x[0], y[0]) == (0, 1)
        for at in np.quantile(times, [0.1, 0.5, 0.9]):
            assert y[np.searchsorted(x, at, "right") - 1] == pytest.approx((times > at).mean())


def test_no_marker_of_a_row_hides_another(slowed):
    traces = [read_trace(path) for path in slowed]
    part = sweep.Sweep(group(traces, but=["slowdown"]), "slowdown", "round-time")
    assert part.numbers["mean"].duplicated().any()
    figure = sweep.plot([part]).figure
    axis = figure.axes[0]
    lines = [line for line in axis.get_lines() if line.get_marker() != "None"]
    places = [
        tuple(point) for line in lines for point in axis.transData.transform(line.get_xydata())
    ]
    assert len(lines) == 3 and len(places) == 6
    for i, one in enumerate(places):
        for other in places[i + 1 :]:
            apart = np.hypot(*np.subtract(one, other)) * 72 / figure.dpi
            assert apart > lines[0].get_markersize()
    for line in lines:  # and each is in its row
        assert list(np.round(line.get_ydata())) == [0, 1]
    words = [label.get_text() for label in axis.get_yticklabels()]
    assert words == ["worker 0: 1\N{NO-BREAK SPACE}x", "workers 0, 1: 4\N{NO-BREAK SPACE}x"]
    assert axis.get_ylabel() == "slowdown" and not outside(figure)


def test_every_delay_model_with_parts_has_words():
    listed = call("list", "delays").stdout
    known = re.findall(r"^([\w-]+):(\S+)", listed, re.M)
    assert len(known) > 8
    examples = {"mixture": "1/0.5/0.4,2/0.3/0.6", "trace": "/x/some_times.csv"}
    examples["uneven"] = "0.1,0.5,0.01,0.1,4,3,2,1"
    for model, parts in known:
        numbers = ",".join(str(i + 1) for i in range(parts.count(",") + 1))
        value = f"{model}:{examples.get(model, numbers)}"
        (words,) = in_words("delay", [value])
        assert not words.startswith(model + ":") and words != value, words
    assert set(WORDS) <= {model for model, _ in known}


def test_words_tell_values_apart_or_are_the_values():
    unlike = ["uneven:0.1,0.5,0.01,0.1,4,3", "uneven:0.1,0.5,0.02,0.1,4,3"]
    assert in_words("delay", unlike) == unlike
    assert in_words("delay", ["exponential:x,", "none"]) != []
    assert in_words("stragglers", ["1", "2"]) == ["1", "2"]
    assert in_words("delay", FOLDERS) == ["recorded profile_one", "recorded profile_two"]
    assert sweep.unlike(in_words("delay", FOLDERS), "_/") == ["one", "two"]
