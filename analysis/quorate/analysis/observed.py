# SPDX-License-Identifier: BSD-2-Clause
"""When workers answered in each round: from a trace of ours, or from the CSV of others."""

import lzma
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from .quantities import samples_once
from .stragglers import Slowness, counted_as_last, presence, slowness
from .tasks import in_its_round
from .traces import BadInput, Bools, Floats
from .workers import Work

# Columns of recorded times as docs/trace.md has them; the first that is there counts.
WORKER = ("worker", "rank")
ROUND = ("round", "step")
SECONDS = ("seconds", "response_s", "compute_time", "batch_time_norm")
NODE = ("node", "host")
PARTS = ("delay", "computation", "transfer")


@dataclass
class Observed:
    """Times of one run. Matrices are rounds x workers, seconds from the beginning of the round."""

    label: str
    file: Path
    names: list[str]  # of workers
    answered: Floats  # NaN: no answer in that round
    there: Bools
    used: Floats  # when the answers came that the round's estimate used; NaN: not used
    wait: Floats  # of each round, until it was decided
    decode: Floats  # of each round: decoding and the update
    parts: Floats | None  # parts x rounds x workers, which add up to `answered`
    node: npt.NDArray[np.str_] | None
    slow: Slowness
    waits_for_all: bool  # each round used the answers of all workers
    of_rounds: bool = True  # else of tasks, where there are no rounds
    load: float = 1.0  # the work of a round over what its estimate needs once
    notes: list[str] = field(default_factory=list)


def refuse_few(file: Path, workers: int, rounds: int) -> None:
    """Raises BadInput where nobody can be compared."""
    if workers < 2:
        raise BadInput(f"{file} has one worker: give a run of two or more, as slow is a comparison")
    if rounds < 2:
        raise BadInput(f"{file} has less than two rounds: give more, as persistence needs time")


def of_work(work: Work) -> Observed:
    """The times of a trace. Raises BadInput if there is one worker or round only."""
    refuse_few(work.trace.path, work.trace.workers, work.trace.rounds)
    return of_rounds(work) if work.row == "round" else of_tasks(work)


def of_rounds(work: Work) -> Observed:
    """Where tasks belong to rounds."""
    trace, table = work.trace, work.table
    shape = (trace.rounds, trace.workers)
    used = np.full(shape, np.nan)
    counted = table[table["used"].between(1, trace.rounds)]
    late = np.maximum(counted["arrived"] - trace.edges[counted["used"] - 1], 0)
    np.fmax.at(used, (counted["used"] - 1, counted["worker"]), late)
    mine = table[in_its_round(trace, table)]
    row = (mine["round"] - 1).to_numpy()
    answered, parts = matrices(mine, row, trace.edges[row], shape)
    wait = trace.round["wait"].to_numpy()
    load, notes = 1.0, []
    if trace.attributes.get("varying_samples", 0):
        notes.append("Rounds take the samples there is time for: their times do not tell speeds.")
    else:
        load = float(mine["samples"].mean()) * trace.workers / max(samples_once(trace), 1)
    return Observed(
        label=work.label,
        file=trace.path,
        names=[str(i) for i in range(trace.workers)],
        answered=answered,
        there=presence(trace, trace.rounds) | np.isfinite(answered),
        used=used,
        wait=wait,
        decode=np.maximum(trace.durations - wait, 0),
        parts=parts,
        node=work.node,
        slow=work.slow,
        waits_for_all=bool(np.isfinite(used).all()),
        load=max(1.0, load),
        notes=notes,
    )


def of_tasks(work: Work) -> Observed:
    """Without rounds: the k-th tasks of all workers stand for a round that waits for all."""
    trace, table = work.trace, work.table
    counts = table["worker"].value_counts().reindex(range(trace.workers), fill_value=0)
    rounds = int(counts.min())
    refuse_few(trace.path, trace.workers, rounds)
    place = table.groupby("worker").cumcount().to_numpy()
    mine, row = table[place < rounds], place[place < rounds]
    answered, parts = matrices(mine, row, mine["sent"].to_numpy(), (rounds, trace.workers))
    return Observed(
        label=work.label,
        file=trace.path,
        names=[str(i) for i in range(trace.workers)],
        answered=answered,
        there=np.ones(answered.shape, dtype=bool),
        used=answered,
        wait=answered.max(1),
        decode=np.zeros(rounds),
        parts=parts,
        node=work.node,
        slow=work.slow,
        waits_for_all=False,
        of_rounds=False,
        notes=[
            f"{trace.scheme} has no rounds: a round here is the k-th task of each worker, all of "
            "which are waited for."
        ],
    )


def matrices(
    mine: pd.DataFrame, row: npt.NDArray[np.int64], begin: Floats, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Seconds from `begin` to the answers of tasks, and their parts: delay, computation, rest."""
    at = (row, mine["worker"].to_numpy())
    answered, parts = np.full(shape, np.nan), np.full((len(PARTS), *shape), np.nan)
    answered[at] = mine["arrived"] - begin
    parts[0][at], parts[1][at] = mine["delay"], mine["compute"]
    parts[2] = np.maximum(answered - parts[0] - parts[1], 0)
    return answered, parts


def column(table: pd.DataFrame, names: tuple[str, ...]) -> str:
    """The first of these names that the table has, else an empty one."""
    return next((name for name in names if name in table.columns), "")


def read_csv(file: Path) -> pd.DataFrame:
    """The table of worker, round, seconds and perhaps node. Raises BadInput."""
    wanted = f"give CSV with the columns {WORKER[0]}, {ROUND[0]}, {SECONDS[0]}, or a trace"
    try:
        raw = pd.read_csv(file, skipinitialspace=True)
    except pd.errors.EmptyDataError as error:
        raise BadInput(f"{file} is empty: {wanted}") from error
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"{file} is neither a trace nor CSV ({reason}): {wanted}") from error
    worker, seconds, node = (column(raw, names) for names in (WORKER, SECONDS, NODE))
    number = column(raw, ROUND)
    if not worker or not seconds or not (number or "time" in raw.columns):
        raise BadInput(f"{file} has the columns {', '.join(map(str, raw.columns[:8]))}: {wanted}")
    if raw.empty:
        raise BadInput(f"{file} has no row below its header: {wanted}")
    if "load" in raw.columns:  # as trace:FILE takes them: the least, where there are several
        raw = raw[raw["load"] == raw["load"].min()]
    lengths = pd.to_numeric(raw[seconds], errors="coerce").to_numpy(float)
    wrong = np.flatnonzero(~(np.isfinite(lengths) & (lengths >= 0)))
    if len(wrong):
        line = int(raw.index[wrong[0]]) + 2
        raise BadInput(
            f"{file}, row {line}: {seconds} is {raw[seconds].iloc[wrong[0]]}: give a number of "
            "seconds, at least 0"
        )
    table = pd.DataFrame({"worker": raw[worker], "seconds": lengths})
    table["node"] = raw[node].astype(str) if node else ""
    if number:
        table["round"] = raw[number]
    else:
        # Each worker's k-th row in the order of times, as far as all go.
        table = table.iloc[np.argsort(raw["time"].to_numpy(), kind="stable")]
        table["round"] = table.groupby("worker").cumcount()
        least = table["worker"].value_counts().min()
        table = table[table["round"] < least]
    if table[["worker", "round"]].isna().any(axis=None):
        raise BadInput(f"{file} has rows without a worker or a round: {wanted}")
    return table


def of_csv(file: Path, last: int | None = None, per_node: int = 0) -> Observed:
    """The times that others have recorded: rounds that waited for all. Raises BadInput."""
    table = read_csv(file)
    twice = table.duplicated(["worker", "round"])
    if twice.any():
        one = table[twice].iloc[0]
        raise BadInput(
            f"{file} has two rows of worker {one['worker']} in round {one['round']}: give one"
        )
    matrix = table.pivot(index="round", columns="worker", values="seconds")
    refuse_few(file, matrix.shape[1], matrix.shape[0])
    missing = np.argwhere(matrix.isna().to_numpy())
    if len(missing):
        row, column_ = missing[0]
        raise BadInput(
            f"{file} has no row of worker {matrix.columns[column_]} in round {matrix.index[row]}: "
            "give each worker one in each round"
        )
    names = [str(name) for name in matrix.columns]
    node = None
    if per_node:
        node = (np.arange(len(names)) // per_node).astype(str)
    elif table["node"].any():
        node = table.groupby("worker")["node"].first().reindex(matrix.columns).to_numpy(str)
    if node is not None and len(np.unique(node)) == 1:
        node = None
    found = matrix.to_numpy(float)
    there = np.ones(found.shape, dtype=bool)
    return Observed(
        label=f"{file.name}, {len(names)} workers",
        file=file,
        names=names,
        answered=found,
        there=there,
        used=found,
        wait=found.max(1),
        decode=np.zeros(len(found)),
        parts=None,
        node=node,
        slow=slowness(found, there, counted_as_last(len(names), last)),
        waits_for_all=True,
    )
