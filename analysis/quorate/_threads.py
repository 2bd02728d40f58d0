# SPDX-License-Identifier: BSD-2-Clause
"""How many threads NumPy's and PyTorch's products take: one while runs go on, unless a run says
otherwise.

Workers are many, and a sum that several threads share may have other bits.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from functools import cache

from ._while_runs import while_runs_go_on

# Functions that set and tell the number of threads, by what the library is called.
_KNOWN = {
    "openblas": (
        ("openblas_set_num_threads", "openblas_get_num_threads"),
        ("openblas_set_num_threads64_", "openblas_get_num_threads64_"),
        ("scipy_openblas_set_num_threads64_", "scipy_openblas_get_num_threads64_"),
    ),
    "libblis": (("bli_thread_set_num_threads", "bli_thread_get_num_threads"),),
    "libmkl_rt": (("MKL_Set_Num_Threads", "MKL_Get_Max_Threads"),),
}


@cache
def _controls_among(modules: int) -> list[tuple[Callable[[int], None], Callable[[], int]]]:
    """Sets and tells the threads of each BLAS in this process, which has so many modules."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps if ".so" in line}
    found = []
    for path in sorted(paths):
        for word, names in _KNOWN.items():
            if word not in path:
                continue
            try:
                library = ctypes.CDLL(path)
            except OSError:  # it was replaced while this process runs
                continue
            for setter, getter in names:
                if hasattr(library, setter):
                    found.append((getattr(library, setter), getattr(library, getter)))
    return found


def _controls() -> list[tuple[Callable[[int], None], Callable[[], int]]]:
    return _controls_among(len(sys.modules))


def _torch_threads(count: int | None = None) -> int:
    torch = sys.modules.get("torch")
    if torch is None:
        return 1
    before = int(torch.get_num_threads())
    if count is not None:
        torch.set_num_threads(count)
    return before


def use_threads(count: int) -> None:
    """Products of this thread take so many threads from here on. In a run, `one_thread` puts back
    what was before."""
    for put, get in _controls():
        if get() != count:
            put(count)
    if _torch_threads() != count:
        _torch_threads(count)


@while_runs_go_on
def one_thread() -> Iterator[None]:
    """Products take one thread until the last run of this process ends."""
    before: list[tuple[Callable[[int], object], int]] = [(put, get()) for put, get in _controls()]
    before.append((_torch_threads, _torch_threads()))
    use_threads(1)
    yield
    for restore, count in before:
        restore(count)
