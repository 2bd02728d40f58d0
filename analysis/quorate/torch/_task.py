# SPDX-License-Identifier: BSD-2-Clause
"""A module, a dataset, a loss and an optimiser, in the place of a data set."""

from __future__ import annotations

import copy

import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from .._arrays import shown
from .._components import _register, _word
from .._data import DataSet
from .._data import dataset as data_set_of
from .._native import BadInput
from .._result import Result
from .._samples import SampleModel
from .._tasks import BaseTask, Finish
from ._chance import kept_chance
from ._loss import Loss
from ._optimizer import MakeOptimizer, MakeScheduler, TorchOptimizer
from ._replica import Replica
from ._samples import Collate, Samples
from ._vector import check_values

MICRO_BATCH = 128
PRECISIONS = {"float32": torch.float32, "float64": torch.float64}


class Task(BaseTask):
    """A module of PyTorch, what it is trained on and how: give it to `run`, `simulate`, `compare`
    or `sweep` in the place of a data set.

    module: maps the inputs of a batch to what `loss` takes. It is copied: a run begins with its
    parameters and buffers as they are now, and leaves it alone; `state` gives those at the end. Its
    layers train or evaluate as it says now (module.eval(), or of some layers, freezes their
    statistics).
    dataset: map-style, of samples (inputs, target). Workers fetch the samples that they need.
    loss(outputs, targets): a mean over the batch, or a sum with reduction="sum".
    optimizer: makes an optimiser of a list of parameters, `lambda p: torch.optim.AdamW(p, 3e-4)`.
    These are copies of the module's that have requires_grad, in their order. The option `step` of a
    run is a factor on the learning rates, 1 by default.
    scheduler: makes a scheduler of that optimiser; it steps once an update.
    evaluate: a further dataset to evaluate on. Models are evaluated, on all samples of both, only
    if a run has the option `evaluate_every`.
    collate: makes a batch (inputs, targets) of a list of samples; default: torch's.
    device: where workers compute; "auto": a GPU of the rank's own, or the CPU.
    precision: "float32" or "float64", of parameters, inputs and gradients.
    micro_batch: the most samples that are computed at once.
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
        evaluate: Any = None,
        collate: Collate | None = None,
        reduction: str = "mean",
        device: str = "auto",
        precision: str = "float32",
        micro_batch: int | None = None,
        state: Mapping[str, Any] | None = None,
        name: str = "",
    ) -> None:
        if precision not in PRECISIONS:
            raise BadInput(f"precision is {shown(precision)}: use {' or '.join(PRECISIONS)}")
        self.samples = Samples(dataset, evaluate, collate)
        self.loss = Loss(loss, reduction)
        self.micro_batch = _checked_micro_batch(micro_batch)
        self.device, self._optimizer, self._scheduler = device, optimizer, scheduler
        self._state = state
        self._made: list[list[TorchOptimizer]] = []  # by the runs that go on
        own = _copied(module, PRECISIONS[precision])
        if state is not None:
            _load(own, state)
        self.replica = Replica(own, self.samples, self.loss, device)
        self.initial = self.replica.initial(0 if state is None else state.get("updates", 0))
        self.new_optimizer()  # tells now what is wrong with it
        self.name = _add(
            self,
            name or f"torch-{_word(type(module).__name__)}",
            f"{self.replica.text}, {self.samples.count} + {self.samples.evaluated} samples, at most"
            f" {self.micro_batch} at once, {reduction} of losses",
        )

    @cached_property
    def numbers(self) -> DataSet:
        """The numbers of the samples, as the data set of a run."""
        count, evaluated = self.samples.count, self.samples.evaluated
        rows = np.arange(count + evaluated, dtype=float)[:, np.newaxis]
        test = (rows[count:], np.zeros(evaluated)) if evaluated else ()
        return data_set_of(rows[:count], np.zeros(count), *test, task="regression")

    def keywords(self, given: Mapping[str, Any]) -> dict[str, Any]:
        for name, part in (("model", "module"), ("optimizer", "optimizer")):
            if given.get(name) is not None:
                raise BadInput(f"{name} is given beside a Task, which has its {part}: leave it out")
        own = {"data": self.numbers, "model": self.name, "optimizer": self.name}
        defaults = {"step": 1, "l2": 0, "chance": given.get("seed")}
        return {**defaults, **{n: v for n, v in given.items() if v is not None}, **own}

    @contextmanager
    def watch(self) -> Iterator[Finish]:
        made: list[TorchOptimizer] = []
        self._made.append(made)

        def finish(result: Result) -> None:
            result.module_state = _final(made, result)

        try:
            with kept_chance():
                yield finish
        finally:
            self._made = [one for one in self._made if one is not made]

    def new_model(self, chance: int = 0) -> SampleModel:
        """The model of a run."""
        return TaskModel(self, chance)

    def new_optimizer(self) -> TorchOptimizer:
        """The optimiser of a run, with a copy of the module."""
        module = self.replica.copied_module()
        state = None if self._state is None else dict(self._state)
        made = TorchOptimizer(module, self._optimizer, self._scheduler, state)
        for run in self._made:
            run.append(made)
        return made


class TaskModel(SampleModel):
    """What C++ asks for gradients."""

    def __init__(self, task: Task, chance: int) -> None:
        self._task, self._chance = task, chance
        self.parameters, self.samples_at_once = task.replica.size, task.micro_batch

    def initial(self, seed: int) -> npt.NDArray[Any]:
        first: npt.NDArray[Any] = self._task.initial.numpy().astype(self.dtype)
        return first

    def add_gradient(
        self,
        samples: npt.NDArray[np.int64],
        point: npt.NDArray[Any],
        coefficient: float,
        total: npt.NDArray[Any],
    ) -> float:
        return self._task.replica.add_gradient(self._chance, samples, point, coefficient, total)

    def score(self, samples: npt.NDArray[np.int64], point: npt.NDArray[Any]) -> tuple[float, float]:
        return self._task.replica.score(self._chance, samples, point)


def state(result: Result) -> dict[str, Any]:
    """What a run of a Task has trained, for torch.save: "module" and "optimizer" and "scheduler"
    (None if there is none), their state_dicts, and "updates", their number. torch.load reads it
    without Quorate; Task(state=...) begins there. Raises BadInput for the result of another run."""
    if result.module_state is None:
        raise BadInput(
            f"{result.label} has no state of PyTorch: take it of what `run` or `simulate` returned"
            " for a Task"
        )
    return dict(result.module_state)


def _final(made: list[TorchOptimizer], result: Result) -> dict[str, Any] | None:
    """Of the optimisers that were made while a run went on, the state of the one that is the
    run's: other threads may have made some."""
    model = result.model
    for one in made:
        if one.begun and np.array_equal(one.vector, model, equal_nan=True):
            return {"module": one.module.state(), **one.state_dicts()}
    return None


def _checked_micro_batch(given: int | None) -> int:
    if given is None:
        return MICRO_BATCH
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 1:
        raise BadInput(f"micro_batch is {shown(given)}: use a number of samples, 1 or more")
    return int(given)


def _copied(module: Any, dtype: Any) -> Any:
    """A copy of a module on the CPU, in a type."""
    if not isinstance(module, torch.nn.Module):
        raise BadInput(f"module is {shown(module)}: give a torch.nn.Module")
    check_values(module)
    return copy.deepcopy(module).cpu().to(dtype)


def _load(module: Any, state: Mapping[str, Any]) -> None:
    if not isinstance(state, Mapping) or "module" not in state:
        raise BadInput(
            f"state is {shown(state)}: give what quorate.torch.state returned, or a dict with the"
            " module's state_dict as 'module'"
        )
    try:
        module.load_state_dict(state["module"])
    except RuntimeError as error:
        reason = shown(" ".join(str(error).split()), 200)
        raise BadInput(f"the state is of another module: {reason}") from error


class _Makes(Protocol):
    """What makes the model and the optimiser of a run."""

    def new_model(self, chance: int = 0) -> SampleModel:
        ...

    def new_optimizer(self) -> TorchOptimizer:
        ...


def _add(task: _Makes, word: str, what: str) -> str:
    """Adds model and optimiser of a task to what options can name. The registries stay for ever,
    the task lives as long as somebody has it. what: says what must be alike on all ranks, which
    they compare."""
    weak, token = weakref.ref(task), object()

    def living() -> _Makes:
        found = weak()
        if found is None:
            raise BadInput(f"the Task of the model {word} is no more: keep it while its runs go on")
        return found

    text = f"a module of PyTorch: {what}"
    chance = [["chance", "N", "0", "key of what a module of PyTorch draws: the seed", "int"]]
    name = _register(
        "model", word, token, lambda chance=0: living().new_model(chance), text, "", chance
    )
    optimizer = _register(
        "optimizer", name, token, lambda: living().new_optimizer(), f"that of {text}", "", []
    )
    assert name == optimizer
    return name
