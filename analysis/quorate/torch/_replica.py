# SPDX-License-Identifier: BSD-2-Clause
"""A copy of a module that computes for all workers of a process."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .._native import BadInput
from ._chance import computing, seed_chance
from ._device import device_here, named_device
from ._loss import Loss, right_answers
from ._samples import Samples
from ._vector import Vector, tensor_of


class Replica:
    """Gradients and scores of samples at any point. Threads take turns.

    module: taken over, on the CPU. It goes to the device with the first computation, when it is
    known which rank this is.
    """

    def __init__(self, module: Any, samples: Samples, loss: Loss, device: Any) -> None:
        self.vector, self._samples, self._loss = Vector(module), samples, loss
        self._wanted, self._device = named_device(device), torch.device("cpu")
        self._training = [one for one in module.modules() if one.training]
        self._moved = False

    def copied_module(self) -> Any:
        """A copy of the module on the CPU, at any point."""
        with computing:
            self._set_training(True)
            return self.vector.copied_module()

    def add_gradient(
        self,
        seed: int,
        samples: npt.NDArray[np.int64],
        point: npt.NDArray[Any],
        coefficient: float,
        total: npt.NDArray[Any],
    ) -> float:
        """Adds coefficient x the sum of the samples' gradients to total; returns their loss."""
        with computing:
            vector = self._at(point)
            self._set_training(True)
            inputs, targets = self._batch(seed, samples)
            value, factor = self._loss.of(vector.module(inputs), targets, samples)
            if not value.requires_grad:
                raise BadInput(
                    "the loss does not depend on the parameters: compute it of the module's"
                    " outputs, without detach() or no_grad()"
                )
            value.backward()
            vector.displaced(len(samples) // factor)
            vector.add_to(tensor_of(total), factor * coefficient)
            return factor * float(value.detach())

    def score(
        self, seed: int, samples: npt.NDArray[np.int64], point: npt.NDArray[Any]
    ) -> tuple[float, float]:
        """The sum of the samples' losses, and how many have the right class (NaN: no classes), with
        all layers as module.eval() has them."""
        with computing, torch.no_grad():
            vector = self._at(point)
            self._set_training(False)
            inputs, targets = self._batch(seed, samples)
            outputs = vector.module(inputs)
            value, factor = self._loss.of(outputs, targets, samples)
            return factor * float(value), right_answers(outputs, targets)

    def _at(self, point: npt.NDArray[Any]) -> Vector:
        if not self._moved:
            self._device, self._moved = device_here(self._wanted), True
            if self._device.type != "cpu":
                self.vector = Vector(self.vector.module.to(self._device))
        self.vector.write(tensor_of(point))
        return self.vector

    def _batch(self, seed: int, samples: npt.NDArray[np.int64]) -> tuple[Any, Any]:
        """A batch. Layers do not go on with the draws of its samples, which processes of a loader
        may have fetched elsewhere."""
        seed_chance(seed, self.vector.updates, samples)
        batch = self._samples.batch(samples, self._device, self.vector.numbers.dtype)
        seed_chance(seed, self.vector.updates, samples)
        return batch

    def _set_training(self, training: bool) -> None:
        """As the user had the layers, or all for evaluation."""
        if training:
            for one in self._training:
                one.training = True
        else:
            self.vector.module.eval()
