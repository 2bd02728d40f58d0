# SPDX-License-Identifier: BSD-2-Clause
"""What other commands do: advice, cross-validation, optima, predictions, data sets."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._components import Component
from ._data import DataSet
from ._native import BadInput, _quorate
from ._options import document, option_name, text_of
from ._progress import Progress
from ._run import _command, _prepared
from ._tasks import keywords_of, watched
from ._threads import one_thread

if TYPE_CHECKING:
    import pandas as pd


class Advice:
    """Schemes with their redundancy: those with most seeds first, of these the fastest.

    table: a row for each, with the doubt for which one is not recommended. best: the first without
    doubt, as `simulate` and `run` take it.
    """

    def __init__(self, table: pd.DataFrame, schemes: list[Component]) -> None:
        self.table, self.schemes = table, schemes

    @property
    def best(self) -> Component:
        return self.schemes[int(np.argmax(self.table["recommended"]))]

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        return str(self.table.to_html(float_format="{:.4g}".format))


def advise(data: Any = None, **options: Any) -> Advice:
    """Simulates schemes with all redundancies that make sense, on all cores, and ranks them by the
    time to a target: a training loss, or without data the progress of so many exact rounds. Half of
    the 95 % confidence interval of that time is Student's t over seeds; NaN if there is none.
    Options:
    """
    import pandas as pd

    progress: Progress | None = None

    def show(done: int, count: int) -> None:
        nonlocal progress
        progress = progress or Progress(count, "simulations")
        progress.step()

    prepared = _prepared(data, options)
    with one_thread(), watched(data):
        advice = _quorate.advise(prepared, show)
    rows, schemes = [], []
    for found in advice:
        name, own, seconds, half, per_round, rounds, closed, fastest = found[:8]
        least, left, doubt, best = found[8:]
        schemes.append(Component("scheme", name, dict(own)))
        rows.append(
            {
                "scheme": schemes[-1].label,
                "seconds": float(np.mean(seconds)),
                "half_interval": float("nan") if half is None else half,
                "simulations": len(seconds),
                "time_per_round": per_round,
                "rounds": rounds,
                "closed_form": float("nan") if closed is None else closed,
                "fastest": fastest,
                "least_row_weight": float("nan") if least is None else least,
                "rows_left_out": float("nan") if left is None else left,
                "doubt": doubt,
                "recommended": best,
            }
        )
    return Advice(pd.DataFrame(rows), schemes)


@dataclass
class Tuning:
    """Scores of a grid: a row for each point and fold. best: the options of the best point."""

    table: pd.DataFrame
    best: dict[str, float | str]


def tune(
    data: Any, grid: dict[str, list[Any] | str], metric: str = "loss", **options: Any
) -> Tuning:
    """Cross-validation: trains without stragglers at each point of the grid, with each part of the
    training rows held out in turn. grid: values by option, of which a text may be a range:
    `{"l2": "1e-5..1e-1x5", "step": [0.1, 1]}` tries five values at equal ratios, and two.
    metric: loss, accuracy, auc, f1 or mse. Options:
    """
    import pandas as pd

    text = ",".join(
        f"{option_name(name)}={':'.join(text_of(name, one) for one in np.atleast_1d(values))}"
        for name, values in grid.items()
    )
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/scores.csv"
        given = {"grid": text, "metric": metric, "output": path, **options}
        with one_thread(), watched(data):
            _command("tune", [], keywords_of(data, given))
        table = pd.read_csv(path)
    names = [option_name(name) for name in grid]
    means = table.groupby(names, sort=False)[metric].mean()
    best = means.idxmin() if metric in ("loss", "mse") else means.idxmax()
    point = best if isinstance(best, tuple) else (best,)
    return Tuning(table, dict(zip(grid, point)))


class Optimum(NamedTuple):
    """The least value of an objective, a bound that it is not below, and the gradient's norm."""

    objective: float
    bound: float
    gradient_norm: float


def optimum(data: Any, **options: Any) -> Optimum:
    """Finds a reference optimum of a linear model, and keeps it beside the data set. Options:"""
    told = _command("optimum", [], {"data": data, **options})
    found = re.search(r"objective (\S+), not below (\S+), gradient (\S+),", told)
    if found is None:
        raise BadInput(f"no optimum was found: {told.strip()}")
    return Optimum(*(float(number) for number in found.groups()))


def inspect(
    path: str | os.PathLike[str],
    coefficients: int | str | None = None,
    *,
    check: Any = None,
    check_rounds: int | str | None = None,
) -> dict[str, Any]:
    """Returns what there is to know of a trace or a data set, after checking it.

    coefficients: so many of the largest of a linear model's, or "all", by the names of columns.
    check: the run's data set, to compute estimates of a trace of `trace_weights` again, those of
    check_rounds rounds, 10 or "all". Raises Failure if one is not what the run used.
    """
    wanted = {"coefficients": coefficients, "check": check, "check_rounds": check_rounds}
    given = {"json": True, **{name: one for name, one in wanted.items() if one is not None}}
    told: dict[str, Any] = json.loads(_command("inspect", [os.fspath(path)], given))
    return told


def _made(command: str, output: str | os.PathLike[str], options: dict[str, Any]) -> DataSet:
    _command(command, [], {"output": output, "quiet": True, **options})
    return DataSet(output)


def import_(
    input: Any, output: str | os.PathLike[str], *, overwrite: bool = False, **options: Any
) -> DataSet:
    """Makes a data set from files: CSV, libsvm, IDX, .... overwrite: replace a data set of that
    name. Options:"""
    return _made("import", output, {"input": input, "overwrite": overwrite, **options})


def generate(output: str | os.PathLike[str], *, overwrite: bool = False, **options: Any) -> DataSet:
    """Makes a synthetic data set. overwrite: replace a data set of that name. Options:"""
    return _made("generate", output, {"overwrite": overwrite, **options})


_DOCUMENTED: dict[str, Callable[..., Any]] = {
    "advise": advise,
    "tune": tune,
    "optimum": optimum,
    "import": import_,
    "generate": generate,
}
for _command_name, _function in _DOCUMENTED.items():
    document(_function, _command_name)
