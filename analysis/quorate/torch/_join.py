# SPDX-License-Identifier: BSD-2-Clause
"""The user keeps the training loop, and the engine runs beside it in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import numpy.typing as npt
import torch

from .._arrays import shown
from .._native import BadInput, _quorate
from .._result import Result
from .._run import end_all_ranks, rank, run
from .._samples import SampleModel
from .._threads import one_thread, use_threads
from ._chance import kept_chance
from ._cores import threads_here
from ._handover import Handover, Numbers
from ._loss import check_reduction
from ._optimizer import MakeOptimizer, MakeScheduler, Updates
from ._samples import is_stream, length_of
from ._training import Training, TrainingModel, load_state
from ._vector import Vector, check_module
from ._work import Sampler, Work, tasks


class LoopModel(TrainingModel):
    """What C++ asks for gradients: it asks the loop."""

    def __init__(self, task: LoopTask) -> None:
        super().__init__(task)
        self._handover = task.handover

    def expect(self, upcoming: Iterator[Numbers]) -> None:
        self._handover.expect(upcoming)

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


class LoopTask(Training):
    """What a run needs to know of the loop."""

    def __init__(self, vector: Vector, count: int, streams: bool, *arguments: Any) -> None:
        self.vector, self.handover, self.sampler = vector, Handover(), Sampler(streams=streams)
        super().__init__(vector, (count, 0), *arguments, name="", streams=streams)

    def keywords(self, given: Mapping[str, Any]) -> dict[str, Any]:
        if given.get("evaluate_every"):
            raise BadInput(
                "evaluate_every is given, which a loop of your own decides: leave it out"
            )
        return {**super().keywords(given), "evaluate_every": 0}

    def new_model(self, chance: int = 0) -> SampleModel:
        self.sampler.seed = chance
        return LoopModel(self)

    def copied_module(self) -> Any:
        return self.vector.copied_module()


class Join:
    """A run whose gradients the loop computes, from `join`. To be entered by `with`, on all ranks.

    rank: this process; 0 is the coordinator. sampler: the batch sampler of a worker's DataLoader.
    result: on rank 0 the Result, once the loop over the job is through; None before, and elsewhere.
    """

    def __init__(self, task: LoopTask, mean: bool, options: Mapping[str, Any]) -> None:
        self._task, self._mean, self._options = task, mean, options
        self._entered = self._through = False  # through: the run has ended
        self._around = ExitStack()
        self._engine = threading.Thread(target=self._work, name="quorate", daemon=True)
        self.rank = rank()
        self.sampler = task.sampler
        self.result: Result | None = None

    def __enter__(self) -> Join:
        self._entered = True
        self._around.enter_context(one_thread())
        use_threads(threads_here(self._task.threads))
        self._around.enter_context(kept_chance())
        if self.rank > 0:
            self._engine.start()
        return self

    def __iter__(self) -> Iterator[Work]:
        """A worker's tasks, until the run is done. Rank 0 leads the run meanwhile, and has none."""
        if not self._entered:
            raise BadInput(
                "the job has not begun: enter it, `with quorate.torch.join(...) as job:`"
            )
        if self._through:
            raise BadInput("the run of this job is done: make another one with quorate.torch.join")
        if self.rank == 0:
            try:
                self.result = run(self._task, **self._options)
                assert self.result is not None
                self._task.vector.write(torch.tensor(self.result.model))
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
    inner: MakeOptimizer | None = None,
    length: int | None = None,
    update_device: str = "cpu",
    update_precision: str | None = None,
    reduction: str = "mean",
    micro_batch: int | None = None,
    threads: int | str = "auto",
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
    dataset: map-style, or the number of its samples. Or an IterableDataset, with a loader without
    job.sampler, whose batch_size is that of one worker.
    optimizer and all that is not named here: as for `Task`.
    reduction: whether the losses that work.backward() gets are means over batches, or "sum".
    options: those of `run`, except evaluate_every: score the module of rank 0 yourself.

    Raises BadInput for what cannot work. If a worker's loop fails, it says so, and all ranks end.
    """
    # A rank that fails from here on does not leave the others waiting for its start.
    _quorate.start_mpi()
    if _quorate.rank_and_size()[1] == 1:
        raise BadInput(
            "quorate.torch.join is for ranks: start them with `mpiexec -n 3 python3 train.py`, or"
            " give quorate.run a Task, which needs no launcher"
        )
    check_reduction(reduction)
    check_module(module)
    known = isinstance(dataset, int) and length is None
    count = dataset if known else length_of(dataset, "dataset", length)
    if count < 1:
        raise BadInput(f"dataset is {shown(dataset)}: give a Dataset, or how many samples it has")
    if state is not None:
        load_state(module, state)
    vector = Vector(module)
    updates = Updates(optimizer, scheduler, inner, update_device, update_precision)
    more = micro_batch, threads, state, reduction
    task = LoopTask(vector, count, is_stream(dataset), updates, *more)
    return Join(task, reduction == "mean", options)
