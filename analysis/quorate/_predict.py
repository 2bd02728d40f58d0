# SPDX-License-Identifier: BSD-2-Clause
"""Predictions, of data sets, files and arrays."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import shown
from ._data import DataSet, columns_of, matrix_of, names_of, places_of
from ._ini import options_in
from ._labels import user_values
from ._native import BadInput, _quorate
from ._result import Result, load
from ._run import _command

# Options of an import with which columns of the data set are the numbers of the file's.
_PLAIN = {
    "categorical": "none",
    "interactions": "1",
    "divide": "1",
    "scale": "none",
    "intercept": "off",
}
# How a DataFrame is written, whatever the file was that the run's data came from.
_WRITTEN = {
    "format": "csv",
    "separator": "comma",
    "decimal": "point",
    "thousands": "none",
    "header": "yes",
}


def _data_of(trace: Result | Path) -> DataSet:
    """The data set of a run."""
    run = trace if isinstance(trace, Result) else load(trace)
    path = run._data if run._data is not None else run.options.get("data", "")
    if path and Path(path).exists():
        return DataSet(path)
    raise BadInput(
        f"the run's data set {shown(os.fspath(path))} is not there, which says what the columns"
        " and classes are: give data as a data set, and keep the run's by dataset(..., path=FILE)"
    )


def _placed(X: Any, own: DataSet) -> list[int] | None:
    """Where the run's columns are in X, by name; None: X has no names, or the same order."""
    theirs = names_of(X, "data")
    numbered = [str(number) for number in range(own.columns)]
    names = own.features or (numbered if sorted(theirs) == sorted(numbered) else [])
    if not names or not theirs:
        return None
    for name in theirs:
        if name not in names:
            raise BadInput(
                f"data has the column {shown(name)}, which the run's data lack: give the same"
                " columns, or an array (to_numpy)"
            )
    return places_of(names, theirs, "data", "the run's data set")


def _same_kind(matrix: tuple[Any, ...], columns: int, dense: bool) -> tuple[Any, ...]:
    """A dense matrix as a sparse one, or the other way round, if the run's data are such."""
    if dense == (len(matrix) == 1):
        return matrix
    from scipy.sparse import csr_matrix

    if dense:
        return (csr_matrix(matrix, shape=(len(matrix[2]) - 1, columns)).toarray(),)
    made = csr_matrix(matrix[0])
    return made.data, made.indices, made.indptr


def _written(X: Any, own: DataSet, path: str) -> None:
    """Writes rows without labels as a data set like the run's."""
    matrix = matrix_of(X, "data")
    columns = columns_of(X, matrix)
    places = _placed(X, own)
    if columns != own.columns:
        raise BadInput(f"data has {columns} columns, the run's data {own.columns}: give the same")
    if places is not None:
        matrix = (matrix[0][:, places],)
    matrix = _same_kind(matrix, columns, own.attributes["dense"] == "1")
    rows = len(matrix[0]) if len(matrix) == 1 else len(matrix[2]) - 1
    if not rows:
        raise BadInput("data has no rows: give some to predict")
    none: tuple[Any, ...] = (
        (np.empty((0, columns)), np.empty(0))
        if len(matrix) == 1
        else (np.empty(0), np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0))
    )
    features, classes = _quorate.data_names(os.fspath(own.path))
    _quorate.write_data(
        path,
        "arrays",
        columns,
        own.attributes["task"],
        int(own.attributes["classes"]),
        classes,
        features,
        own.attributes["image"],
        False,
        (*matrix, np.full(rows, np.nan)),
        none,
        False,
    )


def _as_file(X: Any, own: DataSet, folder: str) -> str:
    """Makes a data set of rows whose columns were encoded by an import, as that would."""
    if not hasattr(X, "to_csv"):
        raise BadInput(
            f"data is {shown(X)}, but the import of {own.path} scaled or encoded its columns: give"
            " a DataFrame of pandas or a file with the columns of the imported one, or a data set"
        )
    names_of(X, "data")
    X.to_csv(f"{folder}/rows.csv", index=False)
    path = f"{folder}/rows.h5"
    files = {"input": f"{folder}/rows.csv", "output": path, "like": own}
    _command("import", [], {**files, "quiet": True, **_WRITTEN})
    return path


def _rows(trace: Result | Path, data: Any, folder: str) -> Any:
    """What the program reads: a file. data: None, or what names one, as it is; arrays as a file."""
    if data is None or isinstance(data, (str, os.PathLike)):
        return data
    own = _data_of(trace)
    recorded = options_in(own.attributes.get("options", ""))
    means = "mean" in recorded.get("missing", "") and hasattr(data, "to_csv")
    if means or any(recorded.get(name, plain) != plain for name, plain in _PLAIN.items()):
        return _as_file(data, own, folder)
    _written(data, own, f"{folder}/rows.h5")
    return f"{folder}/rows.h5"


def predict(
    trace: Result | str | os.PathLike[str],
    data: Any = None,
    split: str | None = None,
    probabilities: bool = False,
    labels: bool = False,
) -> npt.NDArray[Any]:
    """Returns the scores of rows by the final model of a run: one a row, or one for each class.

    data: rows as an array, a DataFrame or a sparse matrix; a data set; or a file such as CSV, which
    is imported like the run's; default: the run's. The columns of a DataFrame are found by name, if
    those of the run's data have names: it needs the same ones, in any order. If the run's data were
    scaled or encoded at their import, or their missing numbers replaced, so are those of a
    DataFrame of pandas; arrays are refused where columns are no longer those of the file.
    split: of a data set or file, train or test; default: test, if there are such rows.
    probabilities: return those of the classes in place of scores, a column for each.
    labels: return the predicted classes in place of scores, as the user's values: the numbers or
    words that labels were (`DataSet.classes`). Of a regression these are the scores.
    """
    import h5py

    if probabilities and labels:
        raise BadInput("probabilities and labels are two results: ask for one at a time")
    if isinstance(trace, Result) and trace.module_state is not None:
        raise BadInput(
            "the run trained a module of PyTorch, which predicts itself: load the state into the"
            " module and call that (quorate.torch.state)"
        )
    with tempfile.TemporaryDirectory(prefix="quorate-") as folder:
        run: Result | Path = trace if isinstance(trace, Result) else Path(trace)
        path = run.save(f"{folder}/trace.h5") if isinstance(run, Result) else run
        rows = _rows(run, data, folder)
        if split is not None and rows is not data:
            raise BadInput("split is of data sets, but data are rows: leave it out")
        output = f"{folder}/scores.h5"
        given = {"data": rows, "output": output, "quiet": True, "split": split}
        _command("predict", [os.fspath(path)], given)
        with h5py.File(output) as file:
            if probabilities and "probability" not in file:
                raise BadInput(
                    "the model tells no probabilities: leave out probabilities=True, or train"
                    " logistic, softmax or a network on classes"
                )
            if labels and "predicted" in file:
                names = [name.decode("utf-8", "surrogateescape") for name in file["class/name"][:]]
                return np.asarray(user_values(names)[file["predicted"][:]])
            scores = np.array(file["probability" if probabilities else "score"])
            return scores[:, 0] if scores.shape[1] == 1 else scores
