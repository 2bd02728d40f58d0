# SPDX-License-Identifier: BSD-2-Clause
"""Speed-up of a configuration: ratios of runs with the same seed, and a bootstrap interval."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .groups import Group
from .traces import Trace

RESAMPLES = 2000
LEVEL = 0.95


@dataclass
class Speedup:
    """The geometric mean of the ratios; NaN where a run has no such time.

    low and high are NaN if there are fewer than two pairs. Without a common seed the ratio is that
    of the means, and there are no pairs.
    """

    ratio: float
    low: float
    high: float
    pairs: list[float]


def per_round(trace: Trace) -> float:
    """Runs of different length compare by round."""
    return trace.time_per_round


def speedup(
    base: Group | None, other: Group, time: Callable[[Trace], float] = per_round
) -> Speedup:
    """How many times faster than the base a configuration is; NaN without a base."""
    nan = float("nan")
    if base is None:
        return Speedup(nan, nan, nan, [])
    by_seed = {trace.seed: time(trace) for trace in base.traces}
    mine = {trace.seed: time(trace) for trace in other.traces}
    pairs = [by_seed[s] / mine[s] for s in sorted(mine) if s in by_seed and mine[s] > 0]
    if not pairs:
        whole = float(np.mean(list(mine.values())))
        ratio = float(np.mean(list(by_seed.values()))) / whole if whole > 0 else nan
        return Speedup(ratio, nan, nan, [])
    logs = np.log(pairs)
    logs = logs[np.isfinite(logs)]
    if not len(logs):
        return Speedup(nan, nan, nan, pairs)
    low = high = nan
    if len(logs) > 1:
        drawn = np.random.default_rng(1).choice(logs, (RESAMPLES, len(logs)))
        edge = (1 - LEVEL) / 2
        low, high = np.exp(np.quantile(drawn.mean(1), [edge, 1 - edge]))
    return Speedup(float(np.exp(logs.mean())), float(low), float(high), pairs)
