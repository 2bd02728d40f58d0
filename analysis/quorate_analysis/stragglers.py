# SPDX-License-Identifier: BSD-2-Clause
"""Who is slow: always, or in bursts."""

from dataclasses import dataclass
from typing import List, Tuple

import numpy as np

from .tasks import absences, responses
from .traces import Table, Trace

SURE = 4.0  # standard deviations
MUCH = 1.5  # times what is expected
BLOCKS = 4  # parts of a run; who is slow in all but one of them is chronic


@dataclass
class Slowness:
    """How often each worker was among the last of a round, and how that is spread."""

    last: int
    share: np.ndarray
    expected: float
    clustering: np.ndarray  # slow twice in a row, over what independence would give
    verdict: List[str]


def times(trace: Trace, table: Table) -> Tuple[np.ndarray, str]:
    """Response times, rounds x workers, NaN where there was no answer; and what a row is.

    Where tasks do not belong to rounds, as in asynchronous schemes, a row is the k-th task of all.
    """
    start = np.concatenate([[0.0], trace.round["time"]])[table["round"] - 1]
    if not len(start) or np.mean(table["sent"] >= start - 1e-9) > 0.5:
        return responses(trace, table), "round"
    worker = table["worker"]
    edges = np.searchsorted(worker, np.arange(trace.workers + 1))
    place = np.arange(len(worker)) - edges[worker]
    found = np.full((int(place.max()) + 1, trace.workers), np.nan)
    found[place, worker] = table["arrived"] - table["sent"]
    return found, "task"


def presence(trace: Trace, rows: int) -> np.ndarray:
    """Who was there at the beginning of each round."""
    there = np.ones((rows, trace.workers), dtype=bool)
    begin = np.concatenate([[0.0], trace.round["time"]])[:rows]
    for worker in range(trace.workers) if rows == trace.rounds else ():
        for left, back in absences(trace, worker):
            there[(begin >= left) & (begin < back), worker] = False
    return there


def default_last(trace: Trace) -> int:
    """As many as the scheme tolerates, else a tenth of the workers."""
    tolerated = trace.config.get("stragglers", "")
    last = int(tolerated) if tolerated.isdigit() else trace.workers // 10
    return min(max(1, last), max(1, trace.workers - 1))


def among_last(found: np.ndarray, there: np.ndarray, last: int) -> np.ndarray:
    """1 where a worker was among the last so many of a row, 0 where it was not."""
    # Ties share the places that are left, and so do those that did not answer: nobody knows their
    # order.
    filled = np.where(there, np.where(np.isnan(found), np.inf, found), -np.inf)
    edge = -np.partition(-filled, last - 1, axis=1)[:, last - 1 : last]
    beyond, level = filled > edge, (filled == edge) & there
    places = last - beyond.sum(1, keepdims=True)
    return beyond + level * (places / np.maximum(level.sum(1, keepdims=True), 1))


def slowness(trace: Trace, found: np.ndarray, last: int) -> Slowness:
    there = presence(trace, len(found))
    weight = among_last(found, there, last)
    rows = np.maximum(there.sum(0), 1)
    share = weight.sum(0) / rows
    expected = float(weight.sum() / max(there.sum(), 1))
    deviation = np.sqrt(max(expected * (1 - expected), 1e-12) / rows)
    often = (share > expected + SURE * deviation) & (share > MUCH * expected)
    parts = np.array([part.mean(0) for part in np.array_split(weight, BLOCKS) if len(part)])
    always = (parts > MUCH * expected).sum(0) >= len(parts) - 1
    pairs = weight[1:] * weight[:-1]
    square = share**2
    with np.errstate(divide="ignore", invalid="ignore"):
        clustering = pairs.mean(0) / square if len(pairs) else np.full(len(share), np.nan)
        spread = np.sqrt(((weight**2).mean(0) ** 2 - square**2) / max(len(pairs), 1))
        sure = (pairs.mean(0) - square) / spread > SURE if len(pairs) else share < 0
    bursts = sure & (clustering > MUCH)
    verdict = [
        "chronic" if o and a else "bursts" if b else "often" if o else "-"
        for o, a, b in zip(often, always, bursts)
    ]
    return Slowness(last, share, expected, clustering, verdict)
