# SPDX-License-Identifier: BSD-2-Clause
"""Grids that are made finer: further values of an option, until the best one is known.

The best value of a grid says little if it is at an end, or if the next one does much worse: with
another grid the comparison would be another one. So the grid gets further values until both
neighbours of the best do about as well. They are runs of the same configurations, rows of
refined.tsv beside manifest.tsv, under the virtual clock.
"""

import argparse
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import isfinite, log, sqrt
from pathlib import Path
from typing import Any

from .numbers import number_of
from .tables import brief, number
from .traces import BadInput

AGREE = 1.1  # neighbours of the best value may be so many times worse
MOST = 16  # values beside those of the file, for each grid
FILE = "refined.tsv"
Row = dict[str, str]
# Less is better. The last number is a cost; those before count, negative, runs that have one.
Score = tuple[float, ...]
# A grid, the rows of its values for each seed or configuration, and how many values were added.
Wanted = tuple["Grid", Sequence[Sequence[Row]], int]


def is_continuous(option: str, values: Iterable[str]) -> bool:
    """Whether there are values between those that were tried: of steps, and of positive numbers
    that are not all whole. What counts answers or copies has none, nor do words."""
    try:
        numbers = [number_of(value) for value in values]
    except ValueError:
        return False
    real = option == "step" or not all(x.is_integer() for x in numbers)
    return real and all(isfinite(x) and x > 0 for x in numbers)


class Grid:
    """Values of an option that were tried and their scores. Of values with the same score the best
    is the first whose neighbours agree, or else the first."""

    def __init__(self, option: str, scores: Mapping[str, Score]) -> None:
        self.option, self.scores = option, dict(scores)
        known = len(self.scores) > 1 and is_continuous(option, self.scores)
        self.order = sorted(self.scores, key=number_of) if known else []
        self.best = min(self.scores, key=lambda v: (self.scores[v], self.doubted(v)), default="")

    def beside(self, value: str) -> list[str]:
        """Its neighbours, one at an end."""
        at = self.order.index(value)
        return self.order[max(at - 1, 0) : at] + self.order[at + 1 : at + 2]

    def away(self, value: str) -> list[str]:
        """The neighbours that do not agree with it; none if no run has a number."""
        if not self.order or not self.scores[value][0]:
            return []
        *counts, cost = self.scores[value]
        theirs = {other: self.scores[other] for other in self.beside(value)}
        return [v for v, s in theirs.items() if list(s[:-1]) != counts or s[-1] > AGREE * cost]

    def is_end(self, value: str) -> bool:
        """Whether a better value may lie beyond it; not if no run has a number."""
        ends = (self.order[0], self.order[-1]) if self.order else ()
        return value in ends and bool(self.scores[value][0])

    def doubted(self, value: str) -> bool:
        return self.is_end(value) or bool(self.away(value))

    @property
    def doubt(self) -> str:
        """Why the best value may not be the best; empty: both neighbours agree."""
        if self.is_end(self.best):
            return f"{self.option} {brief(self.best)} is at an end of the grid"
        words = []
        for other in self.away(self.best):
            *counts, cost = self.scores[other]
            *mine, least = self.scores[self.best]
            worse = f"{number(100 * (cost / least - 1), 0)} % worse" if least else "worse"
            words.append(f"{brief(other)} is {worse if counts == mine else 'missed by runs'}")
        return f"beside {self.option} {brief(self.best)}, {' and '.join(words)}" if words else ""

    @property
    def more(self) -> list[str]:
        """What to try next: beyond an end by the same ratio, or geometric means of the best and of
        neighbours that do not agree. Empty if all is known, or if numbers of four digits are too
        coarse."""
        if not self.order:
            return []
        best, beside = number_of(self.best), [number_of(v) for v in self.beside(self.best)]
        if self.is_end(self.best):
            wanted = [best * best / beside[0]]
        else:
            wanted = [sqrt(best * number_of(other)) for other in self.away(self.best)]
        known = {number_of(value) for value in self.order}
        return [text for x in wanted if float(text := f"{x:.4g}") not in known]


def unescaped(cell: str) -> str:
    known = {"t": "\t", "n": "\n", "r": "\r"}
    return re.sub(r"\\(.)", lambda found: known.get(found[1], found[1]), cell)


def escaped(cell: str) -> str:
    for character, mark in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        cell = cell.replace(character, mark)
    return cell


def read_rows(path: Path) -> list[Row]:
    """The rows of a manifest, without cells that are empty. Raises BadInput."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"cannot read {path}: give the folder that quorate script wrote") from error
    cells = [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]
    names, *rows = [list(map(unescaped, line)) for line in cells] or [[]]
    return [{n: cell for n, cell in zip(names, row) if cell} for row in rows]


def configuration(row: Row, option: str) -> frozenset[tuple[str, str]]:
    """What a run is but for an option, and its own files."""
    return frozenset(i for i in row.items() if i[0] not in ("run", "trace", "checkpoint", option))


class Refined:
    """The runs of a folder of an experiment, and those with further values."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = read_rows(folder / FILE) if (folder / FILE).is_file() else []
        self.tried: set[str] = set()  # rows that were simulated by this one

    @cached_property
    def manifest(self) -> dict[int, Row]:
        return {int(row["run"]): row for row in read_rows(self.folder / "manifest.tsv")}

    def of(self, like: Iterable[Row], option: str) -> list[tuple[Row, Row]]:
        """The further runs of these configurations, each with a run that it is like."""
        known = {configuration(row, option): row for row in like}
        found = [(row, known.get(configuration(row, option))) for row in self.rows]
        return [(row, other) for row, other in found if other and option in row]

    def runs(self, runs: Sequence[dict[str, Any]], option: str) -> list[dict[str, Any]]:
        """The further runs beside those of a side of a claim, in the form of claims.json."""
        if not option or not self.rows:
            return []
        pairs = {int(run["run"]): run["pair"] for run in runs}
        like = [self.manifest[n] for n in pairs if n in self.manifest]
        return [
            {**row, "best": row[option], "pair": pairs[int(other["run"])]}
            for row, other in self.of(like, option)
        ]

    def add(self, groups: Iterable[Sequence[Row]], option: str, values: Sequence[str]) -> None:
        """Adds a row of each value to each group, unless it is there: like the one whose value is
        nearest, as a section [step 0.1] may give long runs to short steps."""
        there = {(configuration(row, option), row.get(option)) for row in self.rows}
        for value in values:
            for group in groups:
                if any((configuration(row, option), value) in there for row in group):
                    continue
                x = number_of(value)
                row = min(group, key=lambda r: abs(log(number_of(r[option]) / x)))
                run = 1 + max([*self.manifest, *(int(one["run"]) for one in self.rows)])
                name = f"{run}-{option}{value}"
                new = {**row, "run": str(run), "trace": f"{name}.h5", option: value}
                if "checkpoint" in row:
                    new["checkpoint"] = f"{name}.ckpt"
                self.rows.append(new)
                there.add((configuration(new, option), value))

    def write(self) -> None:
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        names = ["run", "trace", *(n for n in names if n not in ("run", "trace"))]
        lines = ["\t".join(escaped(row.get(n, "")) for n in names) for row in self.rows]
        text = "# Further values, by quorate analysis --refine.\n" + "\t".join(names) + "\n"
        (self.folder / FILE).write_text(text + "\n".join(lines) + "\n", "utf-8")

    def simulate(self, program: str) -> bool:
        """Makes the runs that are not complete, with the words that start quorate. A run that
        diverges is one that was tried. Raises BadInput if one cannot begin."""
        if not self.rows:
            return False
        self.write()
        words = shlex.split(program)
        todo = self.call([*words, "todo", "--manifest", FILE, "--lines"]).split()
        for run in (wanted := [run for run in todo if run not in self.tried]):
            self.tried.add(run)
            self.call([*words, "simulate", "--manifest", FILE, "--row", run, "--resume", "--quiet"])
            (row,) = [row for row in self.rows if row["run"] == run]
            if not (self.folder / row["trace"]).is_file():
                raise BadInput(f"{self.folder / FILE}: run {run} does not begin: {self.error}")
        return bool(wanted)

    def call(self, words: Sequence[str]) -> str:
        try:
            done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        except OSError as error:
            raise BadInput(f"{words[0]} does not start: {error}") from error
        self.error = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return done.stdout


def refine_option(new: argparse.ArgumentParser) -> None:
    new.add_argument(
        "--refine",
        metavar="QUORATE",
        help="words that start quorate: simulates further values until neighbours of the best "
        "agree within 10 %%",
    )


def check_program(words: str | None) -> None:
    """Refuses words of --refine that start no program."""
    if words is None:
        return
    try:
        (program, *_) = shlex.split(words)
    except ValueError:  # no words, or a quote that does not end
        program = ""
    if not shutil.which(program):
        raise BadInput(f"--refine is {words}, which is no program: give words that start quorate")


def until_known(refined: Refined, program: str, wanted: Callable[[], list[Wanted]]) -> None:
    """Simulates further values until nothing is wanted."""
    while True:
        for grid, groups, further in wanted():
            values = grid.more[: max(MOST - further, 0)]
            refined.add(groups, grid.option, values)
            if values:
                print(f"refine: {grid.doubt}: {', '.join(values)}", file=sys.stderr)
        if not refined.simulate(program):
            return
