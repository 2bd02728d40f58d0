# SPDX-License-Identifier: BSD-2-Clause
"""Runs in memory as `quorate.analysis` has those of files."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from ._result import Result
from .analysis.traces import EAGER, Trace


class Kept(Trace):
    """A run whose contributions are in memory."""

    result: Result

    def arrivals(self, *columns: str, last: int = sys.maxsize) -> pd.DataFrame:
        frame = self.result.arrivals
        return (frame[list(columns)] if columns else frame).iloc[-min(last, len(frame)) :]


def kept(result: Result) -> Kept:
    tables = {name: result.table(name) for name in EAGER}
    made = Kept(Path(f"{result.label}.h5"), result.attributes, **tables)
    made.result = result
    return made
