# SPDX-License-Identifier: BSD-2-Clause
"""What runs give: tables as DataFrames, figures, files."""

from __future__ import annotations

import html
import os
import shutil
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._folder import Folder
from ._ini import options_in
from ._native import BadInput, _quorate

if TYPE_CHECKING:
    import pandas as pd

    from ._quorate import Trace as Native
    from .analysis.traces import Trace

Floats = npt.NDArray[np.float64]


class Result:
    """One run. Times are seconds on the run's clock; docs/trace.md explains all columns.

    rounds, arrivals, evaluations, workers, membership: tables as DataFrames; `units` has the units
    of their columns. model: the final parameters; those of other rounds are only in files, the
    traces of `quorate run` with --evaluate-every. attributes: what the run was. `array` gives a
    column without a copy.
    """

    def __init__(self, trace: Native, label: str = "", data: Any = None) -> None:
        self._trace = trace
        self._data = data  # whose file predictions look at
        self.path: Path | None = None  # of the file that it was read from
        self._folder: Folder | None = None  # of that file, if nobody else has it
        self.label = label or self.attributes["scheme"]
        self.module_state: dict[str, Any] | None = None  # of a Task: what quorate.torch.state gives

    def __copy__(self) -> Result:
        made = Result(self._trace, self.label, self._data)
        made.path, made._folder, made.module_state = self.path, self._folder, self.module_state
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        folder = Folder()
        content = self.save(folder.path / "trace.h5").read_bytes()
        return _restored, (content, self.label, self.module_state)

    @cached_property
    def attributes(self) -> dict[str, Any]:
        return dict(self._trace.attributes)

    @cached_property
    def options(self) -> dict[str, str]:
        """The options of the run by name, as recorded."""
        return options_in(self.attributes["config"])

    def array(self, table: str, column: str) -> Any:
        """A column of a table ("round", "arrival", ...) as an array that looks into the result."""
        return self._trace.table(table)[column]

    def table(self, name: str) -> pd.DataFrame:
        """A table of the trace as a DataFrame, with the columns' units in `.attrs["units"]`."""
        import pandas as pd

        frame = pd.DataFrame(self._trace.table(name))
        frame.attrs["units"] = {c: u for c, u in _quorate.units[name].items() if u}
        return frame

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """A row for each model update; the index is the round, from 1."""
        frame = self.table("round")
        frame.index = frame.index + 1
        frame.index.name = "round"
        return frame

    @cached_property
    def arrivals(self) -> pd.DataFrame:
        """A row for each contribution that came, used or not."""
        return self.table("arrival")

    @cached_property
    def evaluations(self) -> pd.DataFrame:
        """A row for each model that was scored."""
        return self.table("evaluation")

    @cached_property
    def workers(self) -> pd.DataFrame:
        return self.table("worker")

    @cached_property
    def membership(self) -> pd.DataFrame:
        return self.table("membership")

    @property
    def model(self) -> Floats:
        """The final parameters, of a run in memory and of a trace that was read alike. Raises
        BadInput if there are none: of a dry run, and of a run that has not ended."""
        model = self._trace.model
        if len(model):
            return model
        if not self.attributes["data"]:
            raise BadInput(f"{self.label} was a dry run, which trains no model: give it data")
        raise BadInput(
            f"the trace of {self.label} has no final model, its run is {self.status}: let it end,"
            " or resume it if it was killed"
        )

    @property
    def status(self) -> str:
        return str(self.attributes["status"])

    @property
    def time(self) -> float:
        """Seconds from the first dispatch to the last update."""
        times = self.array("round", "time")
        return float(times[-1]) if len(times) else 0.0

    @property
    def time_per_round(self) -> float:
        return self.time / max(1, len(self.array("round", "time")))

    @property
    def loss(self) -> float:
        """Training loss of the last model scored; else the last round's estimate."""
        scored = self.array("evaluation", "train_loss")
        return float(scored[-1] if len(scored) else self.array("round", "loss_estimate")[-1])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the trace to a file, as `quorate run --trace FILE` does, without the iterates."""
        if self.path is not None:
            if Path(path).exists():
                raise BadInput(f"{path} is there already: give another name, or remove it")
            shutil.copyfile(self.path, path)
        else:
            self._trace.save(os.fspath(path))
        return Path(path)

    def to_trace(self) -> Trace:
        """The run as `quorate.analysis` reads it from a file."""
        from ._kept import kept

        return kept(self.label, self.attributes, self.table, self.path)

    def plot(self, ax: Any = None) -> Any:
        """Draws the training loss against time; of a dry run, the durations of rounds."""
        return Comparison([self]).plot(ax)

    def __eq__(self, other: object) -> bool:
        """Whether both runs had the same options."""
        return isinstance(other, Result) and self.options == other.options

    __hash__ = None  # type: ignore[assignment]

    def _facts(self) -> dict[str, str]:
        from .analysis.numbers import shown_seconds

        rounds = len(self.array("round", "time"))
        facts = {
            "scheme": self.label,
            "workers": str(self.attributes["workers"]),
            "status": self.status,
            "rounds": str(rounds),
            "time": f"{shown_seconds(self.time)}, {shown_seconds(self.time_per_round)} a round",
            "decode error": f"{self.array('round', 'decode_error').mean():.3g}" if rounds else "-",
        }
        if self.attributes["data"] and rounds:
            facts["training loss"] = f"{self.loss:.6g}"
        return facts

    def __repr__(self) -> str:
        return (
            "Result(" + ", ".join(f"{name}: {text}" for name, text in self._facts().items()) + ")"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{name}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in self._facts().items()
        )
        return f"<table>{rows}</table>"


def _restored(content: bytes, label: str, module_state: dict[str, Any] | None) -> Result:
    folder = Folder()
    result = load(folder.file("trace.h5", content))
    result.label, result._folder, result.module_state = label, folder, module_state
    return result


def load(path: str | os.PathLike[str]) -> Result:
    """Reads the trace of a run from its file."""
    result = Result(_quorate.read_trace(os.fspath(path)))
    result.path = Path(path)
    return result


class Comparison(Sequence[Result]):
    """Runs side by side, such as `compare` and `sweep` make them."""

    def __init__(self, results: Iterable[Result]) -> None:
        self.results = list(results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, i: Any) -> Any:
        return self.results[i]

    @property
    def table(self) -> pd.DataFrame:
        """A row for each run."""
        import pandas as pd

        rows = [
            {
                "scheme": one.label,
                "seed": int(one.attributes["seed"]),
                "rounds": len(one.array("round", "time")),
                "time": one.time,
                "time_per_round": one.time_per_round,
                "decode_error": float(np.mean(one.array("round", "decode_error"))),
                "used": float(np.mean(one.array("round", "used"))),
                "loss": one.loss if one.attributes["data"] else float("nan"),
            }
            for one in self.results
        ]
        return pd.DataFrame(rows)

    @property
    def summary(self) -> pd.DataFrame:
        """Means over the seeds, with the standard error of the time of a round."""
        grouped = self.table.groupby("scheme", sort=False)
        means = grouped[["time_per_round", "decode_error", "used", "loss"]].mean()
        means.insert(1, "standard_error", grouped["time_per_round"].sem())
        # Dry runs have no loss, and one seed no standard error.
        return means.dropna(axis="columns", how="all").sort_values("time_per_round")

    def plot(self, ax: Any = None) -> Any:
        """Draws the training loss against time, a line for each run; of dry runs, which have none,
        the share of rounds that took no longer than a time."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        dry = not any(one.attributes["data"] for one in self.results)
        labels = list(dict.fromkeys(one.label for one in self.results))
        for one in self.results:
            color = f"C{labels.index(one.label) % 10}"
            first = one is next(r for r in self.results if r.label == one.label)
            style = {"color": color, "label": one.label if first else None, "linewidth": 1.3}
            if dry:
                edges = np.concatenate([[0.0], one.array("round", "time")])
                durations = np.sort(np.diff(edges))
                ax.step(durations, np.arange(1, len(durations) + 1) / len(durations), **style)
                continue
            scored = one.array("evaluation", "round")
            if len(scored):
                ax.plot(
                    one.array("evaluation", "time"), one.array("evaluation", "train_loss"), **style
                )
            else:
                ax.plot(one.array("round", "time"), one.array("round", "loss_estimate"), **style)
        ax.set_xlabel("duration of a round [s]" if dry else "time [s]")
        ax.set_ylabel("share of rounds" if dry else "training loss")
        ax.legend(frameon=False)
        return ax

    def report(self, out: str | os.PathLike[str]) -> Path:
        """Writes a page of figures and tables of these runs, as `quorate analysis report` does, and
        their traces beside it. Returns the path of the page."""
        from .analysis.cli import main

        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for number, one in enumerate(self.results, start=1):
            name = "".join(c if c.isalnum() else "-" for c in one.label)
            paths.append(os.fspath(one.save(folder / f"{number}-{name}.h5")))
        if main(["report", *paths, "--any-data", "--out", os.fspath(folder)]) != 0:
            raise BadInput(f"no report of these runs can be written to {folder}: see above")
        return folder / "index.html"

    def __repr__(self) -> str:
        return repr(self.summary)

    def _repr_html_(self) -> str:
        return str(self.summary.to_html(float_format="{:.4g}".format))
