# SPDX-License-Identifier: BSD-2-Clause
"""Losses of batches as sums over samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .._arrays import shown
from .._native import BadInput

REDUCTIONS = ("mean", "sum")


def check_reduction(reduction: str) -> None:
    if reduction not in REDUCTIONS:
        raise BadInput(f"reduction is {shown(reduction)}: use {' or '.join(REDUCTIONS)}")


class Loss:
    """A function of (outputs, targets) that is a mean over the batch, or a sum.

    Raises BadInput for a loss that says itself, or shows by a batch that is taken twice, that it is
    the other one.
    """

    def __init__(self, function: Callable[[Any, Any], Any], reduction: str) -> None:
        check_reduction(reduction)
        own = getattr(function, "reduction", reduction)
        if own != reduction:
            remedy = f"reduction={own!r}" if own in REDUCTIONS else 'a loss with reduction="mean"'
            raise BadInput(
                f"the loss {type(function).__name__} has reduction={own!r}, but the Task"
                f" reduction={reduction!r}: give the Task {remedy}"
            )
        self._function, self._mean, self._checked = function, reduction == "mean", False

    def of(self, outputs: Any, targets: Any, samples: npt.NDArray[np.int64]) -> tuple[Any, int]:
        """The loss of a batch, a tensor of one element; times the second number it is a sum."""
        value = self._function(outputs, targets)
        if not torch.is_tensor(value) or value.numel() != 1:
            raise BadInput(
                f"the loss returned {shown(value)}: return one number, the mean over the batch, or"
                ' the sum with Task(..., reduction="sum")'
            )
        number = float(value.detach())
        if not math.isfinite(number):
            first = ", ".join(map(str, samples[:3]))
            more = ", ..." if len(samples) > 3 else ""
            raise BadInput(
                f"the loss of the samples {first}{more} is {number}: use a smaller learning rate,"
                " or look whether their numbers are finite"
            )
        if not self._checked:
            self._check_reduction(outputs, targets, number)
            self._checked = True
        return value, len(samples) if self._mean else 1

    def _check_reduction(self, outputs: Any, targets: Any, once: float) -> None:
        """A mean over a batch that is taken twice is the same, and a sum is twice as large."""
        if not (torch.is_tensor(outputs) and torch.is_tensor(targets)) or once == 0:
            return
        try:
            with torch.no_grad():
                twice = float(self._function(torch.cat([outputs] * 2), torch.cat([targets] * 2)))
        except (RuntimeError, ValueError, IndexError):  # it is for batches of this size
            return
        if math.isclose(twice / once, 2 if self._mean else 1, rel_tol=1e-3):
            is_, other = ("sum", "mean") if self._mean else ("mean", "sum")
            raise BadInput(
                f"the loss is a {is_} over the batch, but the Task says reduction={other!r}: give"
                f" the Task reduction={is_!r}, or make the loss a {other}"
            )


def right_answers(outputs: Any, targets: Any) -> float:
    """How many samples have their highest score at the target; NaN if these are no classes. Where
    a sample has several targets, such as pixels, the share of them that are right."""
    if not (torch.is_tensor(outputs) and torch.is_tensor(targets)):
        return math.nan
    classes = outputs.ndim >= 2 and not targets.is_floating_point()
    if not classes or outputs.shape[:1] + outputs.shape[2:] != targets.shape:
        return math.nan
    right = int((outputs.argmax(1) == targets).sum())
    return float(right * len(targets) / max(1, targets.numel()))
