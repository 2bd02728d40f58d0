# SPDX-License-Identifier: BSD-2-Clause
"""Labels that users give: what they mean, and how data sets store them. The rule is that of
`quorate import` (src/tables/labels.cpp): an array means what the same column of a file does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from ._arrays import Floats, is_real, refuse_kind, shown, unmasked
from ._native import BadInput, _quorate, logger

TRUTH = ["False", "True"]  # the classes of truth values, as in a file that pandas writes
TASKS = ("binary", "multiclass", "regression")
# Of classes that are guessed.
MOST_CLASSES = 1000
# Of test rows, whose class has no training row.
FEW = 0.1


class Labels(NamedTuple):
    """As data sets store them. names: what users call the classes, by number; of a regression
    none."""

    task: str
    train: Floats
    test: Floats
    classes: int
    names: list[str]


@dataclass
class _Given:
    """Labels of some rows. texts: as `quorate import` has them; not looked at if there are numbers.
    numbers: None if some are words. floats: whether their type is that of measurements. bools: all
    are truth values. inexact: a whole number that no double is equal to."""

    texts: list[str] | None
    numbers: Floats | None
    floats: bool
    bools: bool = False
    inexact: str = ""

    def words(self) -> list[str]:
        if self.numbers is None:
            return self.texts or []
        values, places = np.unique(self.numbers, return_inverse=True)
        names = [_written(value) for value in values]
        return [names[place] for place in places]


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
        return _Given(None, numbers, floats=True)
    large = array[np.abs(numbers) >= 2**53]
    inexact = next((str(one) for one in large if int(float(one)) != int(one)), "")
    return _Given(None, numbers, False, array.dtype.kind == "b", inexact)


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
        not all(_is_integer(kind) or issubclass(kind, (str, bytes)) for kind in kinds),
        all(issubclass(kind, (bool, np.bool_)) for kind in kinds),
        inexact,
    )


def _some(labels: Iterable[Any]) -> str:
    few = list(dict.fromkeys(labels))
    texts = [f"{one:.17g}" if isinstance(one, float) else shown(one) for one in few[:5]]
    return ", ".join([*texts, "..."] if len(few) > 5 else texts)


# By which the names of classes are sorted.
_Key = Callable[[str], Any]


def _by_bytes(name: str) -> bytes:
    """As import sorts words."""
    return name.encode("utf-8", "surrogateescape")


def _alike(name: str) -> str:
    """A label as others may write it: "Yes." is yes."""
    return name.rstrip(" .,;'").lower()


def _check_unknown(task: str, train: set[str], tests: list[str], key: _Key) -> None:
    """Refuses labels of test rows that no training row has; warns of a few rare classes."""
    unknown = [name for name in tests if name not in train]
    if not unknown:
        return
    few = len(unknown) <= FEW * len(tests)
    likened = {_alike(name) for name in train} & {_alike(name) for name in unknown}
    # Words in quotes, numbers without.
    names, theirs = (
        _some(key(name) if key is float else name for name in sorted(some, key=key))
        for some in (set(unknown), train)
    )
    if task == "binary" or likened or not few:
        raise BadInput(
            f"no training row has the label {names} of test rows, theirs are {theirs}: give both"
            " the same labels, or leave out these rows"
        )
    logger.warning("no training row has the label %s of test rows", names)


def _task_of(given: _Given, count: int, whole: bool) -> str:
    """What labels look like. count: of different ones; whole: they are words or whole numbers."""
    if count <= 2:
        return "binary"
    if not whole:
        return "regression"
    if count > MOST_CLASSES:
        what = "words" if given.numbers is None else "whole numbers"
        raise BadInput(
            f"y has {count} different {what}: give task='regression', or 'multiclass' if they are"
            " classes"
        )
    if given.floats:
        logger.warning(
            "y has %d different whole numbers, which are taken for classes: give task='regression'"
            " if they are measurements",
            count,
        )
    return "multiclass"


def labels_of(y: Any, y_test: Any, task: str | None) -> Labels:
    """What labels mean. y_test: those of test rows, or None. task: None: what y looks like."""
    if task is not None and task not in TASKS:
        raise BadInput(f"task is {shown(task)}: use {', '.join(TASKS)}")
    train = _given(y, "y")
    test = _Given([], np.empty(0), floats=False) if y_test is None else _given(y_test, "y_test")
    if train.numbers is not None and test.numbers is None:
        raise BadInput(
            f"y_test has words, such as {_some(test.words())}, where y has numbers: give both alike"
        )
    if train.numbers is None or test.numbers is None:
        if task == "regression":
            raise BadInput(
                f"task is 'regression', but {shown(train.words()[0])} is no number: leave task out"
            )
        task = task or _task_of(train, len(set(train.words())), whole=True)
        return _classes(task, train.words(), test.words(), _by_bytes)
    values = np.unique(train.numbers)
    task = task or _task_of(train, len(values), bool((values == np.round(values)).all()))
    if task == "regression":
        return Labels(task, train.numbers, test.numbers, 0, [])
    for given in (train, test):
        if given.inexact:
            raise BadInput(
                f"the label {given.inexact} is beyond 2^53, where doubles do not tell whole numbers"
                " apart: write labels as words"
            )
    made = _classes(task, train.words(), test.words(), float)
    return made._replace(names=TRUTH) if train.bools and made.names == ["0", "1"] else made


def _classes(task: str, train: list[str], test: list[str], key: _Key) -> Labels:
    """Numbers the classes in their order: of two, the later one is positive."""
    found = set(train)
    if task == "binary" and len(found) != 2:
        raise BadInput(
            f"a binary task has two different labels, here there are {len(found)}: give both, or"
            " task='multiclass' or 'regression'"
        )
    _check_unknown(task, found, test, key)
    names = sorted(found | set(test), key=key)
    if len(names) < 2:
        raise BadInput("y has one label: give two or more classes, or task='regression'")
    place = {name: float(number) for number, name in enumerate(names)}
    if task == "binary":
        place = dict(zip(names, (-1.0, 1.0)))
    numbers = [np.array([place[name] for name in g], np.float64) for g in (train, test)]
    return Labels(task, numbers[0], numbers[1], len(names), names)


def user_values(names: list[str]) -> npt.NDArray[Any]:
    """The names of classes as the user's values: whole numbers, numbers, or words."""
    read = [_quorate.read_label(name) for name in names]
    numbers = [None if one is None else one[1] for one in read]
    if names == TRUTH:
        return np.array([False, True])
    if not names or None in numbers:
        return np.array(names, dtype=str)
    values = np.array(numbers, np.float64)
    whole = (values == np.round(values)).all()
    return values.astype(np.int64) if whole and (np.abs(values) < 2**53).all() else values
