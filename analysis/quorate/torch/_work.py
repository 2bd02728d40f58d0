# SPDX-License-Identifier: BSD-2-Clause
"""A worker's tasks as the user's loop sees them: batches of its loader, and a backward for each."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np
import torch

from .._arrays import shown
from .._native import BadInput, logger
from ._chance import seed_chance
from ._handover import Asked, Expected, Ended, Handover, Numbers
from ._samples import Coming
from ._vector import Vector, tensor_of


def _told(samples: Numbers) -> str:
    """Some of the numbers, for messages."""
    few = ", ".join(str(one) for one in samples[:4])
    return f"{few}, ... ({len(samples)} samples)" if len(samples) > 4 else f"samples {few}"


class Upcoming:
    """The micro-batches that a task has left. A loader may draw them before they are computed.

    updates: how many the model has had for the one that was asked for last.
    """

    def __init__(self, lists: Iterator[Numbers]) -> None:
        self._lists, self.updates = lists, 0
        self._left: deque[Numbers] = deque()  # read, and not computed yet
        self.drawn = 0  # how many of these the loader has

    def _reaches(self, count: int) -> bool:
        while len(self._left) < count:
            one = next(self._lists, None)
            if one is None:
                return False
            self._left.append(one)
        return True

    def draw(self) -> Numbers | None:
        """The next one for the loader; None: there are no more."""
        if not self._reaches(self.drawn + 1):
            return None
        self.drawn += 1
        return self._left[self.drawn - 1]

    def first(self) -> Numbers | None:
        """The one to be computed next; None: all are."""
        return self._left[0] if self._reaches(1) else None

    def computed(self) -> None:
        self._left.popleft()
        self.drawn -= 1


def _seeded(numbers: list[int], seed: int, updates: int) -> list[int]:
    """What a loader's process unpickles a batch's list with, just before it fetches the samples."""
    seed_chance(seed, updates, np.array(numbers, np.int64))
    return numbers


class _Keyed(list[int]):
    """The numbers of a batch's samples. They bring their key where they are sent to a process."""

    key: tuple[int, int]

    def __reduce__(self) -> tuple[Any, ...]:
        return _seeded, (list(self), *self.key)


class Sampler:
    """The batch sampler of a worker's loader: the samples that the scheme wants of this rank.

    Each pass is one task. What a Dataset draws with torch, random or numpy.random follows from the
    seed of the run, the number of updates and the batch's samples, also in a loader's processes:
    replicas of a batch agree. But processes read ahead with the number that is known then, which is
    another one where a task takes several points.

    streams: the loader is of an IterableDataset, and gives what comes next.
    """

    def __init__(self, seed: int = 0, streams: bool = False) -> None:
        self.seed, self.streams = seed, streams  # the seed is that of the run, once it has begun
        self._pass: Upcoming | None = None
        self._stream: tuple[Any, Coming] | None = None  # of a loader

    def fetched(self, loader: Iterable[Any], upcoming: Upcoming) -> Iterator[Any]:
        """The loader's batches of a task."""
        if not self.streams:
            self._pass = upcoming
            return iter(loader)
        if self._stream is None or self._stream[0] is not loader:
            self._stream = loader, Coming(loader)
        return self._streamed(self._stream[1], upcoming)

    @staticmethod
    def _streamed(coming: Coming, upcoming: Upcoming) -> Iterator[Any]:
        for batch in coming:
            upcoming.draw()
            yield batch

    def __iter__(self) -> Iterator[list[int]]:
        if self._pass is None:
            raise BadInput(
                "a loader with job.sampler was iterated outside of a task: iterate"
                " work.batches(loader), on ranks that have work"
            )
        upcoming, self._pass = self._pass, None
        while (samples := upcoming.draw()) is not None:
            numbers = _Keyed(samples.tolist())
            numbers.key = self.seed, upcoming.updates
            seed_chance(*numbers.key, samples)  # a loader without processes fetches now
            yield numbers


def _lengths(batch: Any) -> Iterator[int]:
    """Of all tensors in a batch, how many rows they have."""
    if torch.is_tensor(batch):
        yield len(batch) if batch.ndim else 1
    elif isinstance(batch, (str, bytes)):
        return
    elif isinstance(batch, (tuple, list)):
        for one in batch:
            yield from _lengths(one)
    elif isinstance(batch, dict):
        for one in batch.values():
            yield from _lengths(one)


def _check_size(batch: Any, samples: Numbers, streams: bool) -> None:
    """Refuses a batch in which no tensor has a row for each sample."""
    lengths, asked = list(_lengths(batch)), len(samples)
    if not lengths or asked in lengths:
        return
    remedy = "let collate_fn keep all samples, and give one tensor with a row for each"
    if streams:
        remedy = (
            f"of a stream, make it with batch_size={asked}, drop_last=True; or let `batch` be the"
            " loader's batch_size times the workers"
        )
    raise BadInput(
        f"the loader gave a batch of {lengths[0]} samples where {asked} were asked for: {remedy}"
    )


_slow: set[int] = set()  # loaders of which that was told


def _check_loader(loader: Any, streams: bool) -> None:
    if not getattr(loader, "in_order", True):
        raise BadInput("the loader has in_order=False, which mixes batches up: leave it out")
    processes = getattr(loader, "num_workers", 0)
    restarts = not (streams or getattr(loader, "persistent_workers", True))
    if processes and restarts and id(loader) not in _slow:
        _slow.add(id(loader))
        logger.warning(
            f"the loader starts {processes} processes for each task: give it"
            " persistent_workers=True"
        )


class Work:
    """A task of this worker: some micro-batches, whose samples the scheme chose."""

    def __init__(
        self,
        handover: Handover,
        vector: Vector,
        sampler: Sampler,
        mean: bool,
        upcoming: Upcoming,
    ) -> None:
        self._handover, self._vector, self._sampler, self._mean = handover, vector, sampler, mean
        self._upcoming, self._began = upcoming, False
        self._due: Asked | None = None  # the micro-batch that the loop has, and
        self._loss: float | None = None  # the sum of its losses after its backward
        self._flat = False  # whether its gradient is zero

    @property
    def updates(self) -> int:
        """How many updates the model has had, for logs."""
        return self._upcoming.updates

    def batches(self, loader: Iterable[Any]) -> Iterator[Any]:
        """The loader's batches of this task, until it is done or overtaken. While the loop has a
        batch, the module holds the point at which its gradient is wanted.

        loader: a DataLoader with batch_sampler=job.sampler, or what iterates one.
        Raises BadInput if a batch had no backward, or other samples than job.sampler gave.
        """
        if self._began:
            raise BadInput("work.batches() was called twice: a task is one pass over the loader")
        self._began = True
        _check_loader(loader, self._sampler.streams)
        fetched = self._sampler.fetched(loader, self._upcoming)
        while (asked := self._next()) is not None:
            batch = next(fetched, self)
            if batch is self or self._upcoming.drawn < 1:
                raise BadInput(
                    "the loader does not give the batches of job.sampler: make it with"
                    " DataLoader(dataset, batch_sampler=job.sampler)"
                )
            _check_size(batch, asked.samples, self._sampler.streams)
            self._vector.write(tensor_of(asked.point))
            seed_chance(self._sampler.seed, self.updates, asked.samples)
            self._due = asked
            yield batch
            self._give()

    def _next(self) -> Asked | None:
        """The micro-batch that the engine asks for; None: the task is done or overtaken."""
        samples = self._upcoming.first()
        if samples is None:
            return None
        message = self._handover.first()
        if not isinstance(message, Asked) or not np.array_equal(message.samples, samples):
            return None
        self._handover.take()
        self._upcoming.updates = int(message.point[-1])
        return message

    def backward(self, loss: Any) -> None:
        """Runs loss.backward() for the batch that the loop has. Its gradients are then in the
        module, to be clipped or logged; they count as they are when the loop goes on.

        loss: a tensor of one number, the mean over the batch, or the sum if qt.join was told so.
        Raises BadInput if it is called twice for a batch, or if the loss is not finite.
        """
        if self._due is None or self._loss is not None:
            raise BadInput(
                "work.backward() was called without a batch that wants it: call it once for each"
                " batch of work.batches(loader)"
            )
        samples = self._due.samples
        if not torch.is_tensor(loss) or loss.numel() != 1 or not loss.requires_grad:
            raise BadInput(
                f"the loss is {shown(loss)}: give work.backward() a tensor of one number that"
                " follows from the module's parameters"
            )
        value = float(loss.detach())
        if not math.isfinite(value):
            raise BadInput(
                f"the loss of {_told(samples)} is {value} after {self.updates} updates: look at"
                " these samples, or lower the learning rate"
            )
        loss.backward()
        self._flat = self._has_no_gradient()
        self._loss = value * len(samples) if self._mean else value

    def _has_no_gradient(self) -> bool:
        # The last one is mostly the bias of the outputs, and tells soon that there is one.
        last_first = reversed(self._vector.trained)
        return not any(one.grad is not None and one.grad.any() for one in last_first)

    def _give(self) -> None:
        """Hands over the gradient of the batch that the loop had."""
        asked, loss = self._due, self._loss
        assert asked is not None
        if loss is None:
            raise BadInput(
                f"the batch of {_told(asked.samples)} had no backward: call work.backward(loss)"
                " once for each batch"
            )
        if not self._flat and self._has_no_gradient():
            raise BadInput(
                "the gradients are gone after work.backward(loss): leave zero_grad() out of the"
                " loop, each batch begins with zeros"
            )
        count = len(asked.samples)
        # Of a mean the vector has the mean gradient, and the buffers once.
        self._vector.displaced(1 if self._mean else count)
        factor = count if self._mean else 1
        self._vector.add_to(tensor_of(asked.total), asked.coefficient * factor)
        self._due = self._loss = None
        self._upcoming.computed()
        self._handover.answer(loss)

    def end(self) -> None:
        """The loop is done with the task. Raises BadInput if the task is not."""
        if self._due is not None:
            raise BadInput(
                f"the loop left a task at the batch of {_told(self._due.samples)}: go through all"
                " of work.batches(loader), to stop early ends the run for all ranks"
            )
        if not self._began:
            raise BadInput("the loop left a task out: go through work.batches(loader) for each")


def tasks(
    handover: Handover, vector: Vector, sampler: Sampler, mean: bool
) -> Generator[Work, None, BaseException | None]:
    """A worker's tasks until the run ends. Returns the error that it has ended with."""
    while True:
        message = handover.first()
        upcoming: Iterator[Numbers] = iter(())
        if isinstance(message, Expected):
            upcoming = message.upcoming
            handover.take()
            message = handover.first()
            if isinstance(message, Expected):
                continue  # overtaken before its first micro-batch
        if isinstance(message, Ended):
            return message.error
        left = Upcoming(upcoming)
        first = left.first()
        if first is None or not np.array_equal(first, message.samples):
            left = Upcoming(iter([message.samples]))
        left.updates = int(message.point[-1])
        work = Work(handover, vector, sampler, mean, left)
        yield work
        work.end()
