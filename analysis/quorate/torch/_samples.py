# SPDX-License-Identifier: BSD-2-Clause
"""Samples of a Dataset by their numbers, as batches on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import IterableDataset, TensorDataset
from torch.utils.data.dataloader import default_collate

from .._arrays import shown
from .._native import BadInput

Collate = Callable[[list[Any]], Any]


def is_stream(dataset: Any) -> bool:
    """Whether a dataset gives its samples in an order of its own."""
    return isinstance(dataset, IterableDataset)


def length_of(dataset: Any, what: str, length: int | None = None) -> int:
    """The number of samples. length: of a stream, what counts as an epoch. Raises BadInput if there
    is none, or if they cannot be found by number."""
    kind, streams = type(dataset).__name__, is_stream(dataset)
    if length is not None:
        if not streams:
            raise BadInput(
                f"length is {shown(length)}, but the {what} {kind} has a length: leave it out, as"
                " it is for an IterableDataset"
            )
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise BadInput(f"length is {shown(length)}: give how many samples make an epoch")
        return length
    if streams and not hasattr(dataset, "__len__"):
        raise BadInput(
            f"the {what} {kind} has no __len__: say with length=50_000 how many samples make an"
            " epoch, or give a map-style Dataset"
        )
    if not hasattr(dataset, "__len__"):
        raise BadInput(
            f"the {what} {kind} has no length, but schemes find samples by their numbers, so that"
            " replicas agree: give a map-style Dataset with __len__ and __getitem__"
        )
    if not (streams or hasattr(dataset, "__getitem__") or hasattr(dataset, "__getitems__")):
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


class Coming(Iterator[Any]):
    """What comes next of an iterable, which begins again at its end."""

    def __init__(self, iterable: Iterable[Any]) -> None:
        self._iterable = iterable
        self._left: Iterator[Any] = iter(())

    def __next__(self) -> Any:
        one = next(self._left, self)
        if one is self:
            self._left = iter(self._iterable)
            one = next(self._left, self)
        if one is self:
            raise BadInput(f"{type(self._iterable).__name__} gives nothing: give it samples")
        return one


class Samples:
    """A dataset to train on and perhaps one to evaluate on, whose numbers follow.

    collate: makes a batch (inputs, targets) of a list of samples; default: torch's. length: of a
    dataset that is a stream, which gives what comes next whatever the numbers, and begins again at
    its end.
    """

    def __init__(
        self,
        dataset: Any,
        evaluate: Any = None,
        collate: Collate | None = None,
        length: int | None = None,
    ) -> None:
        self.dataset, self.evaluate, self.collate = dataset, evaluate, collate
        self.count, self.streams = length_of(dataset, "dataset", length), is_stream(dataset)
        self.evaluated = 0
        if is_stream(evaluate):
            raise BadInput(
                "evaluate is an IterableDataset: give a map-style one, to be scored again"
            )
        if evaluate is not None:
            self.evaluated = length_of(evaluate, "dataset to evaluate on")
        self._coming = Coming(dataset) if self.streams else None

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
        if self._coming is not None and dataset is self.dataset:
            found = list(islice(self._coming, len(numbers)))
            return (self.collate or default_collate)(found)
        if self.collate is None and type(dataset) is TensorDataset:
            return [tensor[numbers] for tensor in dataset.tensors]  # as the stack of its rows is
        if hasattr(dataset, "__getitems__"):
            found = dataset.__getitems__(numbers)
        else:
            found = [dataset[number] for number in numbers]
        return (self.collate or default_collate)(found)
