# SPDX-License-Identifier: BSD-2-Clause
"""Samples of a Dataset by their numbers, as batches on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import IterableDataset, TensorDataset
from torch.utils.data.dataloader import default_collate

from .._arrays import shown
from .._native import BadInput

Collate = Callable[[list[Any]], Any]


def length_of(dataset: Any, what: str) -> int:
    """The number of samples. Raises BadInput if they cannot be found by number."""
    kind = type(dataset).__name__
    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
        raise BadInput(
            f"the {what} {kind} has no length, but schemes find samples by their numbers, so that"
            " replicas agree: give a map-style Dataset with __len__ and __getitem__"
        )
    if not (hasattr(dataset, "__getitem__") or hasattr(dataset, "__getitems__")):
        raise BadInput(f"the {what} {kind} has no __getitem__: give a map-style Dataset")
    if len(dataset) == 0:
        raise BadInput(f"the {what} {kind} is empty: give it samples")
    return len(dataset)


def moved(batch: Any, device: Any, dtype: Any) -> Any:
    """A batch on a device, its real numbers in a type: tensors in tuples, lists and dicts of any
    depth, and what has a method `to`, as packed sequences have."""
    if torch.is_tensor(batch):
        return batch.to(device, dtype if batch.is_floating_point() else None)
    if isinstance(batch, dict):
        return {name: moved(one, device, dtype) for name, one in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(moved(one, device, dtype) for one in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(moved(one, device, dtype) for one in batch)
    return batch.to(device) if hasattr(batch, "to") else batch


class Samples:
    """A dataset to train on and perhaps one to evaluate on, whose numbers follow.

    collate: makes a batch (inputs, targets) of a list of samples; default: torch's.
    """

    def __init__(self, dataset: Any, evaluate: Any = None, collate: Collate | None = None) -> None:
        self.dataset, self.evaluate, self.collate = dataset, evaluate, collate
        self.count = length_of(dataset, "dataset")
        self.evaluated = 0 if evaluate is None else length_of(evaluate, "dataset to evaluate on")

    def batch(self, samples: npt.NDArray[np.int64], device: Any, dtype: Any) -> tuple[Any, Any]:
        """The inputs and targets of samples that are all of one of the datasets."""
        dataset, first = self.dataset, 0
        if samples[0] >= self.count:
            dataset, first = self.evaluate, self.count
        made = self._collated(dataset, (samples - first).tolist())
        if not isinstance(made, (list, tuple)) or len(made) != 2:
            raise BadInput(
                f"a batch is {shown(made)}: let samples be (inputs, target), or give a collate that"
                " makes (inputs, targets) of a list of samples"
            )
        return moved(made[0], device, dtype), moved(made[1], device, dtype)

    def _collated(self, dataset: Any, numbers: list[int]) -> Any:
        if self.collate is None and type(dataset) is TensorDataset:
            return [tensor[numbers] for tensor in dataset.tensors]  # as the stack of its rows is
        if hasattr(dataset, "__getitems__"):
            found = dataset.__getitems__(numbers)
        else:
            found = [dataset[number] for number in numbers]
        return (self.collate or default_collate)(found)
