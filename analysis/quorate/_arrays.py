# SPDX-License-Identifier: BSD-2-Clause
"""Arrays that users give: read as the numbers that they are, or refused by name. No cast that
drops something comes before these checks."""

from __future__ import annotations

import numbers
import reprlib
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ._native import BadInput

Floats = npt.NDArray[np.float64]

_MA: Any = np.ma  # which has no types

# What an array holds, by the kind of its dtype, if that is no number.
_OTHERS = {
    "c": "complex numbers: give real and imaginary parts as numbers of their own",
    "m": "durations: divide them by a unit, such as numpy.timedelta64(1, 's')",
    "M": "dates: give the time since one of them in a unit, such as numpy.timedelta64(1, 'D')",
    "V": "records: give their fields as columns",
    "S": "texts: turn them into numbers",
    "U": "texts: turn them into numbers",
}


# Of long texts and lists it writes some, and nothing of the rest.
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 200
_REPR.maxlist = _REPR.maxtuple = _REPR.maxdict = _REPR.maxset = 20


def shown(value: Any, most: int = 60) -> str:
    """A value in one short line, for messages. Of arrays and the like only the shape."""
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape and not isinstance(value, type):
        sizes = " x ".join(map(str, shape)) + (" elements" if len(shape) == 1 else "")
        return f"{type(value).__name__} of {sizes}"
    text = " ".join(_REPR.repr(value).split())
    return text if len(text) <= most else f"{text[:most - 3]}..."


def refuse_kind(array: npt.NDArray[Any], what: str) -> NoReturn:
    """Refuses an array whose elements are no numbers."""
    kind = f"elements of the type {array.dtype}: turn them into numbers"
    raise BadInput(f"{what} holds {_OTHERS.get(array.dtype.kind, kind)}")


def is_real(kind: type) -> bool:
    """Whether objects of a type are real numbers. NumPy's durations say that they are integers."""
    return issubclass(kind, (numbers.Real, np.bool_, Decimal)) and not issubclass(
        kind, np.timedelta64
    )


def unmasked(value: Any, what: str, dtype: Any = None) -> npt.NDArray[Any]:
    """An array of what is given. Raises BadInput if that makes none, or if elements are masked."""
    if hasattr(value, "tocsr"):
        raise BadInput(f"{what} is a sparse matrix: give an array ({what}.toarray())")
    try:
        if isinstance(value, (list, tuple)) and any(map(_MA.isMaskedArray, value)):
            value = _MA.array(value)
        if _MA.isMaskedArray(value) and _MA.is_masked(value):
            place = np.argwhere(_MA.getmaskarray(value))[0].tolist()
            raise BadInput(
                f"{what}{place} is masked: fill it in (numpy.ma.filled), or leave out its row"
            )
        return np.asarray(value, dtype)
    except (TypeError, ValueError, RuntimeError) as error:  # of rows that differ in length, ...
        if isinstance(error, BadInput):
            raise
        reason = shown(str(error), 120)
        raise BadInput(f"{what} is no array of numbers, as many in each row: {reason}") from error


def reals(value: Any, what: str) -> Floats:
    """Returns real numbers of any shape in double precision; booleans are 0 and 1. Raises BadInput
    if the array holds something else, or if elements are masked or missing. NaN is a number."""
    array = unmasked(value, what)
    if array.dtype.kind == "O":
        if not all(map(is_real, set(map(type, array.ravel())))):
            at, one = next((i, v) for i, v in np.ndenumerate(array) if not is_real(type(v)))
            raise BadInput(f"{what}{list(at) or ''} is {shown(one)}: give a number")
    elif array.dtype.kind not in "biuf":
        refuse_kind(array, what)
    try:
        with np.errstate(over="ignore"):  # what is infinite is refused by who cannot use it
            return array.astype(np.float64, copy=False)
    except OverflowError as error:
        raise BadInput(f"{what} holds a number that is too large for a double") from error
