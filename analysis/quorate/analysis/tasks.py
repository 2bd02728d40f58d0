# SPDX-License-Identifier: BSD-2-Clause
"""What each worker did when: tasks from the arrivals of a trace, and the gaps between them."""


from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from .traces import BadInput, Bools, Floats, Trace

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
# Of columns of /arrival, what the parts of a message come to; of others the first counts.
KINDS = {"compute": "sum", "delay": "sum", "samples": "sum", "used": "max"}
STATES = ["delay", "computing", "message", "waiting", "cancelled", "not used", "absent"]
DELAY, COMPUTING, MESSAGE, WAITING, CANCELLED, UNUSED, ABSENT = range(len(STATES))
JOINED, LEFT, DIED, REENCODED, LOADING, RESUMED, LOST, APART, RESET = range(1, 10)
OF_ALL = (REENCODED, RESUMED, LOST, APART, RESET)  # these name no worker
CHANGES = {
    JOINED: "joined",
    LEFT: "left",
    DIED: "died",
    REENCODED: "re-encoded",
    LOADING: "loading",
    RESUMED: "resumed",
    LOST: "contributions lost",
    APART: "(apart)",
    RESET: "inner optimisers reset",
}
PIECE = ("begin", "end", "worker", "state", "round")
EPSILON = 1e-9
Interval = tuple[float, float]
Piece = tuple[npt.ArrayLike, ...]  # many, a column for each name in PIECE


def need_arrivals(trace: Trace) -> None:
    if not trace.lists_all_arrivals:
        raise BadInput(
            f"{trace.path} lists {trace.attributes['trace_arrivals']} of its contributions: "
            "run with --trace-arrivals all to see workers"
        )


def by_message(table: pd.DataFrame) -> pd.DataFrame:
    """The contributions that came in one message as one: their times and samples are added."""
    if table["event"].is_unique:
        return table
    kinds = {name: KINDS.get(name, "first") for name in table.columns}
    return table.groupby("event", sort=False).agg(kinds)


def tasks(trace: Trace) -> pd.DataFrame:
    """Messages of workers with busy intervals: `begin`, where the worker could begin, to `arrived`.

    The second message of a task begins where the first one arrived. Ordered by worker and time.
    """
    need_arrivals(trace)
    table = trace.arrivals(*COLUMNS)
    known = (table["arrived"] <= trace.time + EPSILON) & (table["round"] <= trace.rounds)
    # Much faster than sort_values.
    order = np.lexsort((table["event"], table["arrived"], table["worker"]))
    table = table.iloc[order[known[order]]]
    table = by_message(table).reset_index(drop=True)
    table["begin"] = np.fmax(table["sent"], table.groupby("worker")["arrived"].shift())
    return table


def goodput(trace: Trace) -> float:
    """Share of the time of all workers in which they computed what an update used. The time of a
    worker that was away counts."""
    need_arrivals(trace)
    table = trace.arrivals("used", "compute")
    of_all = trace.time * trace.workers
    return float(table["compute"][table["used"] > 0].sum()) / of_all if of_all else float("nan")


def work(trace: Trace) -> float:
    """Seconds in which workers were busy, summed over the workers.

    Where each task has its answer it is the delay and the computation of all answers, used or not.
    Else tasks were cancelled, or are open at the end, and nobody says whose: then workers count as
    busy except for the idle time that their answers tell, which is at least what they worked.
    """
    need_arrivals(trace)
    table = trace.arrivals("task", "delay", "compute", "idle")
    if table.empty:
        return float("nan")
    # Tasks are numbered from 0 in the order in which they were given.
    if table["task"].nunique() == table["task"].max() + 1:
        return float(table["delay"].sum() + table["compute"].sum())
    return float(trace.workers * trace.time - table["idle"].sum())


def absences(trace: Trace) -> dict[int, list[Interval]]:
    """(from, to) where a worker was not there, of each that ever was not."""
    found: dict[int, list[Interval]] = {}
    away: dict[int, float] = {}  # since when
    known = set()
    member = trace.membership
    for when, worker, kind in zip(member["time"], member["worker"], member["kind"]):
        if kind == JOINED:
            left = away.pop(worker, None) if worker in known else 0.0
            if left is not None and left < when:
                found.setdefault(worker, []).append((left, when))
        elif kind in (LEFT, DIED):
            away.setdefault(worker, when)
        else:
            continue
        known.add(worker)
    for worker, left in away.items():
        found.setdefault(worker, []).append((left, trace.time))
    return found


def pieces(trace: Trace, table: pd.DataFrame) -> pd.DataFrame:
    """Everything that workers did until the last update: who did what, from when to when.

    A task is its delay, its computation and the rest, which is messages both ways and waiting in
    queues. Between tasks a worker that has answered in the round waits; one that has not was
    computing something that nobody waited for: its task was cancelled.
    """
    columns = map(np.concatenate, zip(*busy(table), *gaps(trace, table)))
    return pd.DataFrame(dict(zip(PIECE, columns)), copy=False)


def busy(table: pd.DataFrame) -> Iterator[Piece]:
    """Delay, computation and message of each task. Those of tasks that were not used as well."""
    begin, end = table["begin"], table["arrived"]
    slept = np.minimum(begin + table["delay"], end)
    # What was computed before the part before arrived belongs to the time before.
    computed = np.minimum(slept + table["compute"], end)
    edges = (begin, slept, computed, end)
    for state, low, high in zip((DELAY, COMPUTING, MESSAGE), edges, edges[1:]):
        states = np.where(table["used"] == 0, UNUSED, state)
        yield low, high, table["worker"], states, table["round"]


def gaps(trace: Trace, table: pd.DataFrame) -> Iterator[Piece]:
    """Between the tasks of each worker: waiting, cancelled or absent."""
    away = absences(trace)
    ends = trace.edges[1:]
    # In a round that has its answer it waits: for the task before, for the end after.
    own = in_its_round(trace, table)
    names = ("begin", "arrived", "round")
    begins, arrived, rounds = (table[name].to_numpy() for name in names)
    first = np.searchsorted(table["worker"], range(trace.workers + 1))
    for worker in range(trace.workers):
        mine = slice(*first[worker : worker + 2])
        begin = np.concatenate([[0.0], arrived[mine]])
        end = np.concatenate([begins[mine], [trace.time]])
        begin, end = begin[end > begin + EPSILON], end[end > begin + EPSILON]
        # Cut at the ends of rounds, and at absences.
        cuts = np.unique(np.concatenate([begin, end, ends, *away.get(worker, [])]))
        low, high = cuts[:-1], cuts[1:]
        middle = (low + high) / 2
        inside = np.searchsorted(begin, middle, side="right") - 1
        keep = (inside >= 0) & (high > low + EPSILON)
        keep[keep] = middle[keep] < end[inside[keep]]
        low, high, middle = low[keep], high[keep], middle[keep]
        number = np.searchsorted(ends, middle) + 1
        answers = np.zeros(trace.rounds + 2, dtype=bool)
        answers[rounds[mine][own[mine]]] = True
        state = np.where(answers[number], WAITING, CANCELLED)
        for left, back in away.get(worker, []):
            state[(middle > left) & (middle < back)] = ABSENT
        yield low, high, np.full(len(low), worker), state, number


def in_its_round(trace: Trace, table: pd.DataFrame) -> Bools:
    """Whether a task was sent in the round in which its answer came."""
    begin = trace.edges[table["round"] - 1]
    return np.array(table["sent"] >= begin - EPSILON)


def totals(trace: Trace, all_pieces: pd.DataFrame) -> Floats:
    """Seconds of each worker in each state."""
    cell = all_pieces["worker"] * len(STATES) + all_pieces["state"]
    length = all_pieces["end"] - all_pieces["begin"]
    seconds = np.bincount(cell, length, trace.workers * len(STATES))
    return seconds.astype(float, copy=False).reshape(-1, len(STATES))


def responses(trace: Trace, table: pd.DataFrame) -> Floats:
    """Seconds from the dispatch to the last answer in the round: rounds x workers; NaN: none."""
    found = np.full((trace.rounds, trace.workers), np.nan)
    own = table[in_its_round(trace, table)]
    # By worker and time: the last answer is written last.
    found[own["round"] - 1, own["worker"]] = own["arrived"] - own["sent"]
    return found


def quantiles(values: pd.Series, worker: pd.Series, workers: int, at: list[float]) -> Floats:
    """Quantiles of the values of each worker; NaN for a worker without any."""
    return np.array(values.groupby(worker).quantile(at).unstack().reindex(range(workers)))
