# SPDX-License-Identifier: BSD-2-Clause
"""The expected time of a round, in closed form where there is one, else drawn.

Workers compute for the median time that they were measured to, and their delays are independent;
messages and the coordinator take no time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, lgamma

import numpy as np

from .traces import Floats, Trace

DRAWS = 4000
# Schemes that end a round at a number of answers, whoever gives them.
ANY_ANSWERS = "bernoulli block regular margulis bibd graph stochastic is-gc".split()
ALL_BUT_STRAGGLERS = ("ignore", "cyclic", "reed-solomon")


@dataclass
class Ideal:
    """Seconds a round, and where they are from."""

    seconds: float
    words: str


@dataclass
class Delay:
    """A delay model: the mean of the k-th least of n, and draws."""

    order: Callable[[int, int], float]
    draw: Callable[[np.random.Generator, tuple[int, int]], Floats]
    shift: float = 0.0
    mean: float | None = None  # of an exponential


def harmonic(n: int) -> float:
    return sum(1 / i for i in range(1, n + 1))


def delay_of(word: str) -> Delay | None:
    """A delay model with closed forms; None for the others."""
    name, _, rest = word.partition(":")
    try:
        numbers = [float(x) for x in rest.split(",")] if rest else []
    except ValueError:
        return None
    if name in ("none", "constant"):
        value = numbers[0] if numbers else 0.0
        return Delay(lambda k, n: value, lambda random, size: np.full(size, value), value, 0.0)
    if name in ("exponential", "shifted-exponential") and numbers:
        shift, mean = (0.0, numbers[0]) if len(numbers) == 1 else numbers
        return Delay(
            lambda k, n: shift + mean * (harmonic(n) - harmonic(n - k)),
            lambda random, size: shift + random.exponential(mean, size),
            shift,
            mean,
        )
    if name == "pareto" and len(numbers) == 2:
        scale, shape = numbers

        def order(k: int, n: int) -> float:
            above = n - k + 1
            if above <= 1 / shape:
                return inf
            logs = lgamma(n + 1) - lgamma(n + 1 - 1 / shape)
            return scale * exp(logs + lgamma(above - 1 / shape) - lgamma(above))

        return Delay(order, lambda random, size: scale * random.random(size) ** (-1 / shape))
    return None


def whole(trace: Trace, option: str, default: int) -> int:
    word = trace.config.get(option, "")
    return int(word) if word.isdigit() else default


def ideal(trace: Trace) -> Ideal | None:
    """None for schemes, delays and options without an answer here."""
    delay = delay_of(str(trace.attributes["delay"]))
    plain = trace.attributes.get("slowdown", "none") == "none" and "deadline" not in trace.config
    changes = np.any(trace.membership["time"] > 0)
    if delay is None or not plain or changes or not trace.rounds:
        return None
    computed = trace.arrivals("compute")["compute"]
    compute = float(np.median(computed)) if len(computed) else 0.0
    n, s = trace.workers, whole(trace, "stragglers", 1)
    if trace.scheme in ("uncoded", "fmb"):
        return Ideal(compute + delay.order(n, n), "closed form")
    if trace.scheme in ALL_BUT_STRAGGLERS and trace.config.get("coefficients") != "ones":
        collect = whole(trace, "collect", n - s) if trace.scheme == "ignore" else n - s
        return Ideal(compute + delay.order(collect, n), "closed form")
    if trace.scheme in ANY_ANSWERS:
        return Ideal(compute + delay.order(whole(trace, "collect", n // 2), n), "closed form")
    if trace.scheme == "frc" and n % (s + 1) == 0 and delay.mean is not None:
        fastest = delay.shift + delay.mean * harmonic(n // (s + 1)) / (s + 1)
        return Ideal(compute + fastest, "closed form")
    if trace.scheme in ("frc", "agc"):
        collect = n if trace.scheme == "frc" else whole(trace, "collect", n // 2)
        return Ideal(compute + groups_drawn(delay, n, n // (s + 1), collect), "drawn")
    return None


def groups_drawn(delay: Delay, n: int, groups: int, collect: int) -> float:
    """Until so many answers are there, or one of each group."""
    times = delay.draw(np.random.default_rng(1), (DRAWS, n))
    first = np.stack([part.min(1) for part in np.array_split(times, max(groups, 1), axis=1)])
    enough = np.sort(times, axis=1)[:, min(collect, n) - 1]
    return float(np.minimum(first.max(0), enough).mean())
