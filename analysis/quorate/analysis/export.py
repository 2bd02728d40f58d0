# SPDX-License-Identifier: BSD-2-Clause
"""export: a trace as CSV, as a timeline for Perfetto or Chrome, and for experiment trackers."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from .files import MARK, write_whole
from .tasks import ABSENT, CHANGES, OF_ALL, PIECE, STATES, pieces, tasks
from .traces import Trace, attempt, open_trace, read_table, shown
from .trackers import to_mlflow, to_tensorboard

TABLES = "round arrival item measure evaluation worker membership timer".split()
Event = dict[str, object]
COORDINATOR = 0  # thread of the coordinator; worker i is thread i + 1


def to_csv(trace: Trace, folder: Path) -> list[Path]:
    """TRACE.TABLE.csv for each table that has rows."""

    def read() -> dict[str, pd.DataFrame]:
        with open_trace(trace.path) as file:
            return {name: read_table(file[name]) for name in TABLES if name in file}

    paths = []
    for name, table in attempt(trace.path, read).items():
        if name == "round":
            table.insert(0, "round", np.arange(1, len(table) + 1))
        if name == "worker":
            table.insert(0, "worker", np.arange(len(table)))
        if len(table):
            path = folder / f"{trace.path.stem}.{name}.csv"
            write = table.to_csv
            paths.append(write_whole(path, lambda part: write(part, index=False)))
    return paths


def events(trace: Trace) -> Iterator[Event]:
    """Events of the Trace Event Format: a thread a worker, and one for rounds. Microseconds."""
    yield named("process_name", COORDINATOR, f"{trace.scheme} ({shown(trace.path.name)})")
    yield named("thread_name", COORDINATOR, "rounds")
    for worker in range(trace.workers):
        yield named("thread_name", worker + 1, f"worker {worker}")
    edges = 1e6 * trace.edges
    rows = trace.round[["used", "erased", "decode_error"]].to_dict("records")
    for i, (begin, end, row) in enumerate(zip(edges, edges[1:], rows)):
        yield span(f"round {i + 1}", COORDINATOR, begin, end, row)
        counter = {"used": row["used"]}
        yield {"name": "workers used", "ph": "C", "ts": end, "pid": 1, "args": counter}
    member = trace.membership
    for change in member[member["time"] > 0].itertuples():
        thread = COORDINATOR if change.kind in OF_ALL else change.worker + 1
        name = CHANGES.get(change.kind, str(change.kind))
        yield dict(name=name, ph="i", s="t", ts=1e6 * change.time, pid=1, tid=thread)
    if not trace.lists_all_arrivals:
        return
    found = pieces(trace, tasks(trace)).sort_values("begin", kind="stable")
    found = found[(found["state"] != ABSENT) & (found["end"] > found["begin"])]
    for begin, end, worker, state, number in found[[*PIECE]].itertuples(index=False):
        yield span(STATES[state], worker + 1, 1e6 * begin, 1e6 * end, {"round": number})


def named(what: str, thread: int, name: str) -> Event:
    return {"name": what, "ph": "M", "pid": 1, "tid": thread, "args": {"name": name}}


def span(name: str, thread: int, begin: float, end: float, arguments: dict[str, float]) -> Event:
    return {
        "name": name,
        "ph": "X",
        "ts": round(float(begin), 3),
        "dur": round(float(end - begin), 3),
        "pid": 1,
        "tid": thread,
        "args": {k: v if v == v else None for k, v in arguments.items()},
    }


def to_perfetto(trace: Trace, folder: Path) -> list[Path]:
    """TRACE.perfetto.json, which ui.perfetto.dev and chrome://tracing open."""

    def write(part: Path) -> None:
        with open(part, "w", encoding="utf-8") as out:
            out.write(f'{{"generator": "{MARK}", "displayTimeUnit": "ms", "traceEvents": [\n')
            out.write(",\n".join(json.dumps(event) for event in events(trace)))
            out.write("\n]}\n")

    return [write_whole(folder / f"{trace.path.stem}.perfetto.json", write)]


FORMATS = {
    "csv": to_csv,
    "perfetto": to_perfetto,
    "tensorboard": to_tensorboard,
    "mlflow": to_mlflow,
}
