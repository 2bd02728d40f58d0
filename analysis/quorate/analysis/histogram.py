# SPDX-License-Identifier: BSD-2-Clause
"""How often a quantity of rounds or contributions has which values."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .delay_model import shares as expected_shares
from .figures import Style
from .groups import Group
from .look import PLAIN, Look
from .quantities import OF_CONTRIBUTIONS, samples
from .traces import Floats, Trace
from .wording import in_words

BINS = 40
WIDE = 100  # values that spread so far, most of them far below the greatest, have a log scale


def upwards(name: str) -> str:
    return f"share of {'contributions' if name in OF_CONTRIBUTIONS else 'rounds'}"


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


def models(groups: Sequence[Group]) -> list[str]:
    """The delay models that delays of contributions were drawn from, where one model alone says
    what their distribution is."""
    found = [model_of(trace) for group in groups for trace in group.traces]
    return list(dict.fromkeys(filter(None, found)))


def model_of(trace: Trace) -> str:
    """Empty where delays of contributions are not draws of one model: they are sums of two, or a
    task with several parts tells its delay once."""
    of = [trace.config.get(option, "none") for option in ("delay", "uplink-delay")]
    drawn = [model for model in of if model != "none"]
    several = (trace.arrivals("part")["part"] > 0).any()
    return drawn[0] if len(drawn) == 1 and not several else ""


def draw_models(groups: Sequence[Group], bins: Floats, axis: Axes) -> list[pd.DataFrame]:
    """What the delay models expect, as dashed steps; the numbers."""
    numbers = []
    named = models(groups)
    for model, words in zip(named, in_words("delay", named)):
        expected = expected_shares(model, bins)
        if expected is None:
            continue
        axis.stairs(expected, bins, color="0.2", linestyle=(0, (3, 2)), label=f"model: {words}")
        numbers.append(table(f"model {model}", 0, "delay", bins, *[expected] * 3))
    return numbers


def table(
    label: str, seeds: int, name: str, bins: Floats, mean: Floats, least: Floats, most: Floats
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "configuration": label,
            "seeds": seeds,
            "metric": name,
            "along": "histogram",
            "x": (bins[:-1] + bins[1:]) / 2,
            "mean": mean,
            "least": least,
            "greatest": most,
        }
    )


def draw(
    name: str,
    groups: Sequence[Group],
    axis: Axes,
    found: Sequence[Style],
    look: Look = PLAIN,
) -> pd.DataFrame:
    """Steps of each configuration: means over seeds, bands from the least to the greatest; of
    delays also what their models expect; the numbers. Raises BadInput if a trace does not list what
    it takes."""
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
        of_all = np.stack(shares)
        mean, least, most = of_all.mean(0), of_all.min(0), of_all.max(0)
        axis.stairs(mean, bins, label=group.name, **style)
        if len(shares) > 1:
            axis.stairs(most, bins, baseline=least, fill=True, color=style["color"], alpha=0.2)
        numbers.append(table(group.label, len(shares), name, bins, mean, least, most))
    if name == "delay":
        numbers += draw_models(groups, bins, axis)
    if logarithmic(bins):
        axis.set_xscale("log")
    look.scale(axis, "y")
    look.finish(axis)
    return pd.concat(numbers)
