# SPDX-License-Identifier: BSD-2-Clause
"""The distributions of delay models, from their words: what --delay exponential:0.1 draws from."""

from collections.abc import Callable, Sequence
from math import erf, lgamma, sqrt

import numpy as np

from .numbers import number_of
from .traces import Floats

TERMS = 4000  # of the series of a gamma distribution
NIAGARA = "0/0/0.4,0/0.4/0.3,2/0.3/0.2,5/0.3/0.1"
CEDAR = "0/0/0.4,0.05/0.04/0.3,0.15/0.03/0.2,0.25/0.03/0.1"
normal_below = np.vectorize(lambda z: 0.5 * (1 + erf(z / sqrt(2))), otypes=[float])
Below = Callable[[Floats], Floats]  # of values, the probability of what is at most as much


def below(model: str) -> Below | None:
    """Of a model that is alike for all workers; None where the words do not tell, as of trace:FILE
    and of models by which workers differ."""
    name, _, words = model.partition(":")
    name, words = {
        "niagara": ("mixture", NIAGARA),
        "cedar": ("mixture", CEDAR),
        "erasurehead": ("exponential", "0.5"),
    }.get(name, (name, words))
    if name == "mixture":
        return mixture([[number_of(part) for part in one.split("/")] for one in words.split(",")])
    if name not in MODELS:
        return None
    return MODELS[name](*[number_of(word) for word in words.split(",") if word])


def always(value: float) -> Below:
    return lambda x: np.where(x >= value, 1.0, 0.0)


def exponential(mean: float) -> Below:
    return shifted(0.0, mean)


def shifted(shift: float, mean: float) -> Below:
    if mean == 0:
        return always(shift)

    def found(x: Floats) -> Floats:
        share: Floats = -np.expm1(-np.maximum(x - shift, 0) / mean)
        return share

    return found


def pareto(scale: float, shape: float) -> Below:
    def found(x: Floats) -> Floats:
        above: Floats = (scale / np.maximum(x, scale)) ** shape
        return 1 - above

    return found


def lognormal(median: float, sigma: float) -> Below:
    if sigma == 0:
        return always(median)

    def found(x: Floats) -> Floats:
        share: Floats = normal_below(np.log(np.maximum(x, 1e-300) / median) / sigma)
        return share

    return found


def gamma(mean: float, deviation: float) -> Below:
    """By the series of the incomplete gamma function, whose terms are all positive."""
    if deviation == 0:
        return always(mean)
    shape = (mean / deviation) ** 2
    powers = np.arange(TERMS)
    logs = np.array([lgamma(shape + n + 1) for n in powers])

    def found(x: Floats) -> Floats:
        scaled = np.maximum(x, 1e-300)[:, None] * mean / deviation**2
        terms = np.exp((shape + powers) * np.log(scaled) - scaled - logs)
        share: Floats = np.minimum(terms.sum(1), 1)
        return share

    return found


def bursts(begin: float, end: float, value: float) -> Below:
    """In the long run."""
    bad = begin / (begin + end)
    return lambda x: np.where(x >= value, 1.0, np.where(x >= 0, 1 - bad, 0.0))


def half_normal(deviation: float) -> Below:
    return mixture([[0.0, deviation, 1.0]])


def mixture(components: Sequence[Sequence[float]]) -> Below:
    """Absolute values of normal draws, clipped at the greatest mean + 5 deviations."""
    clip = max(mean + 5 * deviation for mean, deviation, _ in components)

    def found(x: Floats) -> Floats:
        sums = np.zeros(len(x))
        for mean, deviation, weight in components:
            if deviation == 0:
                sums += weight * (x >= mean)
            else:
                both = normal_below((x - mean) / deviation) - normal_below((-x - mean) / deviation)
                sums += weight * np.maximum(both, 0)
        return np.where(x >= clip, 1.0, sums)

    return found


MODELS: dict[str, Callable[..., Below]] = {
    "none": lambda: always(0.0),
    "constant": always,
    "exponential": exponential,
    "shifted-exponential": shifted,
    "pareto": pareto,
    "lognormal": lognormal,
    "gamma": gamma,
    "gilbert-elliott": bursts,
    "half-normal": half_normal,
}


def shares(model: str, edges: Floats) -> Floats | None:
    """The expected shares of draws in bins, each of which has its lower end but not its upper; the
    last one has both, as in a histogram."""
    of = below(model)
    if of is None:
        return None
    ends = np.nextafter(edges, -np.inf)
    ends[-1] = edges[-1]
    return np.diff(of(ends))
