# SPDX-License-Identifier: BSD-2-Clause
"""tune: the value of an option with which each scheme does best, for runs to be compared."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from .._ini import ini_text
from .curves import METRICS, SMALLER_IS_BETTER, curve, reached
from .figures import folder_of
from .groups import Group, group, value_of, values
from .refine import Grid, Refined, Row, Wanted, configuration, until_known
from .tables import number
from .traces import BadInput, Trace, read_trace


class Tuning:
    """Runs of schemes with several values of an option. Raises BadInput.

    The best value of a scheme: with which most runs reach the target; of these the one with the
    least median time, by the geometric mean over its configurations. If no run reaches the target
    with any value: the one with the best metric in the end, a mean.

    Where a neighbour in the grid takes a tenth longer, or the best value is at an end, it may not
    be the best: such a scheme has none.
    """

    def __init__(self, traces: Sequence[Trace], option: str, metric: str, target: float) -> None:
        self.option, self.metric, self.target = option, metric, target
        self.values = values(traces, option)
        if len(self.values) < 2:
            raise BadInput(f"--option: '{option}' is {self.values[0]} in all runs")
        self.seeds = sorted({trace.seed for trace in traces})
        self.schemes = list(dict.fromkeys(trace.scheme for trace in traces))
        self.runs = {
            scheme: {v: self.where(traces, scheme, v) for v in self.values}
            for scheme in self.schemes
        }
        starts = [t.name for t in traces if reached(t, metric, target)[0] == 0]
        if starts:
            raise BadInput(
                f"--target: the first model of {starts[0]} reaches it: choose a harder one"
            )
        self.grids = {scheme: Grid(option, self.scores(scheme)) for scheme in self.schemes}
        self.best = {scheme: self.best_of(scheme) for scheme in self.schemes}

    def where(self, traces: Sequence[Trace], scheme: str, value: str) -> list[Group]:
        """Its configurations with a value."""
        mine = [t for t in traces if t.scheme == scheme and value_of(t, self.option) == value]
        return group(mine) if mine else []

    def times(self, one: Group) -> list[float]:
        """Seconds of those of its runs that reach the target."""
        found = [reached(trace, self.metric, self.target)[0] for trace in one.traces]
        return [seconds for seconds in found if math.isfinite(seconds)]

    def reaching(self, groups: Sequence[Group]) -> int:
        return sum(len(self.times(one)) for one in groups)

    def time(self, groups: Sequence[Group]) -> float:
        """Infinite if no run reaches the target."""
        medians = [np.median(found) for one in groups if (found := self.times(one))]
        return float(np.exp(np.mean(np.log(medians)))) if medians else math.inf

    def end(self, groups: Sequence[Group]) -> float:
        """The mean of the metric in the end; NaN if a run diverged or was not scored."""
        runs = [trace for one in groups for trace in one.traces]
        last = [curve(trace, self.metric)[2][-1:] for trace in runs]
        if any(trace.diverged for trace in runs) or not all(len(one) for one in last):
            return math.nan
        return float(np.mean(last))

    def scores(self, scheme: str) -> dict[str, tuple[float, ...]]:
        """Less is better: every configuration is to get there, or the time of the others would
        decide; then most runs; then the time."""
        return {
            value: (
                -sum(bool(self.times(one)) for one in groups),
                -self.reaching(groups),
                self.time(groups),
            )
            for value, groups in self.runs[scheme].items()
            if groups
        }

    def best_of(self, scheme: str) -> str:
        runs = {value: groups for value, groups in self.runs[scheme].items() if groups}
        if any(self.reaching(groups) for groups in runs.values()):
            return self.grids[scheme].best
        sign = 1 if self.metric in SMALLER_IS_BETTER else -1
        ends = {value: sign * self.end(groups) for value, groups in runs.items()}
        if not any(math.isfinite(end) for end in ends.values()):
            raise BadInput(f"{scheme} diverges with every {self.option}: try smaller ones")
        return min(ends, key=lambda v: ends[v] if math.isfinite(ends[v]) else math.inf)

    @property
    def unknown(self) -> list[str]:
        """The schemes whose best value may be another one."""
        return [scheme for scheme, grid in self.grids.items() if grid.doubt]

    def table(self) -> pd.DataFrame:
        """A row for each scheme and value: runs that reach the target and when, or else what they
        reach."""
        lines = []
        for scheme in self.schemes:
            best = "?" if scheme in self.unknown else "best"
            lines += [
                {
                    "scheme": scheme,
                    self.option: value,
                    "reached": self.cell(groups),
                    "": best if value == self.best[scheme] else "",
                }
                for value, groups in self.runs[scheme].items()
                if groups
            ]
        return pd.DataFrame(lines)

    def cell(self, groups: Sequence[Group]) -> str:
        runs = sum(len(one.traces) for one in groups)
        if many := self.reaching(groups):
            return f"{many} of {runs}, {number(self.time(groups), 2)} s"
        return f"0 of {runs}, ends at {number(self.end(groups), 4)}"

    def notes(self) -> list[str]:
        """Which best values are not known, or at an end of the grid, and which schemes miss the
        target."""
        lines = []
        for scheme, best in self.best.items():
            tried = [value for value, groups in self.runs[scheme].items() if groups]
            if doubt := self.grids[scheme].doubt:
                lines.append(f"{scheme}: no best value: {doubt}: try further ones")
            elif best in (tried[0], tried[-1]):
                end = f"{self.option} {best} is at an end of the grid"
                lines.append(f"{scheme}: {end}: try values beyond it")
            if not any(self.reaching(groups) for groups in self.runs[scheme].values()):
                metric = METRICS[self.metric]
                lines.append(f"{scheme}: no run reached the target; chosen by {metric} in the end")
        return lines

    def ini(self) -> str:
        """What an experiment reads beside its file: sections of schemes whose best is known."""
        name = self.metric.replace("_", "-")
        lines = [
            f"# quorate analysis tune --option {self.option} --target {name}={self.target:g},",
            f"# of {', '.join(self.values)} with the seeds {', '.join(map(str, self.seeds))}.",
            *(f"# {note}" for note in self.notes()),
        ]
        for scheme, best in self.best.items():
            if scheme in self.unknown:
                continue
            lines += ["", f"[scheme {scheme}]", f"{self.option} = {ini_text(best)}"]
        return "\n".join(lines) + "\n"

    def write(self, out: str, name: str) -> Path:
        path = folder_of(out) / f"{name}.tuned"
        path.write_text(self.ini(), "utf-8")
        return path


def refined(
    traces: Sequence[Trace], option: str, target: tuple[str, float], program: str
) -> Tuning:
    """The tuning by these runs of a folder of an experiment and by further values, which are
    simulated until the best of each scheme is known or refine.MOST were tried. Raises BadInput."""
    folder = traces[0].path.parent
    more = Refined(folder)
    mine = {row["trace"]: row for row in more.manifest.values()}
    like: dict[str, list[Row]] = {}
    for trace in traces:
        if trace.path.name not in mine or trace.path.parent != folder:
            raise BadInput(f"--refine: {trace.path} is no run of {folder / 'manifest.tsv'}")
        like.setdefault(trace.scheme, []).append(mine[trace.path.name])

    def tuning() -> Tuning:
        rows = [row for row, _ in more.of(mine.values(), option)]
        paths = [folder / row["trace"] for row in rows]
        there = [read_trace(path) for path in paths if path.is_file()]
        return Tuning([*traces, *there], option, *target)

    def wanted() -> list[Wanted]:
        found: list[Wanted] = []
        for scheme, grid in tuning().grids.items():
            groups: dict[object, list[Row]] = {}
            for row in like[scheme]:
                groups.setdefault(configuration(row, option), []).append(row)
            further = {row[option] for row, _ in more.of(like[scheme], option)}
            found.append((grid, list(groups.values()), len(further)))
        return found

    until_known(more, program, wanted)
    return tuning()
