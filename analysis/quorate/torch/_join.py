# SPDX-License-Identifier: BSD-2-Clause
"""The user keeps the training loop, and the engine runs beside it in a thread of its own."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .._arrays import shown
from .._components import _word
from .._data import DataSet
from .._data import dataset as data_set_of
from .._native import BadInput, _quorate
from .._result import Result
from .._run import end_all_ranks, run
from .._samples import SampleModel
from .._tasks import BaseTask, Finish
from .._threads import one_thread
from ._chance import kept_chance
from ._handover import Handover, Numbers
from ._loss import REDUCTIONS
from ._optimizer import MakeOptimizer, MakeScheduler, TorchOptimizer
from ._samples import length_of
from ._task import _add, _checked_micro_batch, _final, _load
from ._vector import Vector
from ._work import Sampler, Work, tasks


class LoopModel(SampleModel):
    """What C++ asks for gradients: it asks the loop."""

    def __init__(self, task: LoopTask) -> None:
        self._task, self._handover = task, task.handover
        self.parameters, self.samples_at_once = task.vector.size, task.micro_batch

    def initial(self, seed: int) -> npt.NDArray[Any]:
        first: npt.NDArray[Any] = self._task.initial.numpy().astype(self.dtype)
        return first

    def begin(self, upcoming: Iterator[Numbers]) -> None:
        """Is told the samples of each micro-batch that may be asked for next, in their order."""
        self._handover.begin(upcoming)

    def add_gradient(
        self,
        samples: Numbers,
        point: npt.NDArray[Any],
        coefficient: float,
        total: npt.NDArray[Any],
    ) -> float:
        return self._handover.add_gradient(samples, point, coefficient, total)

    def score(self, samples: Numbers, point: npt.NDArray[Any]) -> tuple[float, float]:
        raise BadInput("a loop of your own scores no models: leave evaluate_every out")


class LoopTask(BaseTask):
    """What a run needs to know of the loop."""

    def __init__(
        self,
        module: Any,
        count: int,
        optimizer: MakeOptimizer,
        scheduler: MakeScheduler | None,
        micro_batch: int,
        state: Mapping[str, Any] | None,
    ) -> None:
        self.vector, self.handover = Vector(module), Handover()
        self.count, self.micro_batch = count, micro_batch
        self._optimizer, self._scheduler, self._state = optimizer, scheduler, state
        self._made: list[TorchOptimizer] = []
        self.initial = torch.empty(self.vector.size, dtype=self.vector.numbers.dtype)
        self.vector.updates = 0 if state is None else state.get("updates", 0)
        self.vector.read(self.initial)
        self.name = _add(
            self,
            f"torch-{_word(type(module).__name__)}",
            f"{self.vector}, {self.count} samples, at most {self.micro_batch} at once",
        )

    @cached_property
    def numbers(self) -> DataSet:
        """The numbers of the samples, as the data set of a run."""
        rows = np.arange(self.count, dtype=float)[:, np.newaxis]
        return data_set_of(rows, np.zeros(self.count), task="regression")

    def keywords(self, given: Mapping[str, Any]) -> dict[str, Any]:
        own = {"data": self.numbers, "model": self.name, "optimizer": self.name}
        own |= {"threads": 1, "evaluate_every": 0}
        for name in own:
            if given.get(name):
                raise BadInput(f"{name} is given, which a loop of your own decides: leave it out")
        others = {name: value for name, value in given.items() if value is not None}
        return {"step": 1, "l2": 0, **others, **own}

    @contextmanager
    def watch(self) -> Iterator[Finish]:
        def finish(result: Result) -> None:
            result.module_state = _final(self._made, result)
            self.vector.write(torch.tensor(result.model))

        yield finish

    def new_model(self, chance: int = 0) -> SampleModel:
        return LoopModel(self)

    def new_optimizer(self) -> TorchOptimizer:
        """The coordinator's, with a copy of the module on the CPU."""
        for one in self.vector.trained:
            one.grad = None
        module = copy.deepcopy(self.vector.module).cpu()
        state = None if self._state is None else dict(self._state)
        self._made.append(TorchOptimizer(module, self._optimizer, self._scheduler, state))
        return self._made[-1]


class Join:
    """A run whose gradients the loop computes, from `join`. To be entered by `with`, on all ranks.

    rank: this process; 0 is the coordinator. sampler: the batch sampler of a worker's DataLoader.
    result: on rank 0 the Result, once the loop over the job is through; None before, and elsewhere.
    """

    def __init__(self, task: LoopTask, mean: bool, seed: int, options: Mapping[str, Any]) -> None:
        self._task, self._mean, self._options = task, mean, options
        self._through = False  # whether the run has ended
        self._around = ExitStack()
        self._engine = threading.Thread(target=self._work, name="quorate", daemon=True)
        self.rank = int(_quorate.rank_and_size()[0])
        self.sampler = Sampler(seed)
        self.result: Result | None = None

    def __enter__(self) -> Join:
        self._around.enter_context(one_thread())
        self._around.enter_context(kept_chance())
        if self.rank > 0:
            self._engine.start()
        return self

    def __iter__(self) -> Iterator[Work]:
        """A worker's tasks, until the run is done. Rank 0 leads the run meanwhile, and has none."""
        if self._through:
            raise BadInput("the run of this job is done: make another one with quorate.torch.join")
        if self.rank == 0:
            try:
                self.result = run(self._task, **self._options)
            finally:
                self._through = True
            return
        task = self._task
        error = yield from tasks(task.handover, task.vector, self.sampler, self._mean)
        self._through = True
        if error is not None:
            raise error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None and not self._through:
            error = BadInput(
                "the loop over the job was left before the run was done: leave no `for work in job`"
                " out and none early; `rounds`, or `stop_at`, says when a run ends"
            )
        if error is not None and not self._through:
            if self.rank == 0:
                end_all_ranks(error)
            # The engine's thread ends all ranks, for only one thread may call MPI. If the run has
            # ended meanwhile, nobody waits, and the error is this rank's own.
            self._task.handover.fail(error)
        if self.rank > 0:
            self._engine.join()
        self._around.close()

    def _work(self) -> None:
        """What the engine's thread does on a worker."""
        try:
            run(self._task, **self._options)
        except BaseException as error:  # of a run that the coordinator has refused
            self._task.handover.end(error)
        else:
            self._task.handover.end()


def join(
    module: Any,
    dataset: Any,
    *,
    optimizer: MakeOptimizer,
    scheduler: MakeScheduler | None = None,
    reduction: str = "mean",
    micro_batch: int | None = None,
    state: Mapping[str, Any] | None = None,
    **options: Any,
) -> Join:
    """Joins the ranks that mpiexec started to a run whose loop is yours:

        with qt.join(module, dataset, optimizer=make, scheme="ignore", stragglers=1) as job:
            loader = DataLoader(dataset, batch_sampler=job.sampler)
            for work in job:  # a worker's tasks, until the run is done
                for inputs, targets in work.batches(loader):
                    work.backward(loss(module(inputs), targets))

    All ranks call it with the same arguments. On rank 0 the loop over the job leads the run and has
    no work; then `job.result` is the Result and the module has the final weights, there only.

    module: where each rank computes, on the device that you choose. Its parameters and buffers get
    memory of their own: move or cast it before. Rank 0's are those that the run begins with.
    dataset: map-style, or the number of its samples.
    optimizer, scheduler, state, micro_batch: as for `Task`.
    reduction: whether the losses that work.backward() gets are means over batches, or "sum".
    options: those of `run`, except evaluate_every: score the module of rank 0 yourself.

    Raises BadInput for what cannot work. If a worker's loop fails, it says so, and all ranks end.
    """
    if reduction not in REDUCTIONS:
        raise BadInput(f"reduction is {shown(reduction)}: use {' or '.join(REDUCTIONS)}")
    if not isinstance(module, torch.nn.Module):
        raise BadInput(f"module is {shown(module)}: give a torch.nn.Module")
    if state is not None:
        _load(module, state)
    count = dataset if isinstance(dataset, int) else length_of(dataset, "dataset")
    task = LoopTask(module, count, optimizer, scheduler, _checked_micro_batch(micro_batch), state)
    assert task.numbers  # which starts MPI
    if _quorate.rank_and_size()[1] == 1:
        raise BadInput(
            "quorate.torch.join is for ranks: start them with `mpiexec -n 3 python3 train.py`, or"
            " give quorate.run a Task, which needs no launcher"
        )
    return Join(task, reduction == "mean", int(options.get("seed") or 0), options)
