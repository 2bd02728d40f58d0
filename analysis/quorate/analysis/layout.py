# SPDX-License-Identifier: BSD-2-Clause
"""Which panels a figure of compare has, and where they stand."""

from collections.abc import Sequence
from dataclasses import dataclass

from .curves import ALONG
from .groups import Group, values

ROW = 3  # panels beside each other, if they have no axes in common
Axis = tuple[str, str]  # what is drawn upwards, and along


def split(groups: Sequence[Group], by: str) -> list[tuple[str, list[Group]]]:
    """The value of an option, and the runs that have it. Without an option all runs."""
    if not by:
        return [("", list(groups))]
    traces = [trace for group in groups for trace in group.traces]
    return [(value, [group.where(by, value) for group in groups]) for value in values(traces, by)]


@dataclass
class Layout:
    """What the panels of a figure show, in rows: the value of an option, the runs that have it, and
    axes. `grid`: a row has one metric, a column one thing that it is along."""

    rows: list[list[tuple[str, list[Group], Axis]]]
    grid: bool
    sharey: bool

    @property
    def columns(self) -> int:
        return max(map(len, self.rows))


def layout(groups: Sequence[Group], axes: Sequence[Axis], by: str) -> Layout:
    """A grid if each metric is along the same; else a row for each axes where there are columns by
    an option, or the axes in their order."""
    parts = split(groups, by)
    metrics = list(dict.fromkeys(metric for metric, _ in axes))
    alongs = [along for along in ALONG if along in {a for _, a in axes}]
    if {(m, a) for m in metrics for a in alongs} == set(axes):
        return Layout(
            [[(v, g, (m, a)) for v, g in parts for a in alongs] for m in metrics], True, True
        )
    if by:
        return Layout(
            [[(value, some, axis) for value, some in parts] for axis in axes], False, True
        )
    cells = [(*parts[0], axis) for axis in axes]
    return Layout([cells[at : at + ROW] for at in range(0, len(cells), ROW)], False, False)
