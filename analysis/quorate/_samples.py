# SPDX-License-Identifier: BSD-2-Clause
"""Models and optimisers that know samples by their number, and work in place: what the compiled
module takes in the place of a Model and an Optimizer. For packages such as `quorate.torch`.

The data set of such a run has one column, the number of the sample: 0..N-1 to train on, from N on
to evaluate on. Arrays are of the type that `dtype` says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.int64]
Vector = npt.NDArray[Any]


class SampleModel:
    """A model of samples that it fetches itself.

    parameters: numbers of the vector. samples_at_once: the most that one call gets. dtype: float64
    or float32, of all vectors. Calls come from several threads, which hold the GIL. Views that they
    give are valid during the call only. What is computed must follow from the arguments alone.
    """

    parameters: int
    samples_at_once: int
    dtype: str = "float64"
    streams: bool = False  # samples are what comes next, whatever their numbers

    def initial(self, seed: int) -> Vector:
        """Returns the first point."""
        raise NotImplementedError

    def add_gradient(
        self, samples: Samples, point: Vector, coefficient: float, total: Vector
    ) -> float:
        """Adds coefficient x the sum of the samples' gradients at the point to total, in place.
        Returns the sum of their losses, without the coefficient."""
        raise NotImplementedError

    # A model may have a method expect(upcoming), too. It is called when a sum of gradients begins,
    # with an iterator of the `samples` that calls of add_gradient will get unless they are
    # interrupted. It may be read ahead of them, on any thread, and later than the sum is dropped.

    def score(self, samples: Samples, point: Vector) -> tuple[float, float]:
        """Returns the sum of the samples' losses and how many of them have the right class; NaN
        where there are no classes."""
        raise NotImplementedError


class WholeOptimizer:
    """An update rule that keeps the model itself. Made without arguments."""

    def begin(self, initial: Vector) -> Vector:
        """Returns the model, which has these numbers: an array whose memory stays where it is, as
        updates and resumptions move the model there. Called once, before all else."""
        raise NotImplementedError

    def update(self, estimate: Vector, step: float, next: Vector) -> None:
        """Moves the model by an estimate of the mean gradient, and copies it to `next`. step: a
        factor on the rule's own learning rates."""
        raise NotImplementedError

    def state(self) -> bytes:
        """Returns what later updates depend on beside the model."""
        raise NotImplementedError

    def set_state(self, state: bytes) -> None:
        """Takes what `state` returned."""
        raise NotImplementedError
