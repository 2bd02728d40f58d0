# SPDX-License-Identifier: BSD-2-Clause
"""Labels that users give: what they mean, and how data sets store them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from ._arrays import Floats, is_real, refuse_kind, shown, unmasked
from ._native import BadInput, _quorate, logger

TASKS = ("binary", "multiclass", "regression")
# Of classes that are guessed, as in `quorate import`; of classes that most are without a row.
MOST_CLASSES = 1000


class Labels(NamedTuple):
    """As data sets store them. names: of the classes; empty: they are called by their numbers."""

    task: str
    train: Floats
    test: Floats
    classes: int
    names: list[str]


@dataclass
class _Given:
    """Labels of some rows. texts: as `quorate import` has them; None: as many as numbers.
    numbers: None if some are words. integers: whether they look like numbers of classes. inexact: a
    whole number that no double is equal to."""

    texts: list[str] | None
    numbers: Floats | None
    integers: bool
    inexact: str = ""

    def words(self) -> list[str]:
        if self.texts is None and self.numbers is not None:
            self.texts = [_written(one) for one in self.numbers]
        return self.texts or []


def _written(number: float) -> str:
    """A number as `quorate import` writes it as the name of a class."""
    read = _quorate.read_label(repr(float(number)))
    assert read is not None
    return read[0]


def _is_integer(kind: type) -> bool:
    return issubclass(kind, (Integral, np.bool_))


def _refuse(what: str, row: int, label: Any) -> NoReturn:
    missing = isinstance(label, (str, bytes)) or str(label).lower() in (
        "none",
        "nan",
        "nat",
        "<na>",
    )
    raise BadInput(
        f"label {row} is missing, {what} has {shown(label)}: leave out the rows without label"
        if missing
        else f"label {row} of {what} is {shown(label)}: give a finite number or a word"
    )


def _given(y: Any, what: str) -> _Given:
    # NumPy would turn what is missing among words into a word.
    array = unmasked(y, what, object if isinstance(y, (list, tuple)) else None)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise BadInput(f"{what} has the shape {array.shape}: give one label a row")
    if array.dtype.kind in "biuf":
        return _numbers(array, what)
    if array.dtype.kind in "OSU":
        return _objects(array, what)
    refuse_kind(array, what)


def _numbers(array: npt.NDArray[Any], what: str) -> _Given:
    with np.errstate(over="ignore"):
        numbers = array.astype(np.float64)
    for row in np.flatnonzero(~np.isfinite(numbers)):
        _refuse(what, int(row), array[row])
    if array.dtype.kind == "f":
        return _Given(None, numbers, integers=False)
    large = array[np.abs(numbers) >= 2**53]
    inexact = next((str(one) for one in large if int(float(one)) != int(one)), "")
    return _Given(None, numbers, integers=True, inexact=inexact)


def _as_text(label: Any, row: int, what: str) -> str | bytes:
    if isinstance(label, (str, bytes)):
        return label
    if not is_real(type(label)):
        _refuse(what, row, label)
    if _is_integer(type(label)):
        return str(int(label))
    if not np.isfinite(float(label)):
        _refuse(what, row, label)
    return repr(float(label))


def _objects(array: npt.NDArray[Any], what: str) -> _Given:
    given = [_as_text(label, row, what) for row, label in enumerate(array)]
    read: dict[str | bytes, tuple[str, float | None]] = {}
    inexact = ""
    for row, text in enumerate(given):
        if text in read:
            continue
        found = _quorate.read_label(text)
        if found is None or (found[1] is None and is_real(type(array[row]))):
            _refuse(what, row, array[row])
        read[text] = found
        digits = re.fullmatch(r"\s*[+-]?\d{16,300}\s*", str(text))
        if digits and found[1] is not None and int(text) != int(found[1]):
            inexact = str(text)
    kinds = set(map(type, array))
    numbers = [read[text][1] for text in given]
    return _Given(
        [read[text][0] for text in given],
        None if None in numbers else np.array(numbers, np.float64),
        all(_is_integer(kind) or issubclass(kind, (str, bytes)) for kind in kinds),
        inexact,
    )


def _some(labels: Iterable[Any]) -> str:
    few = list(dict.fromkeys(labels))
    texts = [f"{one:.17g}" if isinstance(one, float) else shown(one) for one in few[:5]]
    return ", ".join([*texts, "..."] if len(few) > 5 else texts)


def _refuse_unknown(unknown: Iterable[Any], known: Iterable[Any]) -> None:
    if labels := _some(unknown):
        raise BadInput(
            f"no training row has the label {labels} of test rows, theirs are {_some(known)}: give"
            " both the same labels, or leave out these rows"
        )


def _of_words(train: _Given, test: _Given | None, task: str | None) -> Labels:
    # By their bytes, as import sorts them.
    names = sorted(set(train.words()), key=lambda name: name.encode("utf-8", "surrogateescape"))
    if task == "regression":
        raise BadInput(f"task is 'regression', but {shown(names[0])} is no number: leave task out")
    place = {name: number for number, name in enumerate(names)}
    _refuse_unknown(sorted(set(test.words() if test else []) - set(place)), names)
    task = task or ("binary" if len(names) <= 2 else "multiclass")
    values = [np.array([place[word] for word in g.words()], np.float64) for g in (train, test) if g]
    return _of_classes(task, values[0], values[1] if test else np.empty(0), names)


def _of_classes(task: str, train: Floats, test: Floats, names: list[str]) -> Labels:
    """names: of classes that are words; empty: labels are numbers."""
    values = np.unique(train)
    if task == "binary":
        if len(values) != 2:
            raise BadInput(
                f"a binary task has two different labels, here there are {len(values)}: give both,"
                " or task='multiclass' or 'regression'"
            )
        _refuse_unknown(np.setdiff1d(test, values), values)
        names = names or [_written(value) for value in values]
        signs = [np.where(labels == values[1], 1.0, -1.0) for labels in (train, test)]
        return Labels(task, signs[0], signs[1], 2, names)
    if not ((values >= 0) & (values == np.round(values))).all():
        raise BadInput("labels of a multiclass task are whole numbers from 0: encode them so")
    if not 0 < values[-1] < max(MOST_CLASSES, 2 * len(values)):
        raise BadInput(
            f"y has {len(values)} different labels, and the largest is {_some(values[-1:])}: number"
            " two or more classes from 0, or give task='regression'"
        )
    classes = int(values[-1]) + 1
    only = np.setdiff1d(test, values)
    _refuse_unknown(only[(only < 0) | (only >= classes) | (only != np.round(only))], values)
    if len(only):
        logger.warning("no training row has the label %s of test rows", _some(only))
    return Labels(task, train, test, classes, names)


def labels_of(y: Any, y_test: Any, task: str | None) -> Labels:
    """What labels mean. y_test: those of test rows, or None. task: None: what y looks like."""
    if task is not None and task not in TASKS:
        raise BadInput(f"task is {shown(task)}: use {', '.join(TASKS)}")
    train = _given(y, "y")
    test = None if y_test is None else _given(y_test, "y_test")
    if train.numbers is None:
        return _of_words(train, test, task)
    if test and test.numbers is None:
        raise BadInput(
            f"y_test has words, such as {_some(test.words())}, where y has numbers: give both alike"
        )
    tests = test.numbers if test and test.numbers is not None else np.empty(0)
    values = np.unique(train.numbers)
    if task is None:
        whole = (values == np.round(values)).all()
        if whole and train.integers and len(values) > MOST_CLASSES:
            raise BadInput(
                f"y has {len(values)} different whole numbers: give task='regression', or"
                " 'multiclass' if they are classes"
            )
        two = len(values) <= 2 and whole
        task = "binary" if two else "multiclass" if whole and train.integers else "regression"
    if task == "regression":
        return Labels(task, train.numbers, tests, 0, [])
    for given in (train, test):
        if given and given.inexact:
            raise BadInput(
                f"the label {given.inexact} is beyond 2^53, where doubles do not tell whole numbers"
                " apart: number the classes from 0"
            )
    return _of_classes(task, train.numbers, tests, [])
