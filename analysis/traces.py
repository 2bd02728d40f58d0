# SPDX-License-Identifier: BSD-2-Clause
"""Reads traces; docs/trace.md says what they hold."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np


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
    def label(self) -> str:
        """The scheme, which is what traces are mostly compared by."""
        return self.attributes["scheme"]

    @property
    def time(self) -> float:
        """Wall time from the first dispatch to the last update, seconds."""
        times = self.round["time"]
        return float(times[-1]) if len(times) else 0.0

    @property
    def rounds(self) -> int:
        return len(self.round["time"])


def read_table(file: h5py.File, name: str) -> dict:
    """A table; of a run that was killed, the rows that all columns have."""
    columns = {key: data[:] for key, data in file[name].items()}
    rows = min(len(column) for column in columns.values())
    return {key: column[:rows] for key, column in columns.items()}


def read_trace(path) -> Trace:
    """Reads one trace, finished or not. Raises BadInput."""
    path = Path(path)
    if not path.exists():
        raise BadInput(f"{path} does not exist: give a trace that 'quorate run' wrote")
    try:
        with h5py.File(path, "r", locking=False) as file:
            if file.attrs.get("format") != "quorate trace":
                raise BadInput(f"{path} is not a trace: give one that 'quorate run' wrote")
            tables = {name: read_table(file, name) for name in ("round", "arrival", "evaluation")}
            return Trace(path, dict(file.attrs), **tables)
    except (OSError, KeyError) as error:
        raise BadInput(
            f"{path} cannot be read as a trace ({error}); if it is being written, try again"
        ) from error


def labels(traces) -> list:
    """A label for each trace: its scheme, with the file's name where schemes repeat."""
    schemes = [trace.label for trace in traces]
    return [
        scheme if schemes.count(scheme) == 1 else f"{scheme} ({trace.path.stem})"
        for trace, scheme in zip(traces, schemes)
    ]


def last(trace: Trace, column: str) -> float:
    """The last value of an evaluation column; NaN if nothing was evaluated."""
    values = trace.evaluation[column]
    return float(values[-1]) if len(values) else float(np.nan)
