# SPDX-License-Identifier: BSD-2-Clause
"""What a run needs of a module of PyTorch, whoever computes its gradients."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .._arrays import shown
from .._components import _register, _word, component_of
from .._data import DataSet
from .._data import dataset as data_set_of
from .._native import BadInput, _quorate
from .._result import Result
from .._samples import SampleModel
from .._tasks import BaseTask, Finish
from .._threads import use_threads
from ._chance import kept_chance
from ._cores import checked_threads, threads_here
from ._memory import keep_freed_memory
from ._optimizer import TorchOptimizer, Updates
from ._vector import Vector

MICRO_BATCH = 128


class Training(BaseTask):
    """The numbers of a module, its optimiser, and how many samples there are. Those who compute the
    gradients derive it.

    vector: of the module; the run begins with what is in it. counts: samples to train on, and to
    evaluate on. threads: of a rank, or "auto". reduction: of the losses of a batch. name: what
    traces call the model. streams: whether samples are what comes next, whatever their numbers.
    """

    def __init__(
        self,
        vector: Vector,
        counts: tuple[int, int],
        updates: Updates,
        micro_batch: int | None,
        threads: int | str,
        state: Mapping[str, Any] | None,
        reduction: str,
        *,
        name: str,
        streams: bool,
    ) -> None:
        keep_freed_memory()
        self.threads = checked_threads(threads)
        self.counts, self.micro_batch = counts, _checked_micro_batch(micro_batch)
        self.updates, self._state, self.streams = updates, state, streams
        self._made: list[list[TorchOptimizer]] = []  # by the runs that go on
        self.initial = torch.empty(vector.size, dtype=vector.dtype_in_run)
        vector.updates = 0 if state is None else state.get("updates", 0)
        vector.read(self.initial)
        word = name or f"torch-{_word(type(vector.module).__name__)}"
        samples = f"{counts[0]} + {counts[1]} samples{' of a stream' * streams}"
        self.text = (
            f"{vector}, {samples}, at most {self.micro_batch} at once, {reduction} of losses"
        )
        self.updating = updates.described(self.copied_module, self._own_state())
        self.name = _add(self, word)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}: {self.text})"

    def new_model(self, chance: int = 0) -> SampleModel:
        """The model of a run. chance: the key of what module and samples draw."""
        raise NotImplementedError

    def begin(self, chance: int, threads: int) -> SampleModel:
        """The model of a run, which computes in this thread. threads: 0: those of this object."""
        use_threads(threads or threads_here(self.threads))
        return self.new_model(chance)

    def copied_module(self) -> Any:
        """A copy of the module on the CPU, at any point."""
        raise NotImplementedError

    @cached_property
    def numbers(self) -> DataSet:
        """The numbers of the samples, as the data set of a run."""
        count, evaluated = self.counts
        rows = np.arange(count + evaluated, dtype=float)[:, np.newaxis]
        test = (rows[count:], np.zeros(evaluated)) if evaluated else ()
        return data_set_of(rows[:count], np.zeros(count), *test, task="regression")

    def keywords(self, given: Mapping[str, Any]) -> dict[str, Any]:
        for name, part in (("model", "module"), ("optimizer", "optimizer")):
            if given.get(name) is not None:
                raise BadInput(f"{name} is given beside a Task, which has its {part}: leave it out")
        if given.get("threads") is not None:
            raise BadInput("threads is given beside a Task: give it to the Task, Task(threads=4)")
        scheme = component_of("scheme", given.get("scheme"))
        named = scheme.text if scheme else given.get("scheme")
        options = _options_of_scheme(named)
        replayed = given.get("replay") is not None  # then the trace has all options
        own = {"data": self.numbers, "model": self.name, "optimizer": self.name}
        if "local-steps" in options and self.updates.inner is not None:
            if given.get("inner_optimizer") is not None:
                raise BadInput("inner_optimizer is given beside a Task with one: leave it out")
            own["inner_optimizer"] = _name_of_inner(self.name)
        elif "local-steps" in options and given.get("step") is None and not replayed:
            raise BadInput(
                f"{named} makes local steps of gradient descent: give step, their learning rate, or"
                " give the Task their optimiser, inner=lambda p: torch.optim.AdamW(p, 3e-4). The"
                " Task's optimizer is the outer one, at the coordinator"
            )
        own["torch_threads"] = self.threads or None
        if not replayed:
            own["torch_optimizer"] = self.updating
        defaults = {} if replayed else {"step": 1, "l2": 0, "chance": given.get("seed")}
        # By itself a scheme that cuts by time would look at the clock after a sample or two, which
        # a module computes hardly faster than many. An option of the scheme's own stays.
        own_options = scheme.options if scheme else {}
        if "micro-batch" in options and "micro_batch" not in own_options:
            defaults["micro_batch"] = min(self.micro_batch, self.counts[0])
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

    def new_optimizer(self, recorded: str = "") -> TorchOptimizer:
        """The optimiser of a run, with a copy of the module. recorded: `updating` of the run that
        is replayed or resumed; empty: it says nothing. Raises BadInput if it is another."""
        if recorded and recorded != self.updating:
            raise BadInput(
                f"--torch-optimizer is {shown(recorded, 300)}, but the Task has"
                f" {shown(self.updating, 300)}: make the Task with the optimiser of the run"
            )
        state = self._own_state()
        made = self.updates.outer(self.copied_module(), self.initial.dtype, state)
        for run in self._made:
            run.append(made)
        return made

    def _own_state(self) -> dict[str, Any] | None:
        return None if self._state is None else dict(self._state)

    def new_inner(self) -> TorchOptimizer:
        """An optimiser of local steps."""
        return self.updates.local(self.copied_module())


class TrainingModel(SampleModel):
    """A model of a run, which begins at the training's first point."""

    def __init__(self, training: Training) -> None:
        self.parameters, self.samples_at_once = len(training.initial), training.micro_batch
        self._initial: npt.NDArray[Any] = training.initial.numpy()
        self.dtype, self.streams = str(self._initial.dtype), training.streams

    def initial(self, seed: int) -> npt.NDArray[Any]:
        return self._initial


def state(result: Result) -> dict[str, Any]:
    """What a run of PyTorch has trained, for torch.save: "module", "optimizer" and "scheduler"
    (None if there is none), their state_dicts, and "updates", their number. torch.load reads it
    without Quorate; Task(state=...) begins there. Raises BadInput for the result of another run."""
    if result.module_state is None:
        raise BadInput(
            f"{result.label} has no state of PyTorch: take it of what `run` or `simulate` returned"
            " for a Task"
        )
    return dict(result.module_state)


def load_state(module: Any, state: Mapping[str, Any]) -> None:
    """Puts the parameters and buffers of a state into a module."""
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


def _final(made: list[TorchOptimizer], result: Result) -> dict[str, Any] | None:
    """Of the optimisers that were made while a run went on, the state of the one that is the
    run's: other threads may have made some."""
    model = result.model
    for one in made:
        if one.begun and np.array_equal(one.vector, model, equal_nan=True):
            return {"module": one.module.state(), **one.state_dicts()}
    return None


def _options_of_scheme(name: Any) -> list[str]:
    """The options that a scheme of that name reads; none if there is no such scheme."""
    return [
        option[0]
        for kind, known, *_, options in _quorate.components()
        if kind == "scheme" and known == name
        for option in options
    ]


def _checked_micro_batch(given: int | None) -> int:
    if given is None:
        return MICRO_BATCH
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 1:
        raise BadInput(f"micro_batch is {shown(given)}: use a number of samples, 1 or more")
    return int(given)


def _add(training: Training, word: str) -> str:
    """Adds model and optimiser of a training to what options can name. The registries stay for
    ever, the training lives as long as somebody has it. Ranks compare the text of what they add."""
    weak, token = weakref.ref(training), object()

    def living() -> Training:
        found = weak()
        if found is None:
            raise BadInput(f"the Task of the model {word} is no more: keep it while its runs go on")
        return found

    text = f"a module of PyTorch: {training.text}"
    own = [
        ["chance", "N", "0", "key of what a module of PyTorch draws: the seed", "int"],
        ["torch-threads", "N", "0", "threads that PyTorch takes in a rank; 0: as it says", "int"],
    ]

    def begin(chance: int = 0, torch_threads: int = 0) -> SampleModel:
        return living().begin(chance, torch_threads)

    def begin_optimizer(torch_optimizer: str = "") -> TorchOptimizer:
        return living().new_optimizer(torch_optimizer)

    name = _register("model", word, token, begin, text, "", own)
    updating = f"that of {text}: {training.updating}"
    said = [["torch-optimizer", "TEXT", "", "what the optimiser has to be; empty: any", "str"]]
    optimizer = _register("optimizer", name, token, begin_optimizer, updating, "", said)
    assert name == optimizer
    if training.updates.inner is not None:
        inner = f"that of local steps of {text}"
        _register(
            "optimizer", _name_of_inner(name), token, lambda: living().new_inner(), inner, "", []
        )
    return name


def _name_of_inner(name: str) -> str:
    return f"{name}-inner"
