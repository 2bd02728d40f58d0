# SPDX-License-Identifier: BSD-2-Clause
"""What each worker did when: tasks from the arrivals of a trace, and the gaps between them."""

from dataclasses import dataclass
from typing import List, Optional

import numpy as np

from .traces import BadInput, Table, Trace

COLUMNS = (
    "event",
    "round",
    "worker",
    "task",
    "sent",
    "arrived",
    "compute",
    "delay",
    "used",
    "samples",
)
# States of a worker, in the order of legends.
STATES = ["delay", "computing", "message", "waiting", "cancelled", "not used", "absent"]
DELAY, COMPUTING, MESSAGE, WAITING, CANCELLED, UNUSED, ABSENT = range(len(STATES))
JOINED, LEFT, DIED, REENCODED, LOADING = range(1, 6)
CHANGES = {
    JOINED: "joined",
    LEFT: "left",
    DIED: "died",
    REENCODED: "re-encoded",
    LOADING: "loading",
}
EPSILON = 1e-9


@dataclass
class Pieces:
    """Intervals of workers: from, to, who, what, in which round."""

    begin: np.ndarray
    end: np.ndarray
    worker: np.ndarray
    state: np.ndarray
    round: np.ndarray


def need_arrivals(trace: Trace) -> None:
    if not trace.lists_all_arrivals:
        raise BadInput(
            f"{trace.path} lists {trace.attributes['trace_arrivals']} of its contributions: "
            "run with --trace-arrivals all to see workers"
        )


def merged(table: Table) -> Table:
    """The contributions that came in one message as one: their times and samples are added."""
    worker, event = table["worker"], table["event"]
    if not len(worker):
        return table
    first = np.concatenate([[True], (np.diff(worker) != 0) | (np.diff(event) != 0)])
    at = np.flatnonzero(first)
    found = {name: column[at] for name, column in table.items()}
    for name in ("compute", "delay", "samples"):
        found[name] = np.add.reduceat(table[name], at)
    found["used"] = np.maximum.reduceat(table["used"], at)
    return found


def tasks(trace: Trace) -> Table:
    """Messages of workers with busy intervals: `begin`, where the worker could begin, to `arrived`.

    The second message of a task begins where the first one arrived. Ordered by worker and time.
    """
    need_arrivals(trace)
    table = trace.arrivals(*COLUMNS)
    known = (table["arrived"] <= trace.time + EPSILON) & (table["round"] <= trace.rounds)
    order = np.lexsort((table["event"], table["arrived"], table["worker"]))
    order = order[known[order]]
    table = merged({name: column[order] for name, column in table.items()})
    before = np.concatenate([[-np.inf], table["arrived"][:-1]])
    fresh = np.concatenate([[True], table["worker"][1:] != table["worker"][:-1]])
    fresh, before = fresh[: len(table["worker"])], before[: len(table["worker"])]
    table["begin"] = np.maximum(table["sent"], np.where(fresh, -np.inf, before))
    return table


def absences(trace: Trace, worker: int) -> List[tuple]:
    """(from, to) where a worker was not there."""
    member = trace.membership
    mine = (member["worker"] == worker) & np.isin(member["kind"], (JOINED, LEFT, DIED))
    away: Optional[float] = None
    found: List[tuple] = []
    for when, kind in zip(member["time"][mine], member["kind"][mine]):
        if kind == JOINED and away is not None:
            found.append((away, when))
            away = None
        elif kind != JOINED and away is None:
            away = when
    if away is not None:
        found.append((away, trace.time))
    joined = member["time"][mine & (member["kind"] == JOINED)]
    if len(joined) and joined[0] > 0 and not (found and found[0][0] < joined[0]):
        found.insert(0, (0.0, joined[0]))
    return found


def pieces(trace: Trace, table: Table) -> Pieces:
    """Everything that workers did until the last update, as intervals.

    A task is its delay, its computation and the rest, which is messages both ways and waiting in
    queues. Between tasks a worker that has answered in the round waits; one that has not was
    computing something that nobody waited for: its task was cancelled.
    """
    parts = [*busy(table), *gaps(trace, table)]
    return Pieces(*(np.concatenate(columns) for columns in zip(*parts)))


def busy(table: Table) -> List[tuple]:
    """Delay, computation and message of each task. Those of tasks that were not used as well."""
    begin, end, unused = table["begin"], table["arrived"], table["used"] == 0
    slept = np.minimum(begin + table["delay"], end)
    # What was computed before the part before arrived belongs to the time before.
    computed = np.minimum(slept + table["compute"], end)

    def state(which: int) -> np.ndarray:
        return np.where(unused, UNUSED, which)

    worker, number = table["worker"], table["round"]
    return [
        (begin, slept, worker, state(DELAY), number),
        (slept, computed, worker, state(COMPUTING), number),
        (computed, end, worker, state(MESSAGE), number),
    ]


def gaps(trace: Trace, table: Table) -> List[tuple]:
    """Between the tasks of each worker: waiting, cancelled or absent."""
    ends = trace.round["time"]
    found: List[tuple] = []
    for worker in range(trace.workers):
        mine = slice(*np.searchsorted(table["worker"], [worker, worker + 1]))
        begin = np.concatenate([[0.0], table["arrived"][mine]])
        end = np.concatenate([table["begin"][mine], [trace.time]])
        begin, end = begin[end > begin + EPSILON], end[end > begin + EPSILON]
        # Cut at the ends of rounds, and at absences.
        away = absences(trace, worker)
        cuts = np.unique(
            np.concatenate([begin, end, ends, *away])
            if away
            else np.concatenate([begin, end, ends])
        )
        low, high = cuts[:-1], cuts[1:]
        middle = (low + high) / 2
        inside = np.searchsorted(begin, middle, side="right") - 1
        keep = (inside >= 0) & (high > low + EPSILON)
        keep[keep] = middle[keep] < end[inside[keep]]
        low, high, middle = low[keep], high[keep], middle[keep]
        number = np.searchsorted(ends, middle) + 1
        # It waits if the round has its answer: for the task before, for the end after.
        start = np.concatenate([[0.0], ends])[table["round"][mine] - 1]
        own = table["sent"][mine] >= start - EPSILON
        answers = np.zeros(trace.rounds + 2, dtype=bool)
        answers[table["round"][mine][own]] = True
        state = np.where(answers[number], WAITING, CANCELLED)
        for left, back in away:
            state[(middle > left) & (middle < back)] = ABSENT
        found.append((low, high, np.full(len(low), worker), state, number))
    return found


def totals(trace: Trace, all_pieces: Pieces) -> np.ndarray:
    """Seconds of each worker in each state."""
    seconds = np.zeros((trace.workers, len(STATES)))
    np.add.at(seconds, (all_pieces.worker, all_pieces.state), all_pieces.end - all_pieces.begin)
    return seconds


def responses(trace: Trace, table: Table) -> np.ndarray:
    """Seconds from the dispatch to the last answer in the round: rounds x workers; NaN: none."""
    found = np.full((trace.rounds, trace.workers), np.nan)
    start = np.concatenate([[0.0], trace.round["time"]])[table["round"] - 1]
    own = table["sent"] >= start - EPSILON
    at = table["round"][own] - 1, table["worker"][own]
    # By worker and time: the last answer is written last.
    found[at] = (table["arrived"] - table["sent"])[own]
    return found


def quantiles(values: np.ndarray, worker: np.ndarray, workers: int, at: list) -> np.ndarray:
    """Quantiles of the values of each worker; NaN for a worker without any."""
    found = np.full((workers, len(at)), np.nan)
    order = np.argsort(worker, kind="stable")
    edges = np.searchsorted(worker[order], np.arange(workers + 1))
    for i in range(workers):
        mine = values[order[edges[i] : edges[i + 1]]]
        if len(mine):
            found[i] = np.quantile(mine, at)
    return found
