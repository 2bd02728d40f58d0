# SPDX-License-Identifier: BSD-2-Clause
"""What independent workers would show: a finding that they show, too, is none."""

from collections.abc import Callable
from functools import cache

import numpy as np

from .traces import Floats, Ints

# Of a run of independent workers each kind of finding is made with this probability at most.
FALSE_ALARMS = 0.002
DRAWS = 499  # 1 / (DRAWS + 1) is FALSE_ALARMS
MOST_NUMBERS = 100_000  # that a draw permutes


@cache
def log_factorials(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])


def log_choose(whole: int, parts: Ints) -> Floats:
    """ln of the binomial coefficients; parts from 0 to whole."""
    logs = log_factorials(whole)
    found: Floats = logs[whole] - logs[parts] - logs[whole - parts]
    return found


def at_least(count: int, tries: int, probability: float) -> float:
    """P(X >= count) of a binomial X. O(tries)."""
    if count <= 0 or probability >= 1:
        return 1.0
    if count > tries or probability <= 0:
        return 0.0
    k = np.arange(count, tries + 1)
    logs = k * np.log(probability) + (tries - k) * np.log1p(-probability)
    return float(min(1.0, np.exp(log_choose(tries, k) + logs).sum()))


def pairs_at_least(pairs: int, ones: int, tries: int) -> float:
    """P(J >= pairs) if J of the ones in a row of ones and zeros follow another one, and all orders
    are equally likely: with r runs of ones J is ones - r. O(tries)."""
    if pairs <= 0:
        return 1.0
    runs = np.arange(1, min(ones - pairs, tries - ones + 1) + 1)
    orders = log_choose(ones - 1, runs - 1) + log_choose(tries - ones + 1, runs)
    whole = log_choose(tries, np.array([ones]))
    return float(min(1.0, np.exp(orders - whole).sum()))


def beyond_chance(found: Floats, statistic: Callable[[Floats], float]) -> bool:
    """Whether a statistic of times, rounds x workers, is greater than where each worker has its own
    times in another order, so that they are slow at once by chance only. Takes rounds at equal
    distances where there are many numbers. O(DRAWS MOST_NUMBERS), and seldom."""
    step = -(-found.size // MOST_NUMBERS)
    some = found[::step]
    here = statistic(some)
    random = np.random.default_rng(1)
    return all(statistic(random.permuted(some, axis=0)) < here for _ in range(DRAWS))
