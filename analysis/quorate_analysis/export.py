# SPDX-License-Identifier: BSD-2-Clause
"""export: a trace as CSV, and as a timeline for Perfetto or Chrome."""

import json
from pathlib import Path
from typing import Dict, Iterator, List

import h5py
import numpy as np
import pandas as pd

from .files import MARK, write_whole
from .tasks import ABSENT, CHANGES, REENCODED, STATES, pieces, tasks
from .traces import Trace, attempt, cut

TABLES = "round arrival item measure evaluation worker membership timer".split()
COORDINATOR = 0  # thread of the coordinator; worker i is thread i + 1


def to_csv(trace: Trace, folder: Path) -> List[Path]:
    """TRACE.TABLE.csv for each table that has rows."""

    def read() -> Dict[str, pd.DataFrame]:
        with h5py.File(trace.path, "r", locking=False) as file:
            tables = {}
            for name in TABLES:
                if name in file:
                    columns = cut({key: column[:] for key, column in file[name].items()})
                    tables[name] = pd.DataFrame(columns)
            return tables

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


def events(trace: Trace) -> Iterator[dict]:
    """Events of the Trace Event Format: a thread a worker, and one for rounds. Microseconds."""
    yield named("process_name", COORDINATOR, f"{trace.scheme} ({trace.path.name})")
    yield named("thread_name", COORDINATOR, "rounds")
    for worker in range(trace.workers):
        yield named("thread_name", worker + 1, f"worker {worker}")
    ends = 1e6 * trace.round["time"]
    begins = np.concatenate([[0.0], ends])[:-1]
    columns = ("used", "erased", "decode_error")
    for i, (begin, end) in enumerate(zip(begins, ends)):
        arguments = {name: trace.round[name][i].item() for name in columns}
        yield span(f"round {i + 1}", COORDINATOR, begin, end, arguments)
        counter = {"used": int(trace.round["used"][i])}
        yield {"name": "workers used", "ph": "C", "ts": end, "pid": 1, "args": counter}
    for when, worker, kind in zip(*(trace.membership[n] for n in ("time", "worker", "kind"))):
        if when > 0:
            thread = COORDINATOR if kind == REENCODED else int(worker) + 1
            name = CHANGES.get(int(kind), str(kind))
            yield dict(name=name, ph="i", s="t", ts=1e6 * float(when), pid=1, tid=thread)
    if not trace.lists_all_arrivals:
        return
    found = pieces(trace, tasks(trace))
    keep = (found.state != ABSENT) & (found.end > found.begin)
    order = np.flatnonzero(keep)[np.argsort(found.begin[keep], kind="stable")]
    drawn = [found.begin, found.end, found.worker, found.state, found.round]
    for begin, end, worker, state, number in zip(*(c[order].tolist() for c in drawn)):
        yield span(STATES[state], worker + 1, 1e6 * begin, 1e6 * end, {"round": number})


def named(what: str, thread: int, name: str) -> dict:
    return {"name": what, "ph": "M", "pid": 1, "tid": thread, "args": {"name": name}}


def span(name: str, thread: int, begin: float, end: float, arguments: dict) -> dict:
    return {
        "name": name,
        "ph": "X",
        "ts": round(float(begin), 3),
        "dur": round(float(end - begin), 3),
        "pid": 1,
        "tid": thread,
        "args": {k: v if v == v else None for k, v in arguments.items()},
    }


def to_perfetto(trace: Trace, folder: Path) -> List[Path]:
    """TRACE.perfetto.json, which ui.perfetto.dev and chrome://tracing open."""

    def write(part: Path) -> None:
        with open(part, "w", encoding="utf-8") as out:
            out.write(f'{{"generator": "{MARK}", "displayTimeUnit": "ms", "traceEvents": [\n')
            out.write(",\n".join(json.dumps(event) for event in events(trace)))
            out.write("\n]}\n")

    return [write_whole(folder / f"{trace.path.stem}.perfetto.json", write)]


FORMATS = {"csv": to_csv, "perfetto": to_perfetto}
