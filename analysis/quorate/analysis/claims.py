# SPDX-License-Identifier: BSD-2-Clause
"""claims: what experiments say of one scheme beside another, judged from their traces.

`quorate script` has read the claims and found the runs of each: claims.json, beside the manifest.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import comb, inf, isfinite, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from .curves import SMALLER_IS_BETTER, final, metric_of, reached, target_of
from .groups import caption
from .numbers import number_of
from .refine import Grid, Refined, Wanted, until_known
from .sweep import rank
from .tables import brief, number
from .tasks import goodput, work
from .traces import BadInput, Trace, read_trace

FILE = "claims.json"
LEVEL = 0.95  # of intervals
LEAST_PAIRS = 5
SAME_SIZE = 1.2  # a ratio that is so many times another one, or less, has its size
ALIKE = 1.005  # likewise, where seeds change nothing that counts
AWAY = 10  # so many times above a gap that was reached, a run is unstable and only passed it
EQUAL = 1.05  # likewise, where a paper says that there is no difference
REPRODUCED, HOLDS, PARTLY, NOT = "reproduced", "holds", "partly", "not"
NOT_COMPARABLE, TOO_FEW, NOT_RUN = "not comparable", "too few seeds", "not run"
NOT_KNOWN = "best not known"
# Measures of which less is meant where a paper says that both sides take as long.
OF_TIME = ("time", "round-time", "time-to", "rounds-to", "work")
Cost = Callable[[Trace], float]


def cost_of(measure: str) -> Cost:
    """The number of a run that is better the smaller it is; NaN if it has none, as one that did not
    reach its target. Of a score, where more is better, the reciprocal. Raises BadInput.
    """
    word, _, rest = measure.partition(" ")
    if word in ("time-to", "rounds-to"):
        metric, target = target_of(rest, word)
        place = 0 if word == "time-to" else 1

        def to_target(trace: Trace) -> float:
            left = metric == "gap" and (trace.diverged or final(trace, metric) > AWAY * target)
            return nan if left else reached(trace, metric, target)[place]

        return to_target
    if word == "final":
        metric = metric_of(rest)

        def last(trace: Trace) -> float:
            value = final(trace, metric)
            return value if metric in SMALLER_IS_BETTER else 1 / value if value else nan

        return last
    costs: dict[str, Cost] = {
        "time": lambda t: t.time,
        "round-time": lambda t: t.time_per_round,
        "decode-error": lambda t: t.decode_error,
        "received": lambda t: float(np.mean(t.round["bytes_received"])),
        "work": work,
        "goodput": lambda t: ratio(1, goodput(t)),
    }
    if measure not in costs:
        raise BadInput(f"measure is {measure}: say one of {', '.join(costs)}, time-to METRIC=VALUE")
    return costs[measure]


def ratio(beside: float, of: float) -> float:
    """How many times better `of` is. Who never gets there takes infinitely long; NaN if neither
    does."""
    if not isfinite(of):
        return 0.0 if isfinite(beside) else nan
    if not isfinite(beside) or not of:
        return inf if beside != of else nan
    return beside / of


def median_interval(numbers: Sequence[float]) -> tuple[float, float, float]:
    """(median, low, high) by ranks, for any distribution: the k-th least and the k-th greatest,
    between which the median is with a probability of LEVEL. Of five numbers they are the least and
    the greatest, with 94 %.
    """
    if not numbers:
        return nan, nan, nan
    ordered = sorted(numbers)
    count, place, outside = len(ordered), 0, 1.0
    while 2 * (outside + comb(count, place + 1)) / 2**count <= 1 - LEVEL:
        place += 1
        outside += comb(count, place)
    return float(np.median(ordered)), ordered[place], ordered[count - 1 - place]


@dataclass
class Side:
    """The runs on one side of a claim by what pairs them, where several steps were tried those with
    the best one."""

    options: str
    wanted: int  # runs that there should be, and those that are complete
    complete: int
    runs: dict[str, Trace]
    costs: dict[str, float]
    best: str  # the best value of the option that was tried
    at_end: bool  # it is the least or the greatest of those tried: a better one may lie beyond
    grid: Grid  # of what was tried
    like: dict[str, list[int]]  # the manifest's runs by what pairs them, for further values
    further: int = 0  # values beside those of the file

    @property
    def reached(self) -> int:
        return sum(map(isfinite, self.costs.values()))

    @property
    def missed(self) -> str:
        """How many did not get there; empty: all did."""
        missing = len(self.costs) - self.reached
        return f"{self.options}: {missing} of {len(self.costs)} do not get there" if missing else ""

    @property
    def final_loss(self) -> float:
        return float(np.median([trace.final_loss for trace in self.runs.values()] or [nan]))


def is_end(value: str, tried: Iterable[str]) -> bool:
    """Whether it is the least or the greatest of several numbers; words have no ends."""
    try:
        numbers = sorted(map(number_of, tried))
    except ValueError:
        return False
    return len(numbers) > 1 and number_of(value) in (numbers[0], numbers[-1])


def read_side(
    found: dict[str, Any],
    refined: Refined,
    cost: Cost,
    words: dict[str, Any],
    read: Callable[[Path], Trace],
) -> Side:
    """Reads the runs that are complete."""
    traces = {}
    best, of_pair = words["best"], words["best_of_pair"]
    more = refined.runs(found["runs"], best)
    runs = [*found["runs"], *more]
    for run in runs:
        path = refined.folder / run["trace"]
        # A run that diverged has an end, and never gets there.
        if path.is_file() and (read(path).status == "completed" or read(path).diverged):
            traces[run["best"], run["pair"]] = read(path)
    costs = {key: cost(trace) for key, trace in traces.items()}
    tried = dict.fromkeys(value for value, _ in traces)
    by_value = {} if of_pair else tried
    grid = Grid(best, {v: rank([c for k, c in costs.items() if k[0] == v]) for v in by_value})
    chosen = {pair: grid.best for _, pair in traces}
    if of_pair:
        for pair in chosen:
            chosen[pair] = min(tried, key=lambda v: rank([costs.get((v, pair), inf)]))
    like: dict[str, list[int]] = {}
    for run in found["runs"]:
        if run["best"] and "run" in run:
            like.setdefault(run["pair"], []).append(run["run"])
    kept = {pair: (value, pair) for value, pair in traces if value == chosen[pair]}
    several = f"the best {of_pair} of each pair" if of_pair and len(tried) > 1 else ""
    return Side(
        options=found["options"],
        wanted=len(runs),
        complete=len(traces),
        runs={pair: traces[key] for pair, key in kept.items()},
        costs={pair: costs[key] for pair, key in kept.items()},
        best=f"{best} {brief(grid.best)}" if grid.best and kept else several,
        at_end=is_end(grid.best, grid.scores),
        grid=grid,
        like=like,
        further=len({run["best"] for run in more}),
    )


@dataclass
class Claim:
    """A claim with its runs: `of` is so many times better than `beside`."""

    experiment: str
    summary: str
    words: dict[str, Any]  # as claims.json has them
    of: Side
    beside: Side

    @property
    def name(self) -> str:
        return str(self.words["name"])

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.of, self.beside

    @cached_property
    def pairs(self) -> list[str]:
        """Seeds, or other values, of which there are both runs."""
        return [pair for pair in self.of.runs if pair in self.beside.runs]

    @cached_property
    def ratios(self) -> list[float]:
        found = [ratio(self.beside.costs[pair], self.of.costs[pair]) for pair in self.pairs]
        return [one for one in found if one == one]

    @cached_property
    def interval(self) -> tuple[float, float, float]:
        return median_interval(self.ratios)

    @property
    def paper(self) -> tuple[float, float] | None:
        """The least and the greatest ratio that the paper's words stand for."""
        found = self.words["paper"]
        return (found[0], inf if found[1] is None else found[1]) if found else None

    @property
    def wanted(self) -> tuple[float, float]:
        """The ratios that have the paper's size: of 1 to 5, which is "up to 5", any gain would, so
        that the upper one counts."""
        least, most = self.paper or (1.0, inf)
        return (most, most) if self.up_to else (least, most)

    @cached_property
    def at_least(self) -> float:
        """What the ratio is at least in pairs whose other run does not get there, by how long that
        goes on; one that diverged could go on for ever."""
        word = self.words["measure"].partition(" ")[0]
        found = [inf]
        for pair in self.pairs:
            run, cost = self.beside.runs[pair], self.of.costs[pair]
            if isfinite(self.beside.costs[pair]) or not isfinite(cost) or run.diverged:
                continue
            lasted = {"time-to": run.time, "rounds-to": float(run.rounds)}.get(word, 0.0)
            found.append(lasted / cost if cost else 0.0)
        return min(found)

    @property
    def up_to(self) -> bool:
        return self.paper is not None and self.paper[0] == 1 < self.paper[1] < inf

    @cached_property
    def without_optimum(self) -> str:
        """Data whose optimum the measure needs and nobody has found, as when the data were moved
        without it: that is not a gap that a run did not reach. Empty: nothing is missing."""
        if not re.search(r"\bgap\b", self.words["measure"]):
            return ""
        traces = [trace for side in self.sides for trace in side.runs.values()]
        missing = [t for t in traces if isnan(t.optimum)]
        return Path(missing[0].config.get("data", missing[0].name)).name if missing else ""

    @cached_property
    def verdict(self) -> tuple[str, str]:
        """The verdict and its reason, by the rules of docs/analysis.md and nothing else."""
        complete = self.of.complete + self.beside.complete
        wanted = self.of.wanted + self.beside.wanted
        if self.words["not_comparable"]:
            return NOT_COMPARABLE, self.words["not_comparable"]
        if complete < wanted:
            return NOT_RUN, f"{complete} of {wanted} runs are complete"
        if self.without_optimum:
            return NOT_RUN, f"no optimum beside {self.without_optimum}: quorate optimum finds it"
        if self.doubts:
            return NOT_KNOWN, "; ".join(self.doubts)
        if len(self.pairs) < LEAST_PAIRS:
            return TOO_FEW, f"{len(self.pairs)} of at least {LEAST_PAIRS}, by {self.words['pairs']}"
        if 2 * self.of.reached <= len(self.of.costs):
            return NOT, self.of.missed
        return self.no_difference() if self.paper == (1.0, 1.0) else self.direction()

    @property
    def doubts(self) -> list[str]:
        """Why the best values of the sides may not be the best: with others the ratio would be
        another one."""
        words = {side.options: side for side in self.sides if side.grid.doubt}
        return [
            f"{options}: {side.grid.doubt}, "
            + (f"after {side.further} further values" if side.further else "try --refine")
            for options, side in words.items()
        ]

    def no_difference(self) -> tuple[str, str]:
        """The verdict on a paper that says that both sides are equal, or that `of` takes about as
        long: then it may take less."""
        _, low, high = self.interval
        longer = 1 / low if low else inf
        may_be_less = self.words["measure"].split(" ")[0] in OF_TIME
        apart = max(high, longer)
        away = longer if may_be_less else apart
        verdict = REPRODUCED if away <= EQUAL else PARTLY if away <= SAME_SIZE else NOT
        if may_be_less and high > EQUAL and low:
            return verdict, "takes less" if low >= 1 else f"at most {100 * (away - 1):.0f} % more"
        return verdict, f"at most {100 * (apart - 1):.0f} % apart" if apart < inf else "not equal"

    def direction(self) -> tuple[str, str]:
        """The verdict on a paper, or on us, saying that `of` is better."""
        median, low, high = self.interval
        if self.of.missed:
            return (PARTLY if median > 1 else NOT), self.of.missed
        if low <= 1:
            return NOT, "the other direction" if high < 1 else "the interval holds 1"
        least, most = self.wanted
        if self.beside.missed and self.at_least < (least if most == inf or self.up_to else inf):
            return PARTLY, self.beside.missed
        if max(high, SAME_SIZE * median) < least:
            return PARTLY, "the same direction, a smaller size"
        if most == inf and median < least:
            return PARTLY, "the same direction, below the bound"
        if min(low, median / SAME_SIZE) > most:
            if self.up_to:  # said of the most that was seen there
                return REPRODUCED, "the same direction, more than the paper's"
            return PARTLY, "the same direction, a greater size"
        words = "the same direction and size" if self.paper else "the interval is above 1"
        if self.beside.missed:
            words = f"{self.beside.missed} in {shown(self.at_least)} times as long"
        return (REPRODUCED if self.words["source"] else HOLDS), words

    @property
    def alike(self) -> str:
        """Said where the pairs are several in name only; else empty."""
        low, high = min(self.ratios, default=0), max(self.ratios, default=0)
        alike = len(self.ratios) > 1 and (low == high or 0 < high < ALIKE * low)
        return "all pairs are alike" if alike else ""

    @property
    def reason(self) -> str:
        """Why the verdict is so; whether the pairs are several in name only; and whether a side
        might do better with a value that was not tried."""
        parts = [self.verdict[1], self.alike]
        if self.verdict[0] not in (NOT_COMPARABLE, NOT_RUN, NOT_KNOWN):
            ends = [f"{side.options} ({side.best})" for side in self.sides if side.at_end]
            parts.append(f"best at an end of the grid: {', '.join(ends)}" if ends else "")
        return "; ".join(filter(None, parts))

    @property
    def ours(self) -> str:
        if not self.ratios or self.verdict[0] == NOT_RUN:
            return "-"
        median, low, high = self.interval
        return f"{shown(median)} ({shown(low)} to {shown(high)})"

    @property
    def paper_number(self) -> str:
        if self.paper is None:
            return "-"
        low, high = self.paper
        if high == inf:
            return f"at least {shown(low)}"
        if self.up_to:
            return f"up to {shown(high)}"
        return shown(low) if low == high else f"{shown(low)} to {shown(high)}"

    @property
    def paper_words(self) -> str:
        source = self.words["source"]
        return f"{self.words['says']} ({source})" if source else "our own"

    @property
    def setting(self) -> str:
        """What the traces say of it, and the file."""
        traces = [trace for side in self.sides for trace in side.runs.values()]
        return "; ".join(filter(None, [caption(traces) if traces else "", self.words["here"]]))

    @property
    def question(self) -> str:
        """What is measured of what."""
        where = f", where {self.words['where']}" if self.words["where"] else ""
        names = [side.options + (f" ({side.best})" if side.best else "") for side in self.sides]
        return f"{self.words['measure']}, {names[0]} beside {names[1]}{where}"

    def result(self) -> dict[str, str]:
        """Its cells in a table."""
        losses = [number(side.final_loss, 4) for side in self.sides]
        return {
            "paper": self.paper_number,
            "ours (interval)": self.ours,
            "reached": ", ".join(f"{side.reached} of {len(side.costs)}" for side in self.sides),
            "final loss": "-" if losses == ["-", "-"] else ", ".join(losses),
            "verdict": self.verdict[0],
        }


def shown(value: float) -> str:
    return "inf" if value == inf else number(value, 2)


def read_claims(folder: str, read: Callable[[Path], Trace] | None = None) -> list[Claim]:
    """The claims of an experiment's folder. Raises BadInput.

    read: reads a trace, and may keep it, as claims share runs.
    """
    path = Path(folder) / FILE
    if not path.is_file():
        raise BadInput(
            f"{path} is not there: give the folder of an experiment with claims, as quorate script "
            "writes it"
        )
    read = read or cache(read_trace)
    refined = Refined(path.parent)
    try:
        found = json.loads(path.read_text("utf-8"))
        claims = []
        for words in found["claims"]:
            try:
                cost = cost_of(words["measure"])
            except BadInput as error:
                raise BadInput(f"{words['origin']}claim {words['name']}: {error}") from error
            of, beside = (
                read_side(words[side], refined, cost, words, read) for side in ("of", "beside")
            )
            claims.append(Claim(found["experiment"], found["summary"], words, of, beside))
        return claims
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is not as quorate script writes it: make it anew") from error


def read_folders(folders: Iterable[str]) -> list[Claim]:
    return [claim for folder in folders for claim in read_claims(folder)]


def refine(folder: str, program: str) -> None:
    """Simulates further values for the sides of the claims, until the best of each is known or
    MOST were tried. Raises BadInput."""
    refined = Refined(Path(folder))
    read = cache(read_trace)

    def wanted() -> list[Wanted]:
        found: list[Wanted] = []
        for claim in read_claims(folder, read):
            if claim.verdict[0] in (NOT_COMPARABLE, NOT_RUN):
                continue
            for side in claim.sides:
                if side.grid.doubt and any(t.clock != "virtual" for t in side.runs.values()):
                    raise BadInput(
                        f"claim {claim.name}: --refine simulates, and these runs are over MPI: "
                        "write a finer grid into the experiment"
                    )
                groups = [[refined.manifest[run] for run in runs] for runs in side.like.values()]
                found.append((side.grid, groups, side.further))
        return found

    until_known(refined, program, wanted)
