# SPDX-License-Identifier: BSD-2-Clause
"""A module, a dataset, a loss and an optimiser, in the place of a data set."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays import shown
from .._native import BadInput
from .._samples import SampleModel
from ._loss import Loss
from ._optimizer import PRECISIONS, MakeOptimizer, MakeScheduler, Updates
from ._replica import Replica
from ._samples import Collate, Samples
from ._training import Training, TrainingModel, load_state
from ._vector import check_module


class Task(Training):
    """A module of PyTorch, what it is trained on and how: give it to `run`, `simulate`, `compare`
    or `sweep` in the place of a data set.

    module: maps the inputs of a batch to what `loss` takes. It is copied: a run begins with its
    parameters and buffers as they are now, and leaves it alone; `state` gives those at the end. Its
    layers train or evaluate as it says now (module.eval(), or of some layers, freezes their
    statistics).
    dataset: map-style, of samples (inputs, target). Workers fetch the samples that they need. Or an
    IterableDataset, for schemes of one partition a worker, each of which takes what comes next in
    its own process; length: how many of its samples make an epoch, if it has no __len__.
    loss(outputs, targets): a mean over the batch, or a sum with reduction="sum".
    optimizer: makes an optimiser of a list of parameters, `lambda p: torch.optim.AdamW(p, 3e-4)`.
    These are copies of the module's that have requires_grad, in their order. The option `step` of a
    run is a factor on the learning rates, 1 by default.
    scheduler: makes a scheduler of that optimiser; it steps once an update.
    inner: makes the optimiser of local steps, for schemes that have them. Each worker has its own.
    Then `optimizer` is the outer one, which takes their mean displacement.
    evaluate: a further dataset to evaluate on. Models are evaluated, on all samples of both, only
    if a run has the option `evaluate_every`.
    collate: makes a batch (inputs, targets) of a list of samples; default: torch's.
    device: where workers compute; "auto": a GPU of the rank's own, or the CPU.
    precision: "float32" or "float64", of parameters, inputs and gradients. update_device,
    update_precision: of the updates at the coordinator; default: the CPU, and `precision`.
    micro_batch: the most samples that are computed at once.
    threads: with which a rank computes; "auto": over MPI the cores that it may use, else 1.
    state: of `state`, to begin from. name: what traces call the model.

    Samples of a batch are computed in micro-batches, whose statistics batch normalisation uses; its
    running statistics move by the mean over the micro-batches that a round uses. What layers and
    datasets draw by torch, random and numpy.random follows from the seed, the number of updates and
    the samples. Raises BadInput for what cannot work.
    """

    def __init__(
        self,
        module: Any,
        dataset: Any,
        loss: Callable[[Any, Any], Any],
        optimizer: MakeOptimizer,
        *,
        scheduler: MakeScheduler | None = None,
        inner: MakeOptimizer | None = None,
        length: int | None = None,
        evaluate: Any = None,
        collate: Collate | None = None,
        reduction: str = "mean",
        device: str = "auto",
        precision: str = "float32",
        update_device: str = "cpu",
        update_precision: str | None = None,
        micro_batch: int | None = None,
        threads: int | str = "auto",
        state: Mapping[str, Any] | None = None,
        name: str = "",
    ) -> None:
        if precision not in PRECISIONS:
            raise BadInput(f"precision is {shown(precision)}: use {' or '.join(PRECISIONS)}")
        samples = Samples(dataset, evaluate, collate, length)
        updates = Updates(optimizer, scheduler, inner, update_device, update_precision)
        own = _copied(module, PRECISIONS[precision])
        if state is not None:
            load_state(own, state)
        self.replica = Replica(own, samples, Loss(loss, reduction), device)
        counts = samples.count, samples.evaluated
        vector, streams = self.replica.vector, samples.streams
        more = micro_batch, threads, state, reduction
        super().__init__(vector, counts, updates, *more, name=name, streams=streams)

    def new_model(self, chance: int = 0) -> SampleModel:
        return TaskModel(self, chance)

    def copied_module(self) -> Any:
        return self.replica.copied_module()


class TaskModel(TrainingModel):
    """What C++ asks for gradients."""

    def __init__(self, task: Task, chance: int) -> None:
        super().__init__(task)
        self._replica, self._chance = task.replica, chance

    def add_gradient(
        self,
        samples: npt.NDArray[np.int64],
        point: npt.NDArray[Any],
        coefficient: float,
        total: npt.NDArray[Any],
    ) -> float:
        return self._replica.add_gradient(self._chance, samples, point, coefficient, total)

    def score(self, samples: npt.NDArray[np.int64], point: npt.NDArray[Any]) -> tuple[float, float]:
        return self._replica.score(self._chance, samples, point)


def _copied(module: Any, dtype: Any) -> Any:
    """A copy of a module on the CPU, in a type."""
    check_module(module)
    return copy.deepcopy(module).cpu().to(dtype)
