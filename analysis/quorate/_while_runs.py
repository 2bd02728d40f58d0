# SPDX-License-Identifier: BSD-2-Clause
"""What is set for the whole process while any of its runs goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import wraps


def while_runs_go_on(
    setting: Callable[[], Iterator[None]]
) -> Callable[[], AbstractContextManager[None]]:
    """Makes a context of a generator function, as `contextmanager` does, but one that runs share:
    the first to enter sets it, and the last to leave puts back what was before."""
    lock, held, inside = threading.Lock(), ExitStack(), 0

    @contextmanager
    @wraps(setting)
    def during_a_run() -> Iterator[None]:
        nonlocal inside
        with lock:
            if inside == 0:
                held.enter_context(contextmanager(setting)())
            inside += 1
        try:
            yield
        finally:
            with lock:
                inside -= 1
                if inside == 0:
                    held.close()

    return during_a_run
