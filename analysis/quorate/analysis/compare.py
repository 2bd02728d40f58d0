# SPDX-License-Identifier: BSD-2-Clause
"""compare: curves of runs, their table, targets and speed-up."""


from collections.abc import Sequence
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from . import histogram, quantities
from .curves import (
    ALONG,
    LABELS,
    METRICS,
    band,
    curve,
    metric_of,
    places,
    points,
    reached,
    usual_targets,
)
from .figures import (
    Plot,
    beside,
    finish,
    from_zero,
    legend_of,
    mark_warmup,
    panels,
    row_height,
    rows,
    scale,
    styles,
)
from .groups import Group, caption, with_words
from .layout import Axis, layout, split
from .look import PLAIN, Look
from .numbers import number_of
from .speedup import Speedup, speedup
from .tables import mean, number
from .traces import BadInput
from .wording import in_words

SCORES = {"auc": "AUC", "accuracy": "accuracy", "mse": "MSE"}  # the first that exists
LOSSES = ("train_loss", "test_loss", "objective", "gap")
HISTOGRAM = "histogram"  # in place of what a metric is drawn along
MARK_LETTERS = 26  # of a line along a panel's height
MOST_WIDTH = 14  # inches
ALL_DIVERGED = 1e4  # times the first loss are drawn, if no run did better
Target = tuple[str, float]
Mark = tuple[float, str]  # a time, and what ended then


def axes_of(words: str) -> list[Axis]:
    """loss:time,compute:histogram as pairs. Raises BadInput."""
    pairs = []
    for word in words.split(","):
        metric, _, along = word.strip().partition(":")
        along = along or "time"
        if along not in (*ALONG, HISTOGRAM):
            known_places = ", ".join([*ALONG, HISTOGRAM])
            raise BadInput(f"--axes: '{word}': after the colon say {known_places}")
        known = quantities.LABELS if along == HISTOGRAM else LABELS
        pairs.append((metric_of(metric, known), along))
    return pairs


def usual_axes(groups: Sequence[Group]) -> list[Axis]:
    """Loss, distance from the optimum and a score against time and rounds, as far as they exist.

    Raises BadInput if nothing does.
    """
    metrics = [m for m in ("train_loss", "gap", "accuracy", "auc") if exists(groups, m)]
    if "auc" in metrics and "accuracy" in metrics:
        metrics.remove("accuracy")  # of two classes AUC says more
    if not metrics:
        path = groups[0].first.path
        raise BadInput(f"{path} holds no finite loss or AUC: nothing to plot")
    return [(metric, along) for metric in metrics for along in ("time", "round")]


def exists(groups: Sequence[Group], metric: str) -> bool:
    return any(len(curve(trace, metric)[2]) for group in groups for trace in group.traces)


def along_label(groups: Sequence[Group], along: str) -> str:
    clocks = {trace.clock for group in groups for trace in group.traces}
    return f"{clocks.pop()} time (s)" if along == "time" and len(clocks) == 1 else ALONG[along]


def readable(axis: Axis, groups: Sequence[Group], drawn: Axes) -> None:
    """Keeps the scale to runs that did not diverge; if all did, to their first losses."""
    metric = axis[0]
    bad = [trace for group in groups for trace in group.traces if trace.diverged]
    if not bad:
        return
    good = [trace for group in groups for trace in group.traces if not trace.diverged]
    values = [curve(trace, metric)[2] for trace in good]
    values = [v for v in values if len(v)]
    if values:
        low, high = min(v.min() for v in values), max(v.max() for v in values)
        high = max([high, *[trace.first_loss for trace in good]]) if metric != "gap" else high
    else:
        start = max([t.first_loss for t in bad if t.first_loss > 0], default=1.0)
        low, high = start / 2, ALL_DIVERGED * start
        drawn.set_yscale("log")
    if drawn.get_yscale() == "log":
        drawn.set_ylim(low / 2, high * 2)
    else:
        drawn.set_ylim(low - 0.05 * (high - low), high + 0.15 * (high - low))


def lost(axis: Axis, group: Group, drawn: Axes, colour: str) -> None:
    """A cross at the upper edge where a diverged run leaves the scale, or has its last number."""
    for trace in group.traces:
        if not trace.diverged:
            continue
        x, y = points(trace, *axis)
        out = np.flatnonzero(y > drawn.get_ylim()[1])
        if len(out) or len(x):
            where = x[out[0]] if len(out) else x[-1]
            drawn.plot(
                [where],
                [0.98],
                "X",
                color=colour,
                markersize=9,
                markeredgecolor="white",
                transform=drawn.get_xaxis_transform(),
                clip_on=False,
                zorder=5,
            )


def draw(axis: Axis, groups: Sequence[Group], drawn: Axes, look: Look = PLAIN) -> pd.DataFrame:
    """One panel; its numbers."""
    metric, along = axis
    if along == HISTOGRAM:
        return histogram.draw(metric, groups, drawn, styles(len(groups)), look)
    numbers = []
    for group, style in zip(groups, styles(len(groups))):
        if not group.traces:
            continue
        lines = band(group.traces, metric, along, look)
        if any(trace.diverged for trace in group.traces):
            style = {**style, "linewidth": 0.8, "alpha": 0.6}
        drawn.plot(lines.x, lines.mean, label=group.name, **style)
        # A dot shows where a run ends, and a run of one point at all.
        drawn.plot(lines.x[-1:], lines.mean[-1:], "o", markersize=5, color=style["color"])
        if len(group.traces) > 1:
            drawn.fill_between(
                lines.x, lines.low, lines.high, color=style["color"], alpha=0.2, linewidth=0
            )
        numbers.append(
            pd.DataFrame(
                {
                    "configuration": group.label,
                    "seeds": len(group.traces),
                    "metric": metric,
                    "along": along,
                    "x": lines.x,
                    "mean": lines.mean,
                    "least": lines.low,
                    "greatest": lines.high,
                }
            )
        )
    if metric == "gap":
        drawn.set_yscale("log")
    if metric in quantities.LABELS:
        look.scale(drawn, "y")
    look.scale(drawn, "x")
    if metric in LOSSES:
        readable(axis, groups, drawn)
        for group, style in zip(groups, styles(len(groups))):
            lost(axis, group, drawn, style["color"])
    warm = warmup_end(groups, along)
    if warm:
        mark_warmup(drawn, warm)
    look.finish(drawn)
    found = pd.concat(numbers)
    if found.empty:
        drawn.annotate("no numbers", (0.5, 0.5), xycoords="axes fraction", ha="center", color="0.4")
    return found


def warmup_end(groups: Sequence[Group], along: str) -> float:
    """Where the longest warm-up of a run ends."""
    ends = [0.0]
    for trace in (t for group in groups for t in group.traces):
        if trace.warmup:
            ends.append(float(places(trace, along)[trace.warmup]))
    return max(ends)


def mark_of(word: str) -> Mark:
    """206=TEXT as a mark. Raises BadInput."""
    seconds, _, text = word.partition("=")
    try:
        mark = number_of(seconds), text.strip()
    except ValueError as error:
        raise BadInput(f"--mark: '{word}' is no SECONDS=TEXT, as '206=another program'") from error
    if not (np.isfinite(mark[0]) and mark[0] >= 0 and mark[1]):
        raise BadInput(f"--mark: '{word}' is no SECONDS=TEXT: give a time from 0 on, and a text")
    return mark


def draw_mark(at: Axes, mark: Mark) -> None:
    """A line at a time, its text along it, on the side where there is room."""
    at.axvline(mark[0], color="0.35", linewidth=1.2, linestyle=":")
    at.set_xlim(right=max(at.get_xlim()[1], 1.03 * mark[0]))
    left = mark[0] > 0.5 * at.get_xlim()[1]
    at.annotate(
        fill(mark[1], MARK_LETTERS),
        (mark[0], 0.96),
        (-4 if left else 4, 0),
        xycoords=at.get_xaxis_transform(),
        textcoords="offset points",
        rotation=90,
        ha="right" if left else "left",
        va="top",
        fontsize="small",
        color="0.35",
    )


def note(groups: Sequence[Group]) -> str:
    words = caption([trace for group in groups for trace in group.traces])
    most = max(len(set(group.seeds)) for group in groups)
    return f"{words}; band: least to greatest of {most} seeds" if most > 1 else words


def panel(
    groups: Sequence[Group],
    axes: list[Axis] | None = None,
    name: str = "compare",
    by: str = "",
    marks: Sequence[Mark] = (),
    look: Look = PLAIN,
) -> Plot:
    """All axes in one figure: a row a metric, a column for time, rounds and samples, if each metric
    has them all. These again for each value of the option `by`, if there is one. Marks are drawn
    along time."""
    found = layout(groups, axes or usual_axes(groups), by)
    figure, grid = panels(
        len(found.rows),
        found.columns,
        height=2.7,
        width=min(4.5 * max(found.columns, 1.6), MOST_WIDTH),
        sharex="col" if found.grid else False,
        sharey="row" if found.sharey else False,
    )
    numbers, last = [], len(found.rows) - 1
    of_by = [value for value, _ in split(groups, by)]
    titles = dict(zip(of_by, in_words(by, of_by)))
    for i, (line, row) in enumerate(zip(grid, found.rows)):
        for at in line[len(row) :]:
            at.set_visible(False)
        for j, (at, (value, some, (metric, along))) in enumerate(zip(line, row)):
            drawn = draw((metric, along), some, at, look)
            for mark in marks if along == "time" else ():
                draw_mark(at, mark)
            if by:
                drawn.insert(0, by, value)
            numbers.append(drawn)
            across, upwards = names(some, (metric, along))
            if i == last or not found.grid:
                at.set_xlabel(across)
            if j == 0 or not found.sharey:
                at.set_ylabel(upwards)
            if by and i == 0:
                at.set_title(f"{by} {titles[value]}")
    parts = [one for row in found.rows for _, some, _ in row for one in some]
    finish(figure, *legend_of(grid.flat), note(parts))
    title = "Loss and scores against time and rounds"
    table = pd.concat(numbers)
    return Plot(name, title, described(groups), figure, table, told(table))


def told(numbers: pd.DataFrame) -> pd.DataFrame | None:
    """Where the means begin and end, along time if they are drawn along that."""
    if not {"metric", "along", "x", "mean"} <= set(numbers.columns):
        return None
    drawn = numbers[numbers["along"] == "time"]
    drawn = numbers if not len(drawn) else drawn
    along = "/".join(drawn["along"].unique())
    return drawn[["configuration", "metric", "x", "mean"]].rename(columns={"x": along})


def names(groups: Sequence[Group], axis: Axis) -> tuple[str, str]:
    """Of what is drawn across and upwards."""
    metric, along = axis
    if along == HISTOGRAM:
        return LABELS[metric], histogram.upwards(metric)
    return along_label(groups, along), LABELS[metric]


def described(groups: Sequence[Group]) -> str:
    words = "Lines are means over seeds, bands go from the least to the greatest seed. "
    if all(len(group.traces) == 1 for group in groups):
        words = ""
    if any(trace.diverged for group in groups for trace in group.traces):
        words += "A cross marks where a run that diverged leaves the scale. "
    if warmup_end(groups, "time"):
        words += "The grey field is warm-up; it is counted in all times. "
    return words.strip()


def single(
    groups: Sequence[Group],
    axis: Axis,
    by: str = "",
    marks: Sequence[Mark] = (),
    look: Look = PLAIN,
) -> Plot:
    """One pair of axes as a figure."""
    return panel(groups, [axis], "-".join(axis).replace("_", "-"), by, marks, look)


def interval(found: Speedup) -> str:
    return f"{found.low:.2f} to {found.high:.2f}" if np.isfinite(found.low) else "-"


def table(groups: Sequence[Group], targets: Sequence[Target] = ()) -> pd.DataFrame:
    """A row of words for each configuration: means over its seeds.

    Speed-up per round: the base's time per round over this one's; speed-up to a target: its time
    to the target over this one's.
    """
    seeds = any(len(group.traces) > 1 for group in groups)
    score = next((name for name in SCORES if exists(groups, name)), "auc")
    lines = []
    for group in groups:
        traces = group.traces
        some = [t for t in traces if t.rounds]
        estimate = any(not t.evaluated and not t.dry and t.rounds for t in traces)
        line = {"scheme": with_words(group.label, group.troubles)}
        if seeds:
            line["seeds"] = str(len(traces))
        own = group is group.base
        gain = speedup(group.base, group)
        line["time (s)"] = number(mean([t.time for t in traces]), 3)
        line["ms per round"] = number(1000 * mean([t.time_per_round for t in some]), 2)
        line["speed-up per round"] = number(gain.ratio, 2)
        if seeds:
            line["95 % interval"] = "-" if own else interval(gain)
        line["decode error"] = f"{mean([t.decode_error for t in some]):.3g}" if some else "-"
        loss = number(mean([t.final_loss for t in traces]), 4)
        line["final loss"] = ("~" if estimate else "") + loss
        line[SCORES[score]] = number(mean([t.final(score) for t in traces]), 4)
        for metric, value in targets:
            to = np.array([reached(t, metric, value)[0] for t in traces])
            there = np.isfinite(to)
            faster = speedup(group.base, group, lambda t: reached(t, metric, value)[0])
            words = (
                number(mean(to.tolist()), 2) if there.all() else f"{there.sum()} of {len(to)} runs"
            )
            line[f"s to {METRICS[metric]} {value:g}"] = words
            # Without those that did not reach it, the others would look too good.
            whole = there.all() and np.isfinite(faster.pairs).all()
            line[f"speed-up to {METRICS[metric]} {value:g}"] = number(
                faster.ratio if whole else np.nan, 2
            )
        lines.append(line)
    return pd.DataFrame(lines)


def target_table(groups: Sequence[Group], targets: Sequence[Target]) -> pd.DataFrame:
    """Seconds and rounds to each target, and the ratio of paired seeds with its interval."""
    lines = []
    for metric, value in targets:
        for group in groups:
            found = np.array([reached(t, metric, value) for t in group.traces])
            there = np.isfinite(found[:, 0])
            gain = speedup(group.base, group, lambda t: reached(t, metric, value)[0])
            lines.append(
                {
                    "target": f"{METRICS[metric]} {value:g}",
                    "scheme": group.label,
                    "runs that reached it": f"{there.sum()} of {len(there)}",
                    "time (s)": number(mean(found[there, 0]), 3),
                    "rounds": number(mean(found[there, 1]), 1),
                    "speed-up to it": number(gain.ratio, 2),
                    "95 % interval": "-" if group is group.base else interval(gain),
                }
            )
    return pd.DataFrame(lines)


def all_targets(groups: Sequence[Group]) -> list[Target]:
    """Usual targets of the training loss, and of accuracy or AUC."""
    return [
        (metric, value)
        for metric in ("train_loss", "accuracy", "auc")
        for value in usual_targets(groups, metric)
    ]


def speedup_plot(groups: Sequence[Group]) -> Plot:
    """Speed-up per round of each configuration over its base: pairs of seeds, mean, interval."""
    names = [group.name for group in groups]
    figure, grid = panels(1, height=0.5 + row_height(names) * len(groups))
    axis = grid[0][0]
    lines, words, drawn = [], [], []
    for i, group in enumerate(groups):
        gain = speedup(group.base, group)
        axis.plot(gain.pairs, [i] * len(gain.pairs), "o", color="0.6", markersize=4, zorder=2)
        if np.isfinite(gain.low):
            axis.plot([gain.low, gain.high], [i, i], color="#0072B2", linewidth=3, zorder=3)
        axis.plot([gain.ratio], [i], "D", color="#0072B2", markersize=7, zorder=4)
        drawn += [gain.ratio, *gain.pairs]
        known = np.isfinite(gain.low) and group is not group.base
        words.append(number(gain.ratio, 2) + (f" ({interval(gain)})" if known else ""))
        lines.append(
            {
                "configuration": group.label,
                "pairs": len(gain.pairs),
                "speed-up per round": gain.ratio,
                "low": gain.low,
                "high": gain.high,
            }
        )
    rows(axis, names)
    beside(axis, words)
    axis.axvline(1, color="0.4", linewidth=1)
    scale(axis, "x", pd.Series(drawn).dropna())
    if axis.get_xscale() == "linear":
        from_zero(axis, "x")
    axis.set_xlabel("speed-up per round")
    finish(figure)
    clocks = {group.first.clock for group in groups}
    name = groups[0].label if len(clocks) == 1 else groups[0].first.scheme
    text = (
        f"Time per round of {name}, over that of the configuration. Diamond: geometric mean over "
        "pairs of runs with the same seed (grey dots); bar: 95 % bootstrap interval over the "
        "pairs, if there are two or more."
    )
    return Plot("speed-up", "Speed-up per round", text, figure, pd.DataFrame(lines))


def warnings(groups: Sequence[Group]) -> list[str]:
    """What a reader of the table must know."""
    lines = []
    traces = [trace for group in groups for trace in group.traces]
    if any(trace.rounds and not trace.evaluated and not trace.dry for trace in traces):
        lines.append("~ the last round's estimate: that trace holds no evaluation")
    for trace in traces:
        name = trace.name
        bad = np.flatnonzero(~np.isfinite(trace.losses))
        if len(bad):
            lines.append(f"{name}: {len(bad)} losses are not finite, the first at row {bad[0] + 1}")
        if trace.diverged:
            lines.append(
                f"{name}: diverged: loss {trace.final_loss:.4g} at the end, "
                f"{trace.first_loss:.4g} at the beginning"
            )
        if trace.status != "completed":
            lines.append(f"{name}: {trace.status} after round {trace.rounds}")
        if trace.lost:
            first = 1 + np.searchsorted(trace.round["time"], trace.deaths["time"].iloc[0])
            workers = f"{trace.lost} of {trace.workers} workers"
            lines.append(f"{name}: lost {workers}, the first in round {first}")
        if trace.warmup:
            rest = np.mean(trace.durations[trace.warmup :])
            first = "first round is" if trace.warmup == 1 else f"first {trace.warmup} rounds are"
            lines.append(
                f"{name}: the {first} warm-up, counted above; without "
                f"that {1000 * rest:.2f} ms per round"
            )
    return lines
