# SPDX-License-Identifier: BSD-2-Clause
"""Who is slow: always, or in bursts."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .chance import FALSE_ALARMS, at_least, pairs_at_least
from .tasks import absences, in_its_round, responses
from .traces import Bools, Floats, Trace

MUCH = 1.5  # times what is expected
BLOCKS = 4  # parts of a run; who is slow in all but one of them is chronic


@dataclass
class Slowness:
    """How often each worker was among the last of a round, and how that is spread."""

    last: int
    share: Floats
    expected: float
    clustering: Floats  # slow twice in a row, over what independence would give
    verdict: list[str]


def times(trace: Trace, table: pd.DataFrame) -> tuple[Floats, str]:
    """Response times, rounds x workers, NaN where there was no answer; and what a row is.

    Where tasks do not belong to rounds, as in asynchronous schemes, a row is the k-th task of all.
    """
    if not len(table) or in_its_round(trace, table).mean() > 0.5:
        return responses(trace, table), "round"
    place = table.groupby("worker").cumcount()
    found = np.full((place.max() + 1, trace.workers), np.nan)
    found[place, table["worker"]] = table["arrived"] - table["sent"]
    return found, "task"


def presence(trace: Trace, rows: int) -> Bools:
    """Who was there at the beginning of each round."""
    there = np.ones((rows, trace.workers), dtype=bool)
    begin = trace.edges[:rows]
    for worker, away in absences(trace).items() if rows == trace.rounds else ():
        for left, back in away:
            there[(begin >= left) & (begin < back), worker] = False
    return there


def counted_as_last(workers: int, wanted: int | None, tolerated: str = "") -> int:
    """How many of a round are its last: as wanted, else as many as the scheme tolerates, else a
    tenth of the workers; never all."""
    last = wanted or (int(tolerated) if tolerated.isdigit() else workers // 10)
    return min(max(1, last), max(1, workers - 1))


def among_last(found: Floats, there: Bools, last: int) -> Floats:
    """1 where a worker was among the last so many of a row, 0 where it was not."""
    # Ties share the places that are left, and so do those that did not answer: nobody knows their
    # order.
    filled = np.where(there, np.where(np.isnan(found), np.inf, found), -np.inf)
    edge = -np.partition(-filled, last - 1, axis=1)[:, last - 1 : last]
    beyond, level = filled > edge, (filled == edge) & there
    places = last - beyond.sum(1, keepdims=True)
    weight: Floats = beyond + level * (places / np.maximum(level.sum(1, keepdims=True), 1))
    return weight


def enough_rounds(expected: float, workers: int) -> int:
    """The least count of rounds after which who was among the last of all of them is chronic."""
    each = min(max(expected, 1e-12), 1 - 1e-12)
    return max(BLOCKS, int(np.log(FALSE_ALARMS / workers) / np.log(each)) + 1)


def runs_by_chance(slow: Bools) -> Floats:
    """Of each worker the probability that it is slow as often twice in a row, or oftener, where it
    is slow as often in an order by chance."""
    twice = (slow[1:] & slow[:-1]).sum(0)
    return np.array(
        [pairs_at_least(int(j), int(ones), len(slow)) for j, ones in zip(twice, slow.sum(0))]
    )


def slowness(found: Floats, there: Bools, last: int) -> Slowness:
    """Judges workers by their times, rounds x workers, NaN where there was no answer. Of
    independent and equal workers it calls none slow, but with a probability of FALSE_ALARMS."""
    weight = among_last(found, there, last)
    rows = np.maximum(there.sum(0), 1)
    share = weight.sum(0) / rows
    expected = float(weight.sum() / max(there.sum(), 1))
    least = FALSE_ALARMS / len(share)  # of each worker
    counts = (weight.sum(0) + 1e-9).astype(int)
    chances = np.array([at_least(k, n, expected) for k, n in zip(counts, rows)])
    often = (chances <= least) & (share > MUCH * expected)
    parts = np.array([part.mean(0) for part in np.array_split(weight, BLOCKS) if len(part)])
    always = (parts > MUCH * expected).sum(0) >= len(parts) - 1
    pairs = weight[1:] * weight[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        clustering = pairs.mean(0) / share**2 if len(pairs) else np.full(len(share), np.nan)
    bursts = (clustering > MUCH) & (runs_by_chance(weight > 0.5) <= least)
    verdict = [
        "chronic" if o and a else "bursts" if b else "often" if o else "-"
        for o, a, b in zip(often, always, bursts)
    ]
    return Slowness(last, share, expected, clustering, verdict)
