# SPDX-License-Identifier: BSD-2-Clause
"""Runs in memory as `quorate.analysis` has those of files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from .analysis.traces import EAGER, Trace


class Kept(Trace):
    """A run whose contributions are in memory."""

    table: Callable[[str], pd.DataFrame]
    stored: Path | None  # its file

    @cached_property
    def lost_rounds(self) -> pd.DataFrame:
        return self._lost_in(self.stored)

    def arrivals(self, *columns: str, last: int = sys.maxsize) -> pd.DataFrame:
        frame = self.table("arrival")
        return (frame[list(columns)] if columns else frame).iloc[-min(last, len(frame)) :]


def kept(
    label: str,
    attributes: dict[str, Any],
    table: Callable[[str], pd.DataFrame],
    stored: Path | None,
) -> Kept:
    """table: the tables of the run by name. stored: the file that it was read from."""
    made = Kept(Path(f"{label}.h5"), attributes, **{name: table(name) for name in EAGER})
    made.table, made.stored = table, stored
    return made
