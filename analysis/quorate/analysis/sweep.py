# SPDX-License-Identifier: BSD-2-Clause
"""sweep: a number of each run along an option that varies."""

import re
from collections.abc import Callable, Sequence
from math import ceil, isfinite
from os.path import commonprefix
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .curves import gaps, reached
from .figures import (
    COLOURS,
    Plot,
    Style,
    finish,
    legend_of,
    panels,
    row_height,
    rows,
    scale,
    styles,
)
from .groups import Group, caption, value_of, values
from .numbers import number_of
from .quantities import transfers, used_samples
from .speedup import speedup
from .tables import brief, markdown, number, short
from .tasks import goodput
from .traces import BadInput, Trace
from .wording import in_words

MARKERS = "osD^v"
LANES = 0.8  # of a row; each configuration has a lane of it
LANE = 0.1  # inches
TICKS = 20  # of all panels, which are beside each other
SMALL = ("decode-error", "noise-floor")  # with so many significant digits, whatever their size
Quantity = tuple[str, Callable[[Trace], float]]  # its name, and the number of a run


def noise_floor(trace: Trace) -> float:
    """The mean gap of the last quarter of the models that were scored; NaN without an optimum."""
    found = gaps(trace) if trace.evaluated else np.array([])
    return float(found[-max(1, len(found) // 4) :].mean()) if len(found) else float("nan")


# What is drawn upwards. A speed-up is of two runs.
QUANTITIES: dict[str, Quantity] = {
    "round-time": ("time per round (ms)", lambda t: 1000 * t.time_per_round),
    "time": ("time (s)", lambda t: t.time),
    "receive": ("receiving a task (ms)", lambda t: 1000 * float(transfers(t)["receive"].mean())),
    "send": ("sending an answer (ms)", lambda t: 1000 * float(transfers(t)["send"].mean())),
    "speed-up": ("speed-up per round", lambda t: t.time_per_round),
    "sample-rate": ("samples per second", lambda t: float(used_samples(t).sum()) / t.time),
    "sample-time": ("time per sample (us)", lambda t: 1e6 * t.time / float(used_samples(t).sum())),
    "goodput": ("goodput (%)", lambda t: 100 * goodput(t)),
    "decode-error": ("decode error", lambda t: t.decode_error),
    "noise-floor": ("settled objective - optimum", noise_floor),
    "loss": ("training loss at the end", lambda t: t.final_loss),
    "accuracy": ("test accuracy at the end", lambda t: t.final("accuracy")),
    "auc": ("test AUC at the end", lambda t: t.final("auc")),
}


def time_to(metric: str, target: float) -> Quantity:
    """When a run reached a target; NaN if it did not."""
    label = f"time to {metric.replace('_', ' ')} {target:g} (s)"
    return label, lambda trace: reached(trace, metric, target)[0]


def rank(numbers: Sequence[float]) -> tuple[int, float]:
    """Best is of what most seeds have a number, and of these the least median."""
    known = [number for number in numbers if isfinite(number)]
    return -len(known), float(np.median(known)) if known else 0.0


class Sweep:
    """A number of configurations, whose runs differ in one option, along it. Raises BadInput.

    A number that not all seeds have, as those that did not reach a target, is none.

    best: an option in which the runs of a configuration differ too; at each place those count that
    have its best value: which gives most seeds a number, and of these values the least median.
    """

    def __init__(
        self,
        groups: Sequence[Group],
        option: str,
        what: str,
        target: tuple[str, float] | None = None,
        best: str = "",
    ) -> None:
        self.option, self.what, self.best = option, what, best
        self.quantity = time_to(*target) if target else QUANTITIES[what]
        traces = [trace for group in groups for trace in group.traces]
        self.values = values(traces, option)
        self.groups = [g for g in groups if len({value_of(t, option) for t in g.traces}) > 1]
        # The one configuration without the option is a line across; more would hide the others.
        without = [group for group in groups if value_of(group.first, option) is None]
        self.across = without if len(without) == 1 else []
        if not self.groups:
            raise BadInput(f"--over: '{option}' is {self.values[0]} in all runs: nothing varies")
        self.numbers = pd.concat([self.line(group) for group in self.all])

    @property
    def all(self) -> list[Group]:
        return [*self.across, *self.groups]

    @property
    def labels(self) -> list[str]:
        return [group.label for group in self.all]

    @property
    def numeric(self) -> bool:
        try:
            return all(isfinite(number_of(value)) for value in self.values)
        except ValueError:
            return False

    def line(self, group: Group) -> pd.DataFrame:
        """Mean, least and greatest over seeds at each value."""
        lines = []
        for i, value in enumerate(self.values):
            some = group if group in self.across else group.where(self.option, value)
            if not some.traces:
                continue
            if self.best:
                some = self.best_of(some)
            found = np.array([self.quantity[1](trace) for trace in some.traces])
            if self.what == "speed-up":
                gain = speedup(some.base, some)
                found = np.array(gain.pairs or [gain.ratio])
            lines.append(
                {
                    "configuration": group.label,
                    self.option: value,
                    "x": number_of(value) if self.numeric else float(i),
                    **({self.best: value_of(some.first, self.best)} if self.best else {}),
                    "seeds": len(some.traces),
                    "reached": int(np.isfinite(found).sum()),
                    "mean": found.mean(),
                    "least": found.min(),
                    "greatest": found.max(),
                }
            )
        return pd.DataFrame(lines)

    def best_of(self, group: Group) -> Group:
        """The runs with the best value of the option `best`."""
        tried = dict.fromkeys(value_of(trace, self.best) for trace in group.traces)
        return min(
            [group.where(self.best, value) for value in tried if value],
            key=lambda some: rank([self.quantity[1](trace) for trace in some.traces]),
            default=group,
        )

    def cell(self, row: dict[str, Any], digits: int) -> str:
        if row["reached"] < row["seeds"]:
            return f"{row['reached']} of {row['seeds']}"
        words = short(row["mean"]) if self.what in SMALL else number(row["mean"], digits)
        best = row.get(self.best)
        return f"{words} ({self.best} {brief(best)})" if best else words

    def table(self) -> pd.DataFrame:
        """A row for each value, a column for each configuration."""
        digits = {
            "time": 2,
            "time-to": 2,
            "round-time": 2,
            "sample-rate": 0,
            "sample-time": 1,
            "receive": 2,
            "send": 2,
        }.get(self.what, 3)
        rows = []
        for value, name in zip(self.values, names(self.values)):
            here = self.numbers[self.numbers[self.option] == value]
            found = {row["configuration"]: row for row in here.to_dict("records")}
            cells = {g: self.cell(found[g], digits) if g in found else "-" for g in self.labels}
            rows.append({self.option: name, **cells})
        return pd.DataFrame(rows)

    def as_markdown(self) -> str:
        """A row for each configuration, a column for each value: the mean, and in brackets the
        least and the greatest over seeds if they differ in what is printed."""
        rows = []
        for label in self.labels:
            mine = self.numbers[self.numbers["configuration"] == label]
            found = {row[self.option]: row for row in mine.to_dict("records")}
            cells = [spread(found[v]) if v in found else "-" for v in self.values]
            rows.append({"": f"`{label}`", **dict(zip(names(self.values), cells))})
        return markdown(pd.DataFrame(rows))

    @property
    def names(self) -> list[str]:
        """Of rows, in words."""
        return unlike(in_words(self.option, self.values), "_/")

    def draw(self, axis: Axes, found: dict[str, Style]) -> None:
        """Numbers to the right and the quantity upwards; names below each other.

        found: the style of each label.
        """
        for group in self.all:
            style = found[group.label]
            mine = self.numbers[self.numbers["configuration"] == group.label]
            if not self.numeric:
                # Between names there is nothing.
                style = {"color": style["color"], "linestyle": "none", "markersize": 6}
                place = list(found).index(group.label)
                style["marker"] = MARKERS[place // len(COLOURS) % len(MARKERS)]
                lane = mine["x"] + LANES * ((place + 0.5) / len(found) - 0.5)
                axis.plot(mine["mean"], lane, label=group.label, **style)
                axis.hlines(lane, mine["least"], mine["greatest"], style["color"])
                continue
            if group not in self.across:
                style = {**style, "marker": "o", "markersize": 5}
            axis.plot(mine["x"], mine["mean"], label=group.label, **style)
            if (mine["seeds"] > 1).any():
                edges = mine["least"], mine["greatest"]
                axis.fill_between(mine["x"], *edges, color=style["color"], alpha=0.2, linewidth=0)
        what = self.quantity[0]
        if self.numeric:
            scale(axis, "x", self.numbers["x"])
            scale(axis, "y", self.numbers["mean"])
            axis.set_xlabel(self.option)
            axis.set_ylabel(what)
            if len(self.values) <= 10:
                shown = self.values[:: ceil(len(self.values) * len(axis.figure.axes) / TICKS)]
                axis.set_xticks([number_of(v) for v in shown], shown)
        else:
            scale(axis, "x", self.numbers["mean"])
            axis.set_xlabel(what)
            axis.set_ylabel(self.option)
            rows(axis, self.names)
            for i in range(0, len(self.values), 2):
                axis.axhspan(i - 0.5, i + 0.5, color="0.96", zorder=0, linewidth=0)


def spread(row: dict[str, Any]) -> str:
    """Mean and range over seeds; where not all have a number, how many have."""
    if row["reached"] < row["seeds"]:
        return f"{row['reached']} of {row['seeds']}"
    mean, least, greatest = (short(row[key]) for key in ("mean", "least", "greatest"))
    return mean if least == greatest else f"{mean} ({least} to {greatest})"


def names(values: Sequence[str]) -> list[str]:
    """Short words for values, without what all begin with."""
    return unlike([brief(value) for value in values], ":_/")


def unlike(words: Sequence[str], marks: str) -> list[str]:
    """Words without what all begin with, up to the last mark of punctuation that they share."""
    common = re.sub(f"[^{marks}]*$", "", commonprefix(words)) if len(words) > 1 else ""
    return [word[len(common) :] for word in words]


def plot(parts: Sequence[Sweep]) -> Plot:
    """A panel for each sweep."""
    labels = list(dict.fromkeys(group.label for part in parts for group in part.all))
    lanes = LANE * len(labels) / LANES
    named = [p for p in parts if not p.numeric]
    tall = max([3.2, *[0.8 + max(row_height(p.names), lanes) * len(p.values) for p in named]])
    alike = len({part.what for part in parts}) == 1
    # Numbers of one quantity share what is upwards, and so do the rows of one option.
    shared = alike if not named else len({part.option for part in parts}) == 1
    figure, grid = panels(1, len(parts), height=tall, sharey=shared)
    for part, axis in zip(parts, grid[0]):
        part.draw(axis, dict(zip(labels, styles(len(labels)))))
    if shared:
        for axis in grid[0][1:]:
            axis.set_ylabel("")
    traces: list[Trace] = [t for part in parts for group in part.groups for t in group.traces]
    finish(figure, *legend_of(grid[0]), caption(traces))
    what = " and ".join(dict.fromkeys(part.quantity[0] for part in parts))
    over = " and ".join(dict.fromkeys(part.option for part in parts))
    text = "Means over seeds; fields and lines go from the least to the greatest seed."
    numbers = pd.concat(
        [part.numbers if alike else part.numbers.assign(quantity=part.what) for part in parts]
    )
    return Plot("sweep", f"{what} along {over}", text, figure, numbers)
