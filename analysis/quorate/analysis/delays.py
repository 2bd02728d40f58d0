# SPDX-License-Identifier: BSD-2-Clause
"""Delay models fitted to times, some of which are only known to be longer than something.

A task that was cancelled after c seconds would have taken longer than c: it is censored. Maximum
likelihood has a closed form for all but `mixture`, which is found by EM and without censored times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np

from . import delay_model
from .delay_model import normal_below
from .traces import Floats

EM_STEPS = 200
ENOUGH = 10  # times, for a fit
Survival = Callable[[Floats], Floats]


@dataclass
class Fit:
    """A model as --delay takes it, its Akaike criterion, and its Kolmogorov-Smirnov distance."""

    model: str
    survival: Survival
    aic: float
    distance: float


def kaplan_meier(times: Floats, censored: Floats) -> tuple[Floats, Floats]:
    """(times, share that takes longer): the empirical distribution in spite of censoring."""
    values, counts = np.unique(times, return_counts=True)
    left = len(times) - np.searchsorted(np.sort(times), values)
    if len(censored):
        left = left + len(censored) - np.searchsorted(np.sort(censored), values)
    return values, np.cumprod(1 - counts / left)


def fits(times: Floats, censored: Floats) -> list[Fit]:
    """The models that can be fitted, the best one by Akaike's criterion first."""
    if len(times) < ENOUGH:
        return []
    if np.ptp(times) <= 1e-9 * max(1e-300, times.max()):
        value = float(times[0])
        return [Fit(f"constant:{value:.4g}", lambda x: (x < value) * 1.0, -np.inf, 0.0)]
    found = [exponential(times, censored, 0.0), exponential(times, censored, times.min())]
    if times.min() > 0:
        found.append(pareto(times, censored))
    if not len(censored):
        found.append(mixture(times, 1))
        if len(np.unique(times)) > len(times) // 2:
            found.append(mixture(times, 2))
    values, above = kaplan_meier(times, censored)
    for fit in found:
        fit.distance = distance(fit.survival, values, above)
    return sorted(found, key=lambda fit: fit.aic)


def above(below: delay_model.Below) -> Survival:
    """Of a distribution, the probability of what is longer."""
    return lambda x: 1 - below(x)


def distance(survival: Survival, values: Floats, above: Floats) -> float:
    """The greatest difference of the two distributions."""
    model = survival(values)
    before = np.concatenate([[1.0], above[:-1]])
    return float(np.max(np.maximum(np.abs(model - above), np.abs(model - before))))


def exponential(times: Floats, censored: Floats, shift: float) -> Fit:
    """Exponential, or shifted by the least time."""
    beyond = np.sum(times - shift) + np.sum(np.maximum(censored - shift, 0))
    mean = float(beyond / len(times))
    likelihood = -len(times) * (log(mean) + 1)
    word = f"shifted-exponential:{shift:.4g},{mean:.4g}" if shift else f"exponential:{mean:.4g}"

    return Fit(
        word,
        above(delay_model.shifted(shift, mean)),
        2 * (1 + (shift > 0)) - 2 * likelihood,
        np.nan,
    )


def pareto(times: Floats, censored: Floats) -> Fit:
    scale = float(times.min())
    logs = np.sum(np.log(times / scale)) + np.sum(np.log(np.maximum(censored / scale, 1)))
    shape = float(len(times) / logs)
    likelihood = len(times) * (log(shape) - log(scale)) - (shape + 1) * np.sum(
        np.log(times / scale)
    )
    likelihood -= shape * np.sum(np.log(np.maximum(censored / scale, 1)))

    of = above(delay_model.pareto(scale, shape))
    return Fit(f"pareto:{scale:.4g},{shape:.4g}", of, 4 - 2 * float(likelihood), np.nan)


def mixture(times: Floats, components: int) -> Fit:
    """Normal distributions, by EM from quantiles."""
    mean = np.quantile(times, (np.arange(components) + 0.5) / components)
    least = 1e-3 * float(np.std(times))
    sd = np.full(components, max(float(np.std(times)) / components, least))
    weight = np.full(components, 1 / components)
    for _ in range(EM_STEPS if components > 1 else 1):
        density = weight * np.exp(-0.5 * ((times[:, None] - mean) / sd) ** 2) / sd / sqrt(2 * pi)
        total = np.maximum(density.sum(1), 1e-300)
        part = density / total[:, None]
        mass = np.maximum(part.sum(0), 1e-12)
        old = mean
        mean = (part * times[:, None]).sum(0) / mass
        sd = np.maximum(np.sqrt((part * (times[:, None] - mean) ** 2).sum(0) / mass), least)
        weight = mass / mass.sum()
        if components > 1 and np.allclose(old, mean, rtol=1e-5, atol=0):
            break
    density = weight * np.exp(-0.5 * ((times[:, None] - mean) / sd) ** 2) / sd / sqrt(2 * pi)
    likelihood = np.sum(np.log(np.maximum(density.sum(1), 1e-300)))
    word = "mixture:" + ",".join(f"{m:.4g}/{s:.4g}/{w:.3g}" for m, s, w in zip(mean, sd, weight))

    def survival(x: Floats) -> Floats:
        z = (np.asarray(x)[:, None] - mean) / sd
        found: Floats = 1 - (weight * normal_below(z)).sum(1)
        return found

    return Fit(word, survival, 2 * (3 * components - 1) - 2 * float(likelihood), np.nan)


def critical(count: int) -> float:
    """The distance that one in twenty samples of the model exceeds, by chance."""
    return 1.358 / sqrt(count)
