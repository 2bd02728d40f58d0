# SPDX-License-Identifier: BSD-2-Clause
"""Data sets: arrays of NumPy, SciPy and pandas, and files."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import reals, shown
from ._folder import Folder
from ._labels import labels_of, user_values
from ._native import BadInput, _quorate


def _restored(content: bytes) -> DataSet:
    folder = Folder()
    return DataSet(folder.file("data.h5", content), folder)


class DataSet:
    """A data set in a file. If it was made of arrays, the file lives as long as this object and its
    copies, and is part of what pickle makes of them."""

    def __init__(self, path: str | os.PathLike[str], folder: Folder | None = None) -> None:
        self.path = Path(path)
        self._folder = folder
        self.attributes: dict[str, str] = _quorate.data_attributes(os.fspath(path))
        self.rows, self.test_rows = _quorate.data_rows(os.fspath(path))

    def __copy__(self) -> DataSet:
        return DataSet(self.path, self._folder)

    def __deepcopy__(self, memo: Any) -> DataSet:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._folder is None:
            return DataSet, (self.path.absolute(),)
        return _restored, (self.path.read_bytes(),)

    @property
    def columns(self) -> int:
        return int(self.attributes["columns"])

    @cached_property
    def features(self) -> list[str]:
        """The names of the columns; empty: they have none."""
        return list(_quorate.data_names(os.fspath(self.path))[0])

    @cached_property
    def classes(self) -> npt.NDArray[Any]:
        """What the user calls the classes, by number: numbers, or words; empty of a regression. Of
        two classes the first one is -1 in `arrays()`, the second one 1."""
        return user_values(_quorate.data_names(os.fspath(self.path))[1])

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def arrays(self, split: str = "train") -> tuple[Any, npt.NDArray[np.float64]]:
        """Returns X, y of the training or test rows; X is a csr_matrix if the data are sparse."""
        if split not in ("train", "test"):
            raise BadInput(f"split is {shown(split)}: use train or test")
        *matrix, labels = _quorate.read_data(os.fspath(self.path), split)
        if len(matrix) == 1:
            return matrix[0], labels
        from scipy.sparse import csr_matrix

        return csr_matrix(tuple(matrix), shape=(len(labels), self.columns)), labels

    def save(self, path: str | os.PathLike[str]) -> DataSet:
        """Copies the data set to a file that stays."""
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


def _sparse(X: Any, what: str) -> tuple[Any, ...]:
    """Values, columns and starts of rows, whose columns ascend. The entries of one place add up."""
    from scipy.sparse import coo_matrix

    try:
        if hasattr(X, "check_format"):
            X.check_format(full_check=True)
        if X.dtype.kind == "b":  # true and true is true
            X = X.tocsr(copy=True)
            X.sum_duplicates()
        if getattr(X, "format", "") != "csr" or not X.has_canonical_format:
            entries = X.tocoo()
            # In double precision before sums are formed, which could overflow.
            values = reals(entries.data, f"{what}.data")
            X = coo_matrix((values, (entries.row, entries.col)), X.shape).tocsr()
    except (TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{what} is no sparse matrix, its arrays contradict: {error}") from error
    return reals(X.data, f"{what}.data"), X.indices, X.indptr


def matrix_of(X: Any, what: str) -> tuple[Any, ...]:
    """(values,) of a dense matrix, (values, columns, starts) of a sparse one."""
    if hasattr(X, "tocsr"):
        return _sparse(X, what)
    dense = reals(X, what)
    if dense.ndim != 2:
        raise BadInput(f"{what} has the shape {dense.shape}: give rows x columns")
    return (dense,)


def columns_of(X: Any, matrix: tuple[Any, ...]) -> int:
    return int(matrix[0].shape[1] if len(matrix) == 1 else X.shape[1])


def names_of(X: Any, what: str) -> list[str]:
    """The names of a DataFrame's columns; none of an array."""
    if not hasattr(X, "columns") or hasattr(X, "tocsr"):
        return []
    # Arrow's tables have columns that are no names.
    names = [str(name) for name in getattr(X, "column_names", X.columns)]
    for name, count in Counter(names).items():
        if count > 1:
            raise BadInput(
                f"{what} has {count} columns {shown(name)}: rename them, or give {what}.to_numpy()"
            )
    return names


def places_of(names: list[str], theirs: list[str], what: str, like: str) -> list[int]:
    """Where the columns that `like` has are among those of `what`."""
    place = {name: number for number, name in enumerate(theirs)}
    for name in names:
        if name not in place:
            raise BadInput(
                f"{what} has no column {shown(name)}, which {like} has: give both the same columns,"
                " or arrays (to_numpy)"
            )
    return [place[name] for name in names]


def _check_index(X: Any, y: Any, of: str) -> None:
    """Refuses rows and labels of pandas that have one index in two orders."""
    if not all(hasattr(getattr(one, "index", None), "equals") for one in (X, y)):
        return
    rows, labels = X.index, y.index
    if rows.equals(labels):
        return
    if len(rows) == len(labels) and rows.is_unique and not len(rows.difference(labels)):
        raise BadInput(
            f"X{of} and y{of} have one index in two orders: give y{of}.loc[X{of}.index] if labels"
            f" belong to rows by it, or y{of}.to_numpy() if by their order"
        )


def _test_matrix(X_test: Any, X: Any, train: tuple[Any, ...]) -> tuple[Any, ...]:
    """The test rows as matrix_of() has the training rows, and in the order of their columns."""
    columns, names = columns_of(X, train), names_of(X, "X")
    if X_test is None:
        if len(train) == 1:
            return (np.empty((0, columns)),)
        return np.empty(0), np.empty(0, np.int64), np.zeros(1, np.int64)
    test = matrix_of(X_test, "X_test")
    theirs = names_of(X_test, "X_test")
    if columns_of(X_test, test) != columns:
        raise BadInput(
            f"X_test has {columns_of(X_test, test)} columns, X has {columns}: give the same"
        )
    if names and theirs and names != theirs:
        test = (test[0][:, places_of(names, theirs, "X_test", "X")],)
    if len(train) != len(test):
        raise BadInput("X and X_test are a dense and a sparse matrix: give two of a kind")
    return test


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
    overwrite: bool = False,
) -> DataSet:
    """Makes a data set of arrays, DataFrames or sparse matrices.

    X: rows x columns; the names of a DataFrame's columns are kept. y: a label a row, by the rule of
    `quorate import`: two values, up to 1000 whole numbers or words are classes, numbered in their
    order, which keep their names (`classes`); other numbers are a regression. task: binary,
    multiclass or regression; default: what y looks like. image: CxHxW, if rows are images. path:
    the file to write; default: one in the folder for temporary files, which is removed with the
    object. overwrite: replace a data set of that name. In a run over MPI each rank makes its own;
    where that is too much, one process writes a file before the run, and all ranks `open` it.
    """
    train = matrix_of(X, "X")
    names, columns = names_of(X, "X"), columns_of(X, train)
    if not X.shape[0] if len(train) == 3 else not len(train[0]):
        raise BadInput("X has no rows: give some to train with")
    _check_index(X, y, "")
    if (X_test is None) != (y_test is None):
        raise BadInput("test rows need X_test and y_test: give both, or none")
    labels = labels_of(y, y_test, task)
    test = _test_matrix(X_test, X, train)
    if X_test is not None:
        _check_index(X_test, y_test, "_test")
    folder = None
    if path is None:
        folder = Folder()
        path = folder.path / "data.h5"
    elif Path(path).exists() and not overwrite:
        raise BadInput(
            f"{path} is there already: give another name, open it, or overwrite=True to replace it"
        )
    elif Path(path).exists():
        DataSet(path)  # another file was named by mistake
    ones = len(train) == 3 and bool(np.all(train[0] == 1) and np.all(test[0] == 1))
    numbered = names == [str(number) for number in range(columns)]  # by pandas, and not by the user
    _quorate.write_data(
        os.fspath(path),
        name,
        columns,
        labels.task,
        labels.classes,
        labels.names,
        [] if numbered else names,
        image,
        ones,
        (*train, labels.train),
        (*test, labels.test),
        True,
    )
    return DataSet(path, folder)
