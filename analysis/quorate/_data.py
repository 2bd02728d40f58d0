# SPDX-License-Identifier: BSD-2-Clause
"""Data sets: arrays of NumPy, SciPy and pandas, and files."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._native import BadInput, _quorate

TASKS = ("binary", "multiclass", "regression")


class DataSet:
    """A data set in a file, which lives as long as this object if it was made of arrays."""

    def __init__(self, path: str | os.PathLike[str], folder: Any = None) -> None:
        self.path = Path(path)
        self._folder = folder
        self.attributes: dict[str, str] = _quorate.data_attributes(os.fspath(path))
        self.rows, self.test_rows = _quorate.data_rows(os.fspath(path))

    @property
    def columns(self) -> int:
        return int(self.attributes["columns"])

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def arrays(self, split: str = "train") -> tuple[Any, npt.NDArray[np.float64]]:
        """Returns X, y of the training or test rows; X is a csr_matrix if the data are sparse."""
        if split not in ("train", "test"):
            raise BadInput(f"split is {split!r}: use train or test")
        *matrix, labels = _quorate.read_data(os.fspath(self.path), split)
        if len(matrix) == 1:
            return matrix[0], labels
        from scipy.sparse import csr_matrix

        return csr_matrix(tuple(matrix), shape=(len(labels), self.columns)), labels

    def save(self, path: str | os.PathLike[str]) -> DataSet:
        """Copies the data set to a file that stays."""
        import shutil

        if Path(path).exists():
            raise BadInput(f"{path} is there already: give another name")
        shutil.copyfile(self.path, path)
        return DataSet(path)

    def __repr__(self) -> str:
        return (
            f"DataSet({str(self.path)!r}: {self.rows} x {self.columns} training rows,"
            f" {self.test_rows} test rows, {self.attributes['task']})"
        )


def open(path: str | os.PathLike[str]) -> DataSet:
    """Opens a data set that `quorate import` or `generate` wrote."""
    return DataSet(path)


def _numbered(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Labels as numbers, words by the alphabet as `quorate import` takes them; and these words."""
    if labels.dtype.kind not in "OUS":
        return labels.astype(np.float64), []
    for row, label in enumerate(labels):
        if label is None or label != label or str(label) in ("", "<NA>"):
            raise BadInput(f"label {row} is missing: leave out the rows without label")
    texts = [label.decode() if isinstance(label, bytes) else str(label) for label in labels]
    try:
        numbers = np.array(texts, np.float64)
        if np.isfinite(numbers).all():
            return numbers, []
    except ValueError:
        pass
    words, places = np.unique(texts, return_inverse=True)
    return places.astype(np.float64), [str(word) for word in words]


def _labels(y: Any, task: str | None) -> tuple[npt.NDArray[np.float64], str, int, list[str]]:
    """Labels as data sets store them, what they mean, how many classes, and their names if any."""
    labels, words = _numbered(np.asarray(y).ravel())
    if words and task == "regression":
        raise BadInput(f"task is 'regression', but {words[0]!r} is no number: leave task out")
    values = np.unique(labels)
    if task is None:
        whole = np.isfinite(labels).all() and (labels == np.round(labels)).all()
        integers = bool(words) or np.asarray(y).dtype.kind in "iub"
        two = len(values) <= 2 and whole
        task = "binary" if two else "multiclass" if whole and integers else "regression"
    if task not in TASKS:
        raise BadInput(f"task is {task!r}: use {', '.join(TASKS)}")
    if task == "binary":
        if len(values) != 2:
            raise BadInput(
                f"a binary task has two different labels, here there are {len(values)}: give both,"
                " or task='multiclass' or 'regression'"
            )
        return np.where(labels == values[1], 1.0, -1.0), task, 2, words
    if task == "multiclass":
        if not ((values >= 0) & (values == np.round(values))).all():
            raise BadInput("labels of a multiclass task are whole numbers from 0: encode them so")
        return labels, task, int(values[-1]) + 1, words
    return labels, task, 0, words


def _matrix(X: Any) -> tuple[Any, ...]:
    """(values,) of a dense matrix, (values, columns, starts) of a sparse one."""
    if hasattr(X, "tocsr"):
        rows = X.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy() if rows is X else rows
            rows.sum_duplicates()
        return rows.data, rows.indices, rows.indptr
    dense = np.asarray(X, dtype=np.float64)
    if dense.ndim != 2:
        raise BadInput(f"X has the shape {dense.shape}: give rows x columns")
    return (dense,)


def _columns(X: Any) -> int:
    return int((X if hasattr(X, "shape") else np.asarray(X)).shape[1])


def dataset(
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    task: str | None = None,
    image: str = "",
    name: str = "arrays",
    path: str | os.PathLike[str] | None = None,
) -> DataSet:
    """Makes a data set of arrays, DataFrames or sparse matrices.

    X: rows x columns; y: a label a row: two classes, integers from 0, numbers, or words, which are
    classes by the alphabet and keep their names. task: binary, multiclass or regression; default:
    what y looks like. image: CxHxW, if rows are images. path:
    the file to write; default: one in the folder for temporary files, which is removed with the
    object. In a run over MPI each rank makes its own; where that is too much, one process writes a
    file before the run, and all ranks `open` it.
    """
    train = _matrix(X)
    columns = _columns(X)
    labels, task, classes, words = _labels(y, task)
    if (X_test is None) != (y_test is None):
        raise BadInput("test rows need X_test and y_test: give both, or none")
    if X_test is None:
        test: tuple[Any, ...] = (
            (np.empty((0, columns)),)
            if len(train) == 1
            else (np.empty(0), np.empty(0, np.int64), np.zeros(1, np.int64))
        )
        test_labels = np.empty(0)
    else:
        test = _matrix(X_test)
        if _columns(X_test) != columns:
            raise BadInput(f"X_test has {_columns(X_test)} columns, X has {columns}: give the same")
        both, task, classes, words = _labels(np.concatenate([np.ravel(y), np.ravel(y_test)]), task)
        labels, test_labels = both[: len(labels)], both[len(labels) :]
    if len(train) != len(test):
        raise BadInput("X and X_test are a dense and a sparse matrix: give two of a kind")
    folder = None
    if path is None:
        folder = tempfile.TemporaryDirectory(prefix="quorate-")
        path = Path(folder.name) / "data.h5"
    elif Path(path).exists():
        raise BadInput(f"{path} is there already: give another name, or open it")
    ones = len(train) == 3 and bool(np.all(train[0] == 1) and np.all(test[0] == 1))
    _quorate.write_data(
        os.fspath(path),
        name,
        columns,
        task,
        classes,
        words,
        image,
        ones,
        False,
        (*train, labels),
        (*test, test_labels),
    )
    made = DataSet(path, folder)
    if folder is not None:
        weakref.finalize(made, folder.cleanup)
    return made
