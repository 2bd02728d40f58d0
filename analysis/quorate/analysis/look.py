# SPDX-License-Identifier: BSD-2-Clause
"""How curves and histograms are shown: logarithmic scales, limits, smoothing."""

from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes

from .figures import from_zero
from .traces import BadInput, Floats

SCALES = ("x", "y", "xy", "yx")
Limits = dict[str, tuple[float | None, float | None]]  # of x and y


@dataclass(frozen=True)
class Look:
    log: str = ""  # scales that are logarithmic
    limits: Limits = field(default_factory=dict)
    smooth: int = 1  # points that a point of a curve is the mean of

    def scale(self, axis: Axes, which: str) -> None:
        """Logarithmic if that is asked for; else it begins at zero."""
        if which not in self.log:
            from_zero(axis, which)

    def finish(self, axis: Axes) -> None:
        """To be called when all is drawn."""
        for which in self.log:
            (axis.set_xscale if which == "x" else axis.set_yscale)("log")
        for which, (low, high) in self.limits.items():
            if which == "x":
                axis.set_xlim(low, high)
            else:
                axis.set_ylim(low, high)

    def smoothed(self, values: Floats) -> Floats:
        """Each value the mean of `smooth` values around it; of fewer at the ends, as many on one
        side as on the other."""
        if self.smooth < 2 or not len(values):
            return values
        reaches = [min(self.smooth // 2, i, len(values) - 1 - i) for i in range(len(values))]
        return np.array([values[i - n : i + n + 1].mean() for i, n in enumerate(reaches)])


PLAIN = Look()


def look_of(log: str, limits: str, smooth: int) -> Look:
    """From --log, --limits and --smooth. Raises BadInput."""
    if log and log not in SCALES:
        raise BadInput(f"--log: '{log}' is no scale: say x, y or xy")
    if smooth < 1 or smooth % 2 == 0:
        raise BadInput(f"--smooth: {smooth} points have no middle: give an odd number, as 9")
    return Look(log, dict(limit_of(word, log) for word in limits.split(",") if word), smooth)


def limit_of(word: str, log: str) -> tuple[str, tuple[float | None, float | None]]:
    """x=0:10 as a pair; an end that is left out is as it is drawn. Raises BadInput."""
    which, _, ends = word.strip().partition("=")
    low, colon, high = ends.partition(":")
    try:
        found = tuple(float(end) if end else None for end in (low, high))
    except ValueError:
        found = ()
    known = [end for end in found if end is not None]
    if which not in ("x", "y") or not colon or not known or not np.isfinite(known).all():
        raise BadInput(f"--limits: '{word}' is no limit: write x=LOW:HIGH or y=LOW:HIGH, as y=0:1")
    if len(known) == 2 and known[0] >= known[1]:
        raise BadInput(f"--limits: '{word}' ends before it begins: give the lower end first")
    if which in log and known[0] <= 0:
        raise BadInput(
            f"--limits: '{word}' has no place on the logarithmic scale of --log {log}: give ends "
            "above 0"
        )
    return which, (found[0], found[1])
