# SPDX-License-Identifier: BSD-2-Clause
"""Tables of words, and how they are printed."""

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd


def number(value: float, digits: int) -> str:
    if not math.isfinite(value):
        return "-"
    return f"{value:.{digits}f}" if abs(value) < 1e7 else f"{value:.3g}"


def mean(values: Sequence[float]) -> float:
    """NaN of no values."""
    return float(np.mean(values)) if len(values) else math.nan


def ratio(value: float, other: float) -> float:
    return value / other if other else math.nan


def short(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}g}" if math.isfinite(value) else "-"


def share(value: float) -> str:
    return f"{100 * value:.1f} %" if math.isfinite(value) else "-"


def brief(value: str) -> str:
    """An option's value for a label: of a file the name alone, of a number four digits."""
    try:
        return value if len(value) < 8 else f"{float(value):.4g}"
    except ValueError:
        pass
    part = r"[-+]?[\d.]+(?:[eE][-+]?\d+)?(?:[nuµm]?s|min|h|d)?"
    if re.fullmatch(rf"[\w-]+:{part}(?:[,/]{part})*", value):  # as mixture:0/0/0.4,2s/300ms/0.6
        return value
    return re.sub(r"[^:]*/([^/.]+)[^/]*", r"\1", value)


def markdown(table: pd.DataFrame) -> str:
    lines = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).values.tolist()]
    return "\n".join(
        "| " + " | ".join(w.replace("|", "\\|") for w in line) + " |" for line in lines
    )


def text(table: pd.DataFrame) -> str:
    """The table with its header; the first column to the left, the others to the right."""
    lines: list[Sequence[str]] = [list(table.columns), *table.astype(str).values.tolist()]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.columns))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(w.rjust(n) for w, n in zip(line[1:], widths[1:]))])
        for line in lines
    )
