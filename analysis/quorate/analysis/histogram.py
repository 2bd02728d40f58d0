# SPDX-License-Identifier: BSD-2-Clause
"""How often a quantity of rounds or contributions has which values."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .figures import Style, from_zero
from .groups import Group
from .quantities import CONTRIBUTIONS, samples
from .traces import Floats

BINS = 40
WIDE = 100  # values that spread so far, most of them far below the greatest, have a log scale


def upwards(name: str) -> str:
    return f"share of {'contributions' if name in CONTRIBUTIONS else 'rounds'}"


def edges(values: Floats) -> Floats:
    """Of bins that hold all values: each whole number has its own if they are few; equally wide, or
    in equal ratios where few values are large."""
    low, high = float(values.min()), float(values.max())
    if np.all(values == np.round(values)) and high - low < BINS:
        return np.arange(low - 0.5, high + 1)
    if low == high:
        return low * np.array([0.95, 1.05])
    if low > 0 and high > WIDE * float(np.median(values)):
        return np.geomspace(low, high, BINS + 1)
    return np.linspace(low, high, BINS + 1)


def logarithmic(bins: Floats) -> bool:
    return bool(bins[0] > 0 and bins[-1] - bins[-2] > 2 * (bins[1] - bins[0]))


def draw(name: str, groups: Sequence[Group], axis: Axes, found: Sequence[Style]) -> pd.DataFrame:
    """Steps of each configuration: means over seeds, bands from the least to the greatest; the
    numbers. Raises BadInput if a trace does not list what it takes."""
    values = [[samples(trace, name) for trace in group.traces] for group in groups]
    known = [some for seeds in values for some in seeds if len(some)]
    if not known:
        axis.annotate("no numbers", (0.5, 0.5), xycoords="axes fraction", ha="center", color="0.4")
        return pd.DataFrame()
    bins = edges(np.concatenate(known))
    numbers = []
    for group, seeds, style in zip(groups, values, found):
        shares = [np.histogram(some, bins)[0] / len(some) for some in seeds if len(some)]
        if not shares:
            continue
        table = np.stack(shares)
        mean, least, most = table.mean(0), table.min(0), table.max(0)
        axis.stairs(mean, bins, label=group.name, **style)
        if len(shares) > 1:
            axis.stairs(most, bins, baseline=least, fill=True, color=style["color"], alpha=0.2)
        numbers.append(
            pd.DataFrame(
                {
                    "configuration": group.label,
                    "seeds": len(shares),
                    "metric": name,
                    "along": "histogram",
                    "x": (bins[:-1] + bins[1:]) / 2,
                    "mean": mean,
                    "least": least,
                    "greatest": most,
                }
            )
        )
    if logarithmic(bins):
        axis.set_xscale("log")
    from_zero(axis, "y")
    return pd.concat(numbers)
