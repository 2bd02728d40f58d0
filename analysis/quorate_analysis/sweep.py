# SPDX-License-Identifier: BSD-2-Clause
"""sweep: a number of each run along an option that varies."""

from math import isfinite
from typing import Callable, Dict, List, Sequence, Tuple

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from .figures import Plot, finish, panels, styles
from .groups import Group, base_of, caption, options, values
from .speedup import speedup
from .tables import brief, number
from .traces import BadInput, Trace

WIDE = 8  # a scale whose end is so many times its beginning is logarithmic
Number = Callable[[Trace], float]


def last(column: str) -> Number:
    """The score of the last model; NaN if there is none."""
    return lambda t: float(t.evaluation[column][-1]) if t.evaluated else float("nan")


# What is drawn upwards: its name, and the number of a run. A speed-up is of two.
QUANTITIES: Dict[str, Tuple[str, Number]] = {
    "round-time": ("time per round (ms)", lambda t: 1000 * t.time_per_round),
    "time": ("time (s)", lambda t: t.time),
    "speed-up": ("speed-up per round", lambda t: t.time_per_round),
    "sample-rate": ("samples per second", lambda t: float(t.round["samples"].sum()) / t.time),
    "decode-error": ("decode error", lambda t: t.decode_error),
    "loss": ("training loss at the end", lambda t: t.final_loss),
    "accuracy": ("test accuracy at the end", last("accuracy")),
    "auc": ("test AUC at the end", lambda t: t.final_auc),
}


class Sweep:
    """A number of configurations, whose runs differ in one option, along it. Raises BadInput."""

    def __init__(self, groups: Sequence[Group], option: str, what: str) -> None:
        self.option, self.what = option, what
        traces = [trace for group in groups for trace in group.traces]
        self.values = values(traces, option)
        self.base = base_of(groups, groups[0])
        self.groups = [g for g in groups if len({options(t).get(option) for t in g.traces}) > 1]
        # The one configuration without the option is a line across; more would hide the others.
        without = [group for group in groups if option not in options(group.first)]
        self.across = without if len(without) == 1 else []
        if not self.groups:
            raise BadInput(f"--over: '{option}' is {self.values[0]} in all runs: nothing varies")
        self.numbers = pd.concat([self.line(group) for group in self.all])

    @property
    def all(self) -> List[Group]:
        return [*self.across, *self.groups]

    @property
    def numeric(self) -> bool:
        try:
            return all(isfinite(float(value)) for value in self.values)
        except ValueError:
            return False

    def line(self, group: Group) -> pd.DataFrame:
        """Mean, least and greatest over seeds at each value."""
        lines = []
        for i, value in enumerate(self.values):
            some = group if group in self.across else group.where(self.option, value)
            if not some.traces:
                continue
            found = np.array([QUANTITIES[self.what][1](trace) for trace in some.traces])
            if self.what == "speed-up":
                base = self.base.where(self.option, value)
                gain = speedup(base if base.traces else self.base, some)
                found = np.array(gain.pairs or [gain.ratio])
            lines.append(
                {
                    "configuration": group.label,
                    self.option: value,
                    "x": float(value) if self.numeric else float(i),
                    "seeds": len(some.traces),
                    "mean": found.mean(),
                    "least": found.min(),
                    "greatest": found.max(),
                }
            )
        return pd.DataFrame(lines)

    def table(self) -> pd.DataFrame:
        """A row for each value, a column for each configuration."""
        digits = {"time": 2, "round-time": 2, "sample-rate": 0}.get(self.what, 3)
        rows = []
        for value in self.values:
            here = self.numbers[self.numbers[self.option] == value]
            means = dict(zip(here["configuration"], here["mean"]))
            cells = {g.label: number(means.get(g.label, np.nan), digits) for g in self.all}
            rows.append({self.option: brief(value), **cells})
        return pd.DataFrame(rows)

    def draw(self, axis: Axes) -> None:
        for group, style in zip(self.all, styles(len(self.all))):
            mine = self.numbers[self.numbers["configuration"] == group.label]
            if group not in self.across:
                style = {**style, "marker": "o", "markersize": 5}
            if not self.numeric and group not in self.across:
                style["linestyle"] = "none"  # between names there is nothing
            axis.plot(mine["x"], mine["mean"], label=group.name, **style)
            if (mine["seeds"] > 1).any():
                edges = mine["least"], mine["greatest"]
                axis.fill_between(mine["x"], *edges, color=style["color"], alpha=0.2, linewidth=0)
        if self.numeric:
            scale(axis, "x", self.numbers["x"])
            axis.set_xlabel(self.option)
            if len(self.values) <= 10:
                axis.set_xticks([float(v) for v in self.values], self.values)
                axis.xaxis.set_minor_locator(NullLocator())
        else:
            axis.set_xticks(range(len(self.values)), [brief(v) for v in self.values])
            axis.tick_params("x", rotation=20)
            for tick in axis.get_xticklabels():
                tick.set_horizontalalignment("right")
        scale(axis, "y", self.numbers["mean"])


def scale(axis: Axes, which: str, drawn: pd.Series) -> None:
    """Logarithmic if the numbers differ much and are positive; else from zero."""
    if drawn.min() > 0 and drawn.max() > WIDE * drawn.min():
        (axis.set_xscale if which == "x" else axis.set_yscale)("log")
    elif which == "y":
        axis.set_ylim(bottom=min(0.0, drawn.min()))


def plot(parts: Sequence[Sweep]) -> Plot:
    """A panel for each sweep; they share what is upwards."""
    figure, grid = panels(1, len(parts), height=3.2, width=8.5, sharey=True)
    legend: Dict[str, Artist] = {}
    for part, axis in zip(parts, grid[0]):
        part.draw(axis)
        handles, texts = axis.get_legend_handles_labels()
        legend.update((t, h) for h, t in zip(handles, texts) if t not in legend)
    what = QUANTITIES[parts[0].what][0]
    grid[0][0].set_ylabel(what)
    traces: List[Trace] = [t for part in parts for group in part.groups for t in group.traces]
    finish(figure, list(legend.values()), list(legend), caption(traces))
    over = " and ".join(part.option for part in parts)
    text = "Means over seeds; fields go from the least to the greatest seed."
    numbers = pd.concat([part.numbers for part in parts])
    return Plot("sweep", f"{what} along {over}", text, figure, numbers)
