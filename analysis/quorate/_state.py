# SPDX-License-Identifier: BSD-2-Clause
"""What an object remembers beside what it is given: to find out whether it changes."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np


class State:
    """The attributes of an object and of its class, as they are now.

    Looks into arrays, tensors, containers, generators of random numbers and other objects. Of what
    can neither be pickled nor has attributes, such as a lock, only which one it is. O(bytes).
    """

    def __init__(self, instance: Any) -> None:
        self.instance = instance
        self._before = dict(_attributes(instance))

    def changed(self) -> str:
        """The name of an attribute that is another one by now; empty: there is none."""
        now = dict(_attributes(self.instance))
        names = [*self._before, *(name for name in now if name not in self._before)]
        return next((name for name in names if self._before.get(name) != now.get(name)), "")


def _attributes(instance: Any) -> Iterator[tuple[str, bytes]]:
    for name, value in getattr(instance, "__dict__", {}).items():
        yield f"self.{name}", _digest(value)
    for owner in type(instance).__mro__:
        if owner.__module__.partition(".")[0] in ("builtins", "quorate", "typing"):
            continue
        for name, value in vars(owner).items():
            if not name.startswith("__") and not callable(value) and not hasattr(value, "__get__"):
                yield f"{owner.__name__}.{name}", _digest(value)


def _digest(value: Any) -> bytes:
    digest = hashlib.sha256()
    _add(digest, value, set())
    return digest.digest()


def _add(digest: Any, value: Any, above: set[int]) -> None:
    digest.update(type(value).__qualname__.encode())
    if id(value) in above:
        return
    above = {*above, id(value)}
    if hasattr(value, "detach"):  # a tensor
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        digest.update(repr((value.dtype.str, value.shape)).encode())
        digest.update(np.ascontiguousarray(value).data.cast("B") if value.size else b"")
        return
    if isinstance(value, (bool, int, float, complex, str, bytes, np.generic, type(None))):
        digest.update(repr(value).encode("utf-8", "surrogatepass"))
        return
    if isinstance(value, (set, frozenset)):
        for one in sorted(map(_digest, value)):
            digest.update(one)
        return
    if isinstance(value, dict):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, (list, tuple)):
        digest.update(str(len(value)).encode())
        for one in value:
            _add(digest, one, above)
        return
    if hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType)):
        _add(digest, vars(value), above)
    try:
        digest.update(pickle.dumps(value))
    except Exception:  # whatever an object says that cannot be pickled
        digest.update(str(id(value)).encode())
