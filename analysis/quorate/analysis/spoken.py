# SPDX-License-Identifier: BSD-2-Clause
"""A figure in words, from the numbers behind it: for those who hear the page."""

import pandas as pd

from .figures import Plot
from .tables import short

MOST_LINES = 8  # curves or bars
MOST_COLUMNS = 6
OF_ALIKE = ("worker", "node")  # a first column whose order means nothing


def spoken(plot: Plot) -> str:
    """What is drawn, and the numbers that tell most of it."""
    table = plot.numbers if plot.summary is None else plot.summary
    words = [name for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])]
    numeric = [name for name in table.columns if name not in words][:MOST_COLUMNS]
    keys = list(zip(*(table[name] for name in words))) if words else [()] * len(table)
    groups = list(table[numeric].groupby(pd.factorize(pd.Series(keys, dtype=object))[0]))
    names = list(dict.fromkeys(keys))
    found = [line(key, part) for key, (_, part) in zip(names, groups[:MOST_LINES])]
    if len(groups) > MOST_LINES:
        found.append(f"and {len(groups) - MOST_LINES} more")
    return f"{plot.title}. {'; '.join(found)}."


def line(key: tuple[object, ...], part: pd.DataFrame) -> str:
    """One curve, or one bar."""
    names = [str(word) for word in key if str(word) not in ("", "-", "nan")]
    told = [column(part, name) for name in part.columns]
    said = ", ".join(filter(None, told))
    return f"{', '.join(names)}: {said}" if names else said


def column(part: pd.DataFrame, name: str) -> str:
    """Its value; along time or rounds where it begins and ends, else its range."""
    values = part[name].dropna()
    if not len(values):
        return ""
    if values.min() == values.max():
        return f"{name} {short(values.iloc[0])}"
    if part.columns[0] in OF_ALIKE:
        return f"{name} {short(values.min())} to {short(values.max())}"
    return f"{name} from {short(values.iloc[0])} to {short(values.iloc[-1])}"
