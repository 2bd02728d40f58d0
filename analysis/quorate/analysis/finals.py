# SPDX-License-Identifier: BSD-2-Clause
"""compare --final: metrics of the last models, their means over seeds with intervals."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .curves import METRICS, final, metric_of
from .groups import Group, with_words
from .tables import number
from .traces import BadInput

# Student's t for an interval of 95 % by degrees of freedom from 1; beyond, its expansion.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
NORMAL = 1.960


def metrics_of(words: str) -> list[str]:
    """precision,recall as metrics. Raises BadInput."""
    found = [metric_of(word.strip()) for word in words.split(",")]
    if "round" in found:
        raise BadInput("--final: rounds are no metric of a model: say precision,recall or the like")
    return found


def student(freedom: int) -> float:
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    z = NORMAL
    return (
        z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    )


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean and how far its interval of 95 % reaches to each side; NaN of one value."""
    if len(values) < 2:
        return (values[0] if values else np.nan), np.nan
    spread = float(np.std(values, ddof=1)) / len(values) ** 0.5
    return float(np.mean(values)), student(len(values) - 1) * spread


def cell(values: Sequence[float]) -> str:
    """A run without the number makes the mean one of others, so that there is none."""
    middle, half = mean_interval(values)
    return number(middle, 4) + (f" ± {number(half, 4)}" if np.isfinite(half) else "")


def table(groups: Sequence[Group], metrics: Sequence[str]) -> pd.DataFrame:
    """A row for each configuration."""
    return pd.DataFrame(
        [
            {
                "scheme": with_words(group.label, group.troubles),
                "seeds": str(len(group.traces)),
                **{METRICS[name]: cell([final(t, name) for t in group.traces]) for name in metrics},
            }
            for group in groups
        ]
    )
