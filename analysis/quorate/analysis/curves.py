# SPDX-License-Identifier: BSD-2-Clause
"""Curves of runs, several seeds as a band, and when a run reached a target."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from . import quantities
from .groups import Group
from .look import PLAIN, Look
from .traces import BadInput, Floats, Trace

# What can be drawn upwards, and along. METRICS are of models: a run may reach a target of theirs.
METRICS = {
    "train_loss": "training loss",
    "objective": "objective",
    "gap": "objective - optimum",
    "train_accuracy": "training accuracy",
    "test_loss": "test loss",
    "accuracy": "test accuracy",
    "auc": "test AUC",
    "average_precision": "average precision",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "mse": "mean squared error",
    "top_k": "top-k accuracy",
    "round": "rounds",
}
LABELS = {**METRICS, "time": "time (s)", "samples": "samples used", **quantities.LABELS}
ALONG = {"time": "time (s)", "round": "round", "samples": "samples used"}
SMALLER_IS_BETTER = ("train_loss", "objective", "gap", "test_loss", "mse")
GRID = 400  # points of a band whose seeds were scored at different times


def metric_of(word: str, known: Iterable[str] = METRICS) -> str:
    """The metric that a word of the user means. Raises BadInput."""
    name = {"loss": "train_loss"}.get(word, word.replace("-", "_"))
    if name not in known:
        words = ", ".join(["loss", *known]).replace("_", "-")
        raise BadInput(f"'{word}' cannot be drawn: say one of {words}")
    return name


def target_of(word: str, of: str = "--target") -> tuple[str, float]:
    """accuracy=0.9 as a pair. Raises BadInput that names what it is `of`."""
    metric, _, value = word.partition("=")
    try:
        return metric_of(metric), float(value)
    except ValueError as error:
        raise BadInput(f"{of}: '{word}' is no METRIC=VALUE, as accuracy=0.9") from error


def curve(trace: Trace, metric: str) -> tuple[Floats, Floats, Floats]:
    """(rounds, times, values) of a metric of the evaluation table, of the "gap" to the optimum, or
    of a quantity of rounds or contributions.

    A trace without evaluation has the estimates of its rounds in place of the training loss, and
    nothing else. A round's estimate is taken before its update: it belongs to the end of the round
    before, and the first one to the beginning.
    """
    if metric in ALONG:
        rounds, times = np.arange(trace.rounds + 1), trace.edges
        values = places(trace, metric)
    elif metric in quantities.LABELS:
        ends, values = quantities.line(trace, metric)
        rounds, times = ends, trace.edges[ends]
    elif trace.evaluated:
        table = trace.evaluation
        rounds, times = table["round"].to_numpy(), table["time"].to_numpy()
        values = table["objective" if metric == "gap" else metric].to_numpy()
        if metric == "gap":
            values = values - trace.optimum
            # Rounding, or a better model than the optimum that was found: no place on a log scale.
            values = np.where(values > 0, values, np.nan)
    elif metric == "train_loss" and not trace.dry:
        rounds, times = np.arange(trace.rounds), trace.edges[:-1]
        values = trace.round["loss_estimate"].to_numpy()
    else:
        rounds, times, values = np.arange(0), np.array([]), np.array([])
    known = np.isfinite(values)
    return rounds[known], times[known], values[known]


def gaps(trace: Trace) -> Floats:
    """Objective - optimum of the models scored, and what rounding leaves of the optimum where that
    is more: for numbers, where curve() leaves out what has no place on a log scale."""
    found: Floats = trace.evaluation["objective"].to_numpy() - trace.optimum
    return found.clip(float(np.spacing(abs(trace.optimum))))


def final(trace: Trace, metric: str) -> float:
    """The metric of the model scored last; NaN if there is none, or it is no number."""
    if metric == "gap" and trace.evaluated:
        values = gaps(trace)
    elif trace.evaluated and metric in trace.evaluation:
        values = trace.evaluation[metric].to_numpy()
    else:
        values = curve(trace, metric)[2]
    return float(values[-1]) if len(values) and np.isfinite(values[-1]) else float("nan")


def points(trace: Trace, metric: str, along: str) -> tuple[Floats, Floats]:
    """(x, y) of a curve along time, rounds or samples."""
    rounds, times, values = curve(trace, metric)
    return (times if along == "time" else places(trace, along)[rounds.astype(int)]), values


def places(trace: Trace, along: str) -> Floats:
    """Where a run begins and its rounds end, along time, rounds or samples."""
    if along == "time":
        return trace.edges
    if along == "samples":
        return np.concatenate([[0.0], np.cumsum(trace.round["samples"])])
    return np.arange(trace.rounds + 1.0)


@dataclass
class Band:
    """Mean, least and greatest over seeds. Beyond the shortest seed's end there is none."""

    x: Floats
    mean: Floats
    low: Floats
    high: Floats


def band(traces: Sequence[Trace], metric: str, along: str, look: Look = PLAIN) -> Band:
    """The curves of one configuration; those without a value are left out."""
    curves = [points(trace, metric, along) for trace in traces]
    curves = [(x, look.smoothed(y)) for x, y in curves if len(x)]
    if not curves:
        return Band(*[np.array([])] * 4)
    grid = curves[0][0]
    if any(len(x) != len(grid) or np.any(x != grid) for x, _ in curves):
        begin, end = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
        grid = np.linspace(begin, end, GRID) if end > begin else np.array([end])
    values = np.stack([np.interp(grid, x, y) for x, y in curves])
    return Band(grid, values.mean(0), values.min(0), values.max(0))


def reached(trace: Trace, metric: str, target: float) -> tuple[float, float]:
    """(seconds, rounds) to the first model scored that is as good as the target; NaN if none is."""
    rounds, times, values = curve(trace, metric)
    good = values <= target if metric in SMALLER_IS_BETTER else values >= target
    if not good.any():
        return float("nan"), float("nan")
    first = int(np.argmax(good))
    return float(times[first]), float(rounds[first])


def usual_targets(groups: Sequence[Group], metric: str) -> list[float]:
    """Half, 90 % and 99 % of the way from the worst first value to what all configurations reach.

    A configuration counts with its best seed, one that diverged not at all.
    """
    better = np.min if metric in SMALLER_IS_BETTER else np.max
    worse = np.max if metric in SMALLER_IS_BETTER else np.min
    starts, ends = [], []
    for group in groups:
        values = [curve(t, metric)[2] for t in group.traces if t.evaluated and not t.diverged]
        values = [v for v in values if len(v)]
        if values:
            starts.append(worse([v[0] for v in values]))
            ends.append(better([better(v) for v in values]))
    if not ends:
        return []
    start, end = worse(starts), worse(ends)
    targets = []
    for way in (0.5, 0.9, 0.99):
        target = start + way * (end - start)
        digits = 2 - int(np.floor(np.log10(abs(end - start)))) if end != start else 3
        # Rounded towards the start, so that it is still reached.
        scale = 10.0**digits
        rounded = ceil if metric in SMALLER_IS_BETTER else floor
        targets.append(rounded(target * scale) / scale)
    return list(dict.fromkeys(targets))
