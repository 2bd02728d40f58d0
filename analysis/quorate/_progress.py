# SPDX-License-Identifier: BSD-2-Clause
"""Progress of what takes more than a second, on terminals and in notebooks."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

WIDTH = 30  # characters of the bar


class Progress:
    """A bar that any thread may move on; it shows itself after a second."""

    def __init__(self, count: int, what: str) -> None:
        self._count, self._what = count, what
        self._done, self._begin = 0, time.monotonic()
        self._lock = threading.Lock()
        self._display: Any = None  # in a notebook
        self.shown = False

    def step(self) -> None:
        """One more is done."""
        with self._lock:
            self._done += 1
            if time.monotonic() - self._begin > 1:
                self._show()

    def at(self, done: int) -> None:
        """So many are done."""
        with self._lock:
            self._done = min(done, self._count)
            self._show()

    def _show(self) -> None:
        self.shown = True
        filled = WIDTH * self._done // self._count
        bar = "#" * filled + "." * (WIDTH - filled)
        text = f"{bar} {self._done}/{self._count} {self._what}"
        kernel = sys.modules.get("ipykernel")
        if kernel is not None:
            self._show_in_notebook(text)
        elif sys.stderr is not None and sys.stderr.isatty():
            end = "\n" if self._done == self._count else ""
            print(f"\r{text}", end=end, file=sys.stderr, flush=True)

    def _show_in_notebook(self, text: str) -> None:
        from IPython.display import Pretty, display

        if self._display is None:
            self._display = display(Pretty(text), display_id=True)
        else:
            self._display.update(Pretty(text))
