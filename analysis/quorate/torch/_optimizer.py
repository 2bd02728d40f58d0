# SPDX-License-Identifier: BSD-2-Clause
"""torch.optim and its schedulers at the coordinator."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .._arrays import shown
from .._native import BadInput
from .._samples import WholeOptimizer
from ._device import device_here, named_device
from ._samples import moved
from ._vector import Vector, tensor_of

PRECISIONS = {"float32": torch.float32, "float64": torch.float64}
MakeOptimizer = Callable[[list[Any]], Any]
MakeScheduler = Callable[[Any], Any]


def made_optimizer(make: MakeOptimizer, parameters: list[Any]) -> Any:
    """Calls `make` with the parameters. Raises BadInput if what it returns is no optimiser of them,
    or one that a step of which needs more than a gradient."""
    made = make(parameters)
    if not isinstance(made, torch.optim.Optimizer):
        raise BadInput(
            f"optimizer returned {shown(made)}: return an optimiser of the parameters that it gets,"
            " such as lambda p: torch.optim.AdamW(p, lr=3e-4)"
        )
    own = {id(one) for one in parameters}
    others = [p for group in made.param_groups for p in group["params"] if id(p) not in own]
    if others:
        raise BadInput(
            f"the optimiser has {shown(others[0])}, which is none of the parameters that it got:"
            " make it of these, which are copies of the module's, in the order of those of its"
            " parameters() that have requires_grad"
        )
    if isinstance(made, torch.optim.LBFGS):
        raise BadInput(
            "torch.optim.LBFGS asks for the loss at other points within a step, which workers do"
            " not answer: use another optimiser"
        )
    return made


def made_scheduler(make: MakeScheduler | None, optimizer: Any) -> Any:
    """Calls `make` with the optimiser, if there is one. Raises BadInput for a scheduler that needs
    more than the number of updates, or is of another optimiser."""
    if make is None:
        return None
    made = make(optimizer)
    if isinstance(made, torch.optim.lr_scheduler.ReduceLROnPlateau):
        raise BadInput(
            "ReduceLROnPlateau follows a measure that updates do not have: use a scheduler that"
            " follows their number"
        )
    if not (hasattr(made, "step") and hasattr(made, "state_dict")):
        raise BadInput(
            f"scheduler returned {shown(made)}: return a scheduler of the optimiser that it gets,"
            " such as lambda o: torch.optim.lr_scheduler.StepLR(o, 1000)"
        )
    if getattr(made, "optimizer", optimizer) is not optimizer:
        raise BadInput("the scheduler is of another optimiser: make it of the one that it gets")
    return made


def _optimizer(one: Any) -> str:
    """What it was made with and is not its class's default: AdamW(lr=0.0003). Groups of parameters
    stand between semicolons."""
    usual = inspect.signature(type(one)).parameters
    groups = []
    for group in one.param_groups:
        # A scheduler may have changed the rate already, and keeps the one before.
        rate = {"lr": _value(group.get("initial_lr", group["lr"]))}
        hidden = {"params", "initial_lr", "lr"}
        own = {name: value for name, value in group.items() if name not in hidden}
        told = {n: _value(v) for n, v in own.items() if n not in usual or v != usual[n].default}
        groups.append(_arguments({**rate, **told}))
    return f"{type(one).__name__}({'; '.join(groups)})"


def _scheduler(one: Any) -> str:
    """The same of a scheduler, StepLR(gamma=0.1, step_size=1000), after its parts."""
    moving = ("last_epoch", "base_lrs", "verbose")
    state = {n: v for n, v in one.state_dict().items() if n[0] != "_" and n not in moving}
    parts = [_scheduler(part) for part in getattr(one, "_schedulers", [])]
    own = _arguments({name: _value(state[name]) for name in sorted(state)})
    return f"{type(one).__name__}({', '.join(filter(None, [*parts, own]))})"


def _arguments(texts: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={text}" for name, text in texts.items())


def _value(given: Any) -> str:
    """A value, the same text in all processes; of a function or another object only its type."""
    if isinstance(given, torch.Tensor):
        return _value(given.tolist())
    if isinstance(given, Mapping):
        return "{" + ", ".join(f"{_value(k)}: {_value(v)}" for k, v in given.items()) + "}"
    if isinstance(given, (list, tuple)):
        return "(" + ", ".join(map(_value, given)) + ")"
    known = isinstance(given, (bool, int, float, str, type(None)))
    return repr(given) if known else type(given).__name__


@dataclass(frozen=True)
class Updates:
    """How updates are made, at the coordinator, and how local steps are.

    device, precision: of the updates; "float64" makes them in double, also of a module of floats.
    """

    optimizer: MakeOptimizer
    scheduler: MakeScheduler | None = None
    inner: MakeOptimizer | None = None
    device: Any = "cpu"
    precision: str | None = None

    def __post_init__(self) -> None:
        named_device(self.device)
        if self.precision not in (None, *PRECISIONS):
            raise BadInput(
                f"update_precision is {shown(self.precision)}: use {' or '.join(PRECISIONS)}"
            )

    def described(self, copied: Callable[[], Any], state: dict[str, Any] | None) -> str:
        """What makes the updates. All is made once of copies of the module, which tells before a
        run what is wrong with it."""
        text = str(TorchOptimizer(copied(), self.optimizer, self.scheduler, state))
        if self.precision is not None:
            text += f"; in {self.precision}"
        return text if self.inner is None else f"{text}; inner {self.local(copied())}"

    def outer(self, module: Any, dtype: Any, state: dict[str, Any] | None) -> TorchOptimizer:
        """The optimiser of a run, of a copy of the module that it takes over. dtype: of the run's
        vectors."""
        module.to(device_here(named_device(self.device)))
        if self.precision is not None:
            module.to(PRECISIONS[self.precision])
        return TorchOptimizer(module, self.optimizer, self.scheduler, state, dtype)

    def local(self, module: Any) -> TorchOptimizer:
        """The optimiser of local steps."""
        assert self.inner is not None
        return TorchOptimizer(module, self.inner)


class TorchOptimizer(WholeOptimizer):
    """An optimiser of torch over the parameters of a module, whose buffers it moves by their mean.

    module: the coordinator's own copy, in the type and on the device of the updates. dtype: of the
    run's vectors; None: the module's. state: of optimiser and scheduler, to go on from. The
    scheduler steps once an update.
    """

    def __init__(
        self,
        module: Any,
        make: MakeOptimizer,
        scheduler: MakeScheduler | None = None,
        state: dict[str, Any] | None = None,
        dtype: Any = None,
    ) -> None:
        self.module, self.begun = Vector(module), False
        self._dtype = dtype or self.module.dtype_in_run
        # Whether the run's vector is the memory of the module. Otherwise it follows the module.
        self._in_place = (
            self.module.numbers.dtype == self._dtype and not self.module.numbers.is_cuda
        )
        self._mean = torch.zeros_like(self.module.numbers)
        self._gradients = self.module.cut(self._mean, self.module.trained)
        self.optimizer = made_optimizer(make, self.module.trained)
        self.scheduler = made_scheduler(scheduler, self.optimizer)
        if state is not None:
            self._load(state)

    def begin(self, initial: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns the model."""
        point = torch.tensor(np.asarray(initial), dtype=self._dtype)
        self.module.write(point)
        self._vector = self.module.numbers if self._in_place else point
        self.vector, self.begun = np.asarray(self._vector), True
        return self.vector

    def update(self, estimate: npt.NDArray[Any], step: float, next: npt.NDArray[Any]) -> None:
        """One step of optimiser and scheduler. step: a factor on the learning rate of each group,
        in this update."""
        module, groups = self.module, self.optimizer.param_groups
        module.updates = int(self._vector[-1])
        self._mean.copy_(tensor_of(estimate))
        for one, gradient in zip(module.trained, self._gradients):
            one.grad = gradient
        rates = [group["lr"] for group in groups]
        for group in groups if step != 1 else []:
            group["lr"] = group["lr"] * step
        self.optimizer.step()
        for group, rate in zip(groups, rates):
            group["lr"] = rate
        if self.scheduler is not None:
            self.scheduler.step()
        module.move_buffers(self._mean)
        if not self._in_place:
            module.read(self._vector)
        np.copyto(next, self.vector)

    def __str__(self) -> str:
        scheduler = "" if self.scheduler is None else f", {_scheduler(self.scheduler)}"
        return _optimizer(self.optimizer) + scheduler

    def state_dicts(self) -> dict[str, Any]:
        """The state of optimiser and scheduler, on the CPU, and the number of updates."""
        return {
            "optimizer": moved(self.optimizer.state_dict(), "cpu", None),
            "scheduler": None if self.scheduler is None else self.scheduler.state_dict(),
            "updates": self.module.updates,
        }

    def state(self) -> bytes:
        stream = io.BytesIO()
        kept = self.state_dicts()
        if not self._in_place:  # the module may have digits that the vector has not
            kept["numbers"] = self.module.numbers.cpu()
        torch.save(kept, stream)
        return stream.getvalue()

    def set_state(self, state: bytes) -> None:
        # Of the run's own checkpoint. Schedulers may keep functions, which weights_only refuses.
        kept = torch.load(io.BytesIO(state), map_location="cpu", weights_only=False)
        if not self._in_place:
            self.module.numbers.copy_(kept["numbers"])
        self._load(kept)

    def _load(self, state: dict[str, Any]) -> None:
        try:
            if state.get("optimizer") is not None:
                self.optimizer.load_state_dict(state["optimizer"])
            if self.scheduler is not None and state.get("scheduler") is not None:
                self.scheduler.load_state_dict(state["scheduler"])
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise BadInput(
                f"the state is of another optimiser or scheduler ({shown(str(error), 100)}): make"
                " the same, or leave it out of the state"
            ) from error
