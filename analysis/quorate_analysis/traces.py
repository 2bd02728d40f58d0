# SPDX-License-Identifier: BSD-2-Clause
"""Reads traces; docs/trace.md says what they hold."""

import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Callable, Dict, Iterator, TypeVar

import h5py
import numpy as np

FORMAT_VERSION = 5
TRIES = 3  # a trace that is being written may be caught in the middle of a commit
NEEDED = ("scheme", "status", "data", "rows", "columns", "workers", "optimizer", "delay", "clock")
EAGER = ("round", "evaluation", "worker", "membership")
DIVERGED = 1.5  # times the loss of the first point

Table = Dict[str, np.ndarray]
T = TypeVar("T")


class BadInput(Exception):
    """What the user gave cannot be used; the message says what would be right."""


@dataclass
class Trace:
    """One run. Tables are dictionaries of columns; times are seconds."""

    path: Path
    attributes: dict
    round: Table
    evaluation: Table
    worker: Table
    membership: Table

    @property
    def scheme(self) -> str:
        return str(self.attributes["scheme"])

    @property
    def status(self) -> str:
        return str(self.attributes["status"])

    @property
    def clock(self) -> str:
        return str(self.attributes["clock"])

    @property
    def workers(self) -> int:
        return int(self.attributes["workers"])

    @property
    def seed(self) -> int:
        return int(self.attributes.get("seed", 0))

    @cached_property
    def config(self) -> Dict[str, str]:
        """The options of the run by name."""
        pairs = (
            line.partition(" = ") for line in str(self.attributes.get("config", "")).split("\n")
        )
        return {name.strip(): value for name, found, value in pairs if found}

    @property
    def rounds(self) -> int:
        """Rounds done."""
        return len(self.round["time"])

    @property
    def time(self) -> float:
        """Seconds from the first dispatch to the last update, on the clock of the run."""
        return float(self.round["time"][-1]) if self.rounds else 0.0

    @property
    def durations(self) -> np.ndarray:
        """Seconds of each round."""
        return np.diff(self.round["time"], prepend=0.0)

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
        data = Path(self.config.get("data", ""))
        if not data.name:
            return float("nan")
        # As the option was typed, from here or from where the trace is.
        for path in (data, self.path.parent / data):
            path = path.with_suffix(".optima.h5")
            if not path.is_file():
                continue
            with h5py.File(path, "r", locking=False) as file:
                for one in file.values():
                    if [one.attrs[n] for n in ("model", "l2", "l1", "rows")] == wanted:
                        return float(one.attrs["objective"])
        return float("nan")

    @property
    def losses(self) -> np.ndarray:
        """Training losses: of models scored, else the estimates of the rounds."""
        if self.evaluated:
            return self.evaluation["train_loss"]
        return np.array([]) if self.dry else self.round["loss_estimate"]

    @property
    def first_loss(self) -> float:
        """The estimate of the first round: the loss of the initial model, or near it."""
        return float(self.round["loss_estimate"][0]) if self.rounds and not self.dry else np.nan

    @property
    def final_loss(self) -> float:
        """Training loss of the last model scored; else the last round's estimate; NaN if dry."""
        return float(self.losses[-1]) if len(self.losses) else float("nan")

    def final(self, score: str) -> float:
        """A score of the last model; NaN if nothing was scored, or on no test rows."""
        return float(self.evaluation[score][-1]) if self.evaluated else float("nan")

    @property
    def diverged(self) -> bool:
        """Whether the loss ended as no number, or well above where it began."""
        if not len(self.losses):
            return False
        return not np.isfinite(self.final_loss) or self.final_loss > DIVERGED * self.first_loss

    @property
    def warmup(self) -> int:
        """The first rounds that each took longer than all but 1 % of the later ones.

        On the wall clock only: a simulated machine has nothing to warm up. At most a tenth.
        """
        if self.clock != "wall" or self.rounds < 20:
            return 0
        most = self.rounds // 10
        usual = 1.5 * np.quantile(self.durations[most:], 0.99)
        slow = self.durations[:most] > usual
        return int(np.argmin(slow)) if not slow.all() else most

    def arrivals(self, *columns: str) -> Table:
        """Columns of the arrival table, which is read when it is asked for and not kept."""
        return attempt(self.path, lambda: read_columns(self.path, "arrival", columns))

    @property
    def lists_all_arrivals(self) -> bool:
        return self.attributes.get("trace_arrivals", "all") == "all"


def cut(columns: Table) -> Table:
    """Of a run that was killed or goes on, the rows that all columns have."""
    rows = min(len(column) for column in columns.values())
    return {key: column[:rows] for key, column in columns.items()}


def read_columns(path: Path, table: str, columns: tuple = ()) -> Table:
    with h5py.File(path, "r", locking=False) as file:
        return cut({name: file[table][name][:] for name in columns or file[table]})


def read_tail(path: Path, table: str, rows: int, columns: tuple) -> Table:
    """The last rows of a table, without reading the others."""
    with h5py.File(path, "r", locking=False) as file:
        end = min(len(file[table][name]) for name in columns)
        return {name: file[table][name][max(0, end - rows) : end] for name in columns}


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
        if "arrival" not in file:
            raise KeyError("no table arrival")
        tables = {
            name: cut({key: column[:] for key, column in file[name].items()}) for name in EAGER
        }
    # Scored as the run went on, after it, or by `quorate evaluate`: in any order.
    order = np.argsort(tables["evaluation"]["round"], kind="stable")
    tables["evaluation"] = {key: c[order] for key, c in tables["evaluation"].items()}
    # A commit may have brought the score of a round before the round.
    done = tables["evaluation"]["round"] <= len(tables["round"]["time"])
    tables["evaluation"] = {key: c[done] for key, c in tables["evaluation"].items()}
    return Trace(path, attributes, **tables)


@contextmanager
def as_bad_input(path: Path) -> Iterator[None]:
    """Turns what h5py raises on a damaged file into one line."""
    try:
        yield
    except (OSError, RuntimeError, KeyError, ValueError, AttributeError) as error:
        reason = " ".join(str(error.args[0] if error.args else error).split())
        raise BadInput(
            f"{path} cannot be read as a trace ({reason}); if it is being written, try again"
        ) from error


def attempt(path: Path, read: Callable[[], T]) -> T:
    """What read() gives, tried a few times. Raises BadInput."""
    with as_bad_input(path):
        for _ in range(TRIES - 1):
            try:
                return read()
            except (OSError, RuntimeError, KeyError):
                time.sleep(0.1)
        return read()


def read_trace(path: object) -> Trace:
    """Reads one trace, finished or not. Raises BadInput."""
    file = Path(str(path))
    if not file.is_file():
        raise BadInput(f"{path} is not a file: give a trace that 'quorate run' wrote")
    with as_bad_input(file):
        if not h5py.is_hdf5(file):
            raise BadInput(f"{path} is not an HDF5 file: give a trace that 'quorate run' wrote")
    return attempt(file, lambda: read_once(file))
