# SPDX-License-Identifier: BSD-2-Clause
"""Reads traces; docs/trace.md says what they hold."""

import time
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

FORMAT_VERSION = 4
TRIES = 3  # a trace that is being written may be caught in the middle of a commit
NEEDED = ("scheme", "status", "data", "rows", "columns", "workers", "optimizer", "delay", "clock")


class BadInput(Exception):
    """What the user gave cannot be used; the message says what would be right."""


@dataclass
class Trace:
    """One run. Tables are dictionaries of columns; times are seconds."""

    path: Path
    attributes: dict
    round: dict
    arrival: dict
    evaluation: dict

    @property
    def scheme(self) -> str:
        return self.attributes["scheme"]

    @property
    def rounds(self) -> int:
        """Rounds done."""
        return len(self.round["time"])

    @property
    def time(self) -> float:
        """Seconds from the first dispatch to the last update, on the clock of the run."""
        return float(self.round["time"][-1]) if self.rounds else 0.0

    @property
    def time_per_round(self) -> float:
        """Seconds; NaN before the first update."""
        return self.time / self.rounds if self.rounds else float("nan")

    @property
    def evaluated(self) -> bool:
        """Whether models were scored. Interrupted and running traces were not."""
        return len(self.evaluation["round"]) > 0

    @property
    def dry(self) -> bool:
        """Whether only times were simulated."""
        return not self.attributes["data"]

    @property
    def decode_error(self) -> float:
        """|B'a - 1|^2, mean over the rounds; NaN before the first update."""
        return float(np.mean(self.round["decode_error"])) if self.rounds else float("nan")

    @property
    def optimum(self) -> float:
        """The reference optimum of the objective; NaN if `quorate optimum` has not found it."""
        wanted = [self.attributes.get(name) for name in ("model", "l2", "l1", "rows")]
        for line in str(self.attributes.get("config", "")).splitlines():
            name, _, value = line.partition(" = ")
            path = Path(value).with_suffix(".optima.h5")
            if name != "data" or not path.is_file():
                continue
            with h5py.File(path, "r", locking=False) as file:
                for one in file.values():
                    if [one.attrs[n] for n in ("model", "l2", "l1", "rows")] == wanted:
                        return float(one.attrs["objective"])
        return float("nan")

    def time_to(self, test_loss: float) -> float:
        """Seconds to the first model scored that has that test loss or less; NaN if none has."""
        reached = np.flatnonzero(self.evaluation["test_loss"] <= test_loss)
        return float(self.evaluation["time"][reached[0]]) if len(reached) else float("nan")

    @property
    def final_loss(self) -> float:
        """Training loss of the last model scored; else the last round's estimate; NaN if dry."""
        if self.evaluated:
            return float(self.evaluation["train_loss"][-1])
        if self.dry:
            return float("nan")
        return float(self.round["loss_estimate"][-1]) if self.rounds else float("nan")

    @property
    def final_auc(self) -> float:
        """NaN if nothing was scored, or on no test rows."""
        return float(self.evaluation["auc"][-1]) if self.evaluated else float("nan")


def read_table(file: h5py.File, name: str) -> dict:
    """A table; of a run that was killed, the rows that all columns have."""
    columns = {key: data[:] for key, data in file[name].items()}
    rows = min(len(column) for column in columns.values())
    return {key: column[:rows] for key, column in columns.items()}


def read_once(path: Path) -> Trace:
    with h5py.File(path, "r", locking=False) as file:
        attributes = dict(file.attrs)
        if attributes.get("format") != "quorate trace":
            raise BadInput(f"{path} is not a trace: give one that 'quorate run' wrote")
        if attributes.get("format_version") != FORMAT_VERSION:
            raise BadInput(
                f"{path} has trace format {attributes.get('format_version')}, "
                f"this reads {FORMAT_VERSION}: use the analysis of the Quorate that wrote it"
            )
        for name in NEEDED:
            if name not in attributes:
                raise KeyError(f"no attribute {name}")
        tables = {name: read_table(file, name) for name in ("round", "arrival", "evaluation")}
        # Scored as the run went on, after it, or by `quorate evaluate`: in any order.
        order = np.argsort(tables["evaluation"]["round"], kind="stable")
        tables["evaluation"] = {key: c[order] for key, c in tables["evaluation"].items()}
        return Trace(path, attributes, **tables)


def read_trace(path) -> Trace:
    """Reads one trace, finished or not. Raises BadInput."""
    path = Path(path)
    if not path.is_file():
        raise BadInput(f"{path} is not a file: give a trace that 'quorate run' wrote")
    try:
        if not h5py.is_hdf5(path):
            raise BadInput(f"{path} is not an HDF5 file: give a trace that 'quorate run' wrote")
        for left in reversed(range(TRIES)):
            try:
                return read_once(path)
            except (OSError, RuntimeError, KeyError):
                if left == 0:
                    raise
                time.sleep(0.1)
    except (OSError, RuntimeError, KeyError, ValueError, AttributeError) as error:
        reason = " ".join(str(error.args[0] if error.args else error).split())
        raise BadInput(
            f"{path} cannot be read as a trace ({reason}); if it is being written, try again"
        ) from error


def labels(traces) -> list:
    """A label for each trace: its scheme; the file's name too where schemes repeat."""
    schemes = [trace.scheme for trace in traces]
    stems = [trace.path.stem for trace in traces]
    names = stems if len(set(stems)) == len(stems) else [str(trace.path) for trace in traces]
    return [
        scheme if schemes.count(scheme) == 1 else f"{scheme} ({name})"
        for scheme, name in zip(schemes, names)
    ]


def curve(trace: Trace, metric: str):
    """(rounds, times, values) of a metric of the evaluation table, or of the "gap" to the optimum.

    A trace without evaluation has the estimates of its rounds in place of the training loss, and
    nothing else. A round's estimate is taken before its update: it belongs to the end of the round
    before, and the first one to the beginning.
    """
    table = trace.evaluation
    if trace.evaluated and metric == "gap":
        rounds, times, values = table["round"], table["time"], table["objective"] - trace.optimum
        # Rounding, or a better model than the optimum that was found: no place on a log scale.
        values = np.where(values > 0, values, np.nan)
    elif trace.evaluated:
        rounds, times, values = table["round"], table["time"], table.get(metric, np.array([]))
        if len(values) == 0:
            values = np.full(len(rounds), np.nan)
    elif metric == "train_loss" and not trace.dry:
        rounds, values = np.arange(trace.rounds), trace.round["loss_estimate"]
        times = np.concatenate([[0.0], trace.round["time"][:-1]])
    else:
        rounds = times = values = np.array([])
    known = np.isfinite(values)
    return rounds[known], times[known], values[known]
