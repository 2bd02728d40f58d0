# SPDX-License-Identifier: BSD-2-Clause
"""Reads traces; docs/trace.md says what they hold."""

import io
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import h5py
import numpy as np
import numpy.typing as npt
import pandas as pd

from .._ini import options_in
from .journal import Committed

FORMAT = 7  # the version that is read
TRIES = 3  # a trace that is being written may be caught in the middle of a commit
NEEDED = ("scheme", "status", "data", "rows", "columns", "workers", "optimizer", "delay", "clock")
EAGER = ("round", "evaluation", "worker", "membership")
DIED = 3  # the kind of a row of membership
APART = 8  # one that is no change: it keeps changes apart for replays
RUN_TRACE = "trace.h5"  # in a folder that --folder made
DATA = "data_sha256"  # the attribute that tells the data set from any other
DIVERGED = 1.5  # times the loss of the first point

T = TypeVar("T")
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Attribute = str | np.int64 | np.float64


class BadInput(Exception):
    """What the user gave cannot be used; the message says what would be right."""


class NoTrace(BadInput):
    """A file that is there, and is something else."""


def shown(text: str) -> str:
    """Text of files with those bytes replaced that are no UTF-8, which Python keeps
    (surrogateescape) and cannot print, and those characters that a terminal would obey."""
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "?", text)


@dataclass
class Trace:
    """One run. Times are seconds. Texts are to be shown."""

    path: Path
    attributes: dict[str, Attribute]
    round: pd.DataFrame
    evaluation: pd.DataFrame
    worker: pd.DataFrame
    membership: pd.DataFrame

    def __post_init__(self) -> None:
        self.membership = self.membership[self.membership["kind"] != APART]
        # With its bytes, to be found by.
        self._data = options_in(str(self.attributes.get("config", ""))).get("data", "")
        self.attributes = {
            name: shown(value) if isinstance(value, str) else value
            for name, value in self.attributes.items()
        }

    @property
    def name(self) -> str:
        """The file's name; of a run with a folder of its own (--folder) that of the folder."""
        own = self.path.name
        return shown(self.path.absolute().parent.name if own == RUN_TRACE else own)

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
    def config(self) -> dict[str, str]:
        """The options of the run by name."""
        return options_in(str(self.attributes.get("config", "")))

    @property
    def rounds(self) -> int:
        """Rounds done."""
        return len(self.round)

    @property
    def time(self) -> float:
        """Seconds from the first dispatch to the last update, on the clock of the run."""
        return float(self.round["time"].iloc[-1]) if self.rounds else 0.0

    @property
    def edges(self) -> Floats:
        """When rounds end, after 0: round r, counted from 1, begins at edges[r - 1]."""
        return np.concatenate([[0.0], self.round["time"]])

    @property
    def durations(self) -> Floats:
        """Seconds of each round."""
        return np.diff(self.edges)

    @property
    def time_per_round(self) -> float:
        """Seconds; NaN before the first update."""
        return self.time / self.rounds if self.rounds else float("nan")

    @property
    def evaluated(self) -> bool:
        """Whether models were scored. Interrupted and running traces were not."""
        return len(self.evaluation) > 0

    @property
    def dry(self) -> bool:
        """Whether only times were simulated."""
        return not self.attributes["data"]

    @property
    def decode_error(self) -> float:
        """|B'a - 1|^2, mean over the rounds; NaN before the first update."""
        return float(self.round["decode_error"].to_numpy().mean()) if self.rounds else float("nan")

    @property
    def optimum(self) -> float:
        """The reference optimum of the objective; NaN if `quorate optimum` has not found it, or if
        models were scored on some rows only."""
        rows = self.attributes.get("rows")
        if self.attributes.get("scored_rows", rows) != rows:
            return float("nan")
        wanted = [self.attributes.get(name) for name in ("model", "l2", "l1", "rows")]
        data = Path(self._data)
        if not data.name:
            return float("nan")
        # As the option was typed, from here or from where the trace is.
        for path in (data, self.path.parent / data):
            path = path.with_suffix(".optima.h5")
            if not path.is_file():
                continue
            with open_to_read(path) as file:
                for one in file.values():
                    attributes = read_attributes(one)
                    if not self.on_same_data(attributes):
                        continue
                    if [attributes[n] for n in ("model", "l2", "l1", "rows")] == wanted:
                        return float(attributes["objective"])
        return float("nan")

    def on_same_data(self, attributes: Mapping[str, Attribute]) -> bool:
        """Whether another trace or an optimum, by its attributes, can be of this run's data set.
        A dry run does not tell."""
        mine, theirs = self.attributes.get(DATA), attributes.get(DATA)
        return mine == theirs or not mine or not theirs

    @property
    def losses(self) -> Floats:
        """Training losses: of models scored, else the estimates of the rounds."""
        if self.evaluated:
            return np.array(self.evaluation["train_loss"])
        return np.array([]) if self.dry else np.array(self.round["loss_estimate"])

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
        return float(self.evaluation[score].iloc[-1]) if self.evaluated else float("nan")

    @property
    def diverged(self) -> bool:
        """Whether the loss ended as no number, or well above where it began."""
        if not len(self.losses):
            return False
        return not np.isfinite(self.final_loss) or self.final_loss > DIVERGED * self.first_loss

    @cached_property
    def deaths(self) -> pd.DataFrame:
        """The rows of membership that say that a worker died, in their order."""
        return self.membership[self.membership["kind"] == DIED]

    @property
    def lost(self) -> int:
        """How many workers died, each counted once. Those that left with notice were not lost."""
        return int(self.deaths["worker"].nunique())

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

    def arrivals(self, *columns: str, last: int = sys.maxsize) -> pd.DataFrame:
        """Columns of the arrival table, which is read when it is asked for and not kept."""

        def read() -> pd.DataFrame:
            with open_trace(self.path) as file:
                return read_table(file["arrival"], columns, last)

        return attempt(self.path, read)

    @cached_property
    def lost_rounds(self) -> pd.DataFrame:
        """The rounds that were lost because the run went back to a checkpoint: the columns of
        `round`, the `number` of the round, and which `loss` it was, from 0."""
        return self._lost_in(self.path)

    def _lost_in(self, path: Path | None) -> pd.DataFrame:
        """path: of its file; None: it has none, and has lost no rounds."""

        def read(file: Path) -> list[tuple[pd.DataFrame, int]]:
            with open_trace(file) as trace:
                groups = [trace["lost"][str(loss)] for loss in range(len(trace.get("lost", ())))]
                return [(read_table(one["round"]), int(one.attrs["first_round"])) for one in groups]

        lost = attempt(path, partial(read, path)) if path else []
        tables = [
            rows.assign(number=first + np.arange(len(rows)), loss=np.full(len(rows), loss))
            for loss, (rows, first) in enumerate(lost or [(self.round[:0], 1)])
        ]
        return pd.concat(tables, ignore_index=True)

    @property
    def lists_all_arrivals(self) -> bool:
        return str(self.attributes.get("trace_arrivals", "all")) == "all"


def open_trace(path: Path) -> h5py.File:
    """Opens a trace for reading, as its last commit made it.

    Of a run that was killed in the middle of a commit, the pages that it was about to overwrite
    are in a journal beside the trace, each after its number.
    """
    journal = Path(f"{path}.journal")
    if not journal.is_file():
        return open_to_read(path)
    return h5py.File(Committed(path, journal), "r")


def open_to_read(path: Path) -> h5py.File:
    """Opens a file of HDF5, whatever lock another reader or writer holds.

    A process that has the file open already, as xarray does, may have it with a lock. HDF5 then
    refuses to open it without one, but not to read it through a file object.
    """
    try:
        return h5py.File(path, "r", locking=False)
    except OSError:
        return h5py.File(Source(path), "r")


class Source(io.FileIO):
    """A file that is closed together with the last that reads it."""

    def __del__(self) -> None:
        self.close()


def read_attributes(node: h5py.Group) -> dict[str, Attribute]:
    """The attributes of a file or group. h5py gives strings of fixed length as bytes."""
    return {
        name: value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
        for name, value in node.attrs.items()
    }


def read_table(
    table: h5py.Group, columns: Iterable[str] = (), last: int = sys.maxsize
) -> pd.DataFrame:
    """Some columns of a table, or all, and so many of its last rows. Of a run that was killed or
    goes on, the rows that all columns have."""
    found = {name: table[name] for name in columns or table}
    for name, column in found.items():
        if not isinstance(column, h5py.Dataset) or column.ndim != 1:
            raise KeyError(f"{name} is no column")
    rows = min(len(column) for column in found.values())
    begin = max(0, rows - last)
    return pd.DataFrame({name: c[begin:rows] for name, c in found.items()}, copy=False)


def read_once(path: Path) -> Trace:
    with open_trace(path) as file:
        attributes = read_attributes(file)
        if attributes.get("format") != "quorate trace":
            raise NoTrace(f"{path} is not a trace: give one that 'quorate run' wrote")
        if attributes.get("format_version") != FORMAT:
            raise BadInput(
                f"{path} has trace format {attributes.get('format_version')}, this reads "
                f"{FORMAT}: use the analysis of the Quorate that wrote it"
            )
        for name in NEEDED:
            if name not in attributes:
                raise KeyError(f"no attribute {name}")
        if "arrival" not in file:
            raise KeyError("no table arrival")
        tables = {name: read_table(file[name]) for name in EAGER}
    # Scored as the run went on, after it, or by `quorate evaluate`: in any order.
    scored = tables["evaluation"].sort_values("round", kind="stable", ignore_index=True)
    # A commit may have brought the score of a round before the round.
    tables["evaluation"] = scored[scored["round"] <= len(tables["round"])]
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
    if (file / RUN_TRACE).is_file():  # the folder of a run
        file = file / RUN_TRACE
    if file.is_dir():
        raise NoTrace(f"{path} is a folder: give a trace that 'quorate run' wrote")
    if not file.is_file():
        raise BadInput(f"{path} is not a file: give a trace that 'quorate run' wrote")
    with as_bad_input(file):
        if not h5py.is_hdf5(file):
            raise NoTrace(f"{path} is not an HDF5 file: give a trace that 'quorate run' wrote")
    return attempt(file, lambda: read_once(file))
