# SPDX-License-Identifier: BSD-2-Clause
"""Modules of PyTorch as models."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import shown
from ._components import Component, Model, add
from ._native import BadInput

Floats = npt.NDArray[np.float64]

STATEFUL = ("BatchNorm", "InstanceNorm", "SyncBatchNorm", "Dropout")

# What a run does not train of a module, by the name of its model: frozen parameters and buffers.
_fixed: dict[str, dict[str, Any]] = {}


def _trained(module: Any) -> list[Any]:
    """The parameters that are trained, in the order of the vector."""
    return [one for one in module.parameters() if one.requires_grad]


def _set_trained(module: Any, w: Floats) -> None:
    """Copies a vector into the parameters that are trained, in their own precision."""
    import torch as pytorch

    values, at = pytorch.from_numpy(np.array(w)), 0
    with pytorch.no_grad():
        for one in _trained(module):
            one.copy_(values[at : at + one.numel()].view_as(one))
            at += one.numel()


def _check_loss(loss: Any) -> None:
    """Refuses a loss that says itself that it is no sum."""
    reduction = getattr(loss, "reduction", "sum")
    if reduction != "sum":
        raise BadInput(
            f"the loss {type(loss).__name__} has reduction={reduction!r}, but gradients of rows are"
            ' added up: give it reduction="sum"'
        )


def _check_layers(module: Any) -> None:
    """Refuses layers that remember batches, or draw."""
    bad = [
        type(one).__name__
        for one in module.modules()
        if one.training and type(one).__name__.startswith(STATEFUL)
    ]
    if bad:
        raise BadInput(
            f"the module has {bad[0]}, whose result depends on the batch or on chance: freeze it by"
            " module.eval(), or use a layer such as GroupNorm"
        )


class _Batches:
    """What PyTorch makes of rows and labels of NumPy."""

    def __init__(
        self, loss: Callable[[Any, Any], Any], image: tuple[int, int, int] | None, classes: bool
    ) -> None:
        self.loss, self.image, self.classes = loss, image, classes

    def rows(self, X: Any) -> Any:
        import torch as pytorch

        rows = pytorch.from_numpy(np.array(X))  # torch wants what it may write to
        return rows.reshape(len(rows), *self.image) if self.image else rows

    def summed(self, scores: Any, y: Floats) -> Any:
        """The sum of the losses."""
        import torch as pytorch

        if self.classes and (y != np.round(y)).any():
            raise BadInput(
                "labels are no classes and would be rounded: give classes=False for a regression"
            )
        labels = pytorch.from_numpy(np.array(y))
        total = self.loss(scores, labels.to(pytorch.long if self.classes else pytorch.float64))
        if getattr(total, "ndim", None) != 0:
            raise BadInput(
                f"the loss returned {shown(total)}: return the sum over the batch, a tensor without"
                ' dimensions (reduction="sum")'
            )
        return total


def _model_of(module: Any, batches: _Batches) -> type[Model]:
    """A model whose parameters are those of the module that are trained."""
    import torch as pytorch

    trained = _trained(module)
    first = pytorch.nn.utils.parameters_to_vector(trained).detach().numpy().copy()
    # PyTorch lets go of the GIL while it computes, and threads of a sweep share the module.
    lock = threading.Lock()

    class TorchModel(Model):
        """A module of PyTorch."""

        def parameters(self, columns: int) -> int:
            return len(first)

        def initial(self, columns: int, seed: int) -> Floats:
            return np.array(first)

        def loss_and_gradient(self, X: Any, y: Floats, w: Floats) -> tuple[float, Floats]:
            with lock:
                _set_trained(module, w)
                module.zero_grad()
                value = batches.summed(module(batches.rows(X)), y)
                value.backward()
                gradients = [pytorch.zeros_like(p) if p.grad is None else p.grad for p in trained]
                return float(value), np.array(pytorch.cat([g.reshape(-1) for g in gradients]))

        def scores(self, X: Any, w: Floats) -> Floats:
            with lock, pytorch.no_grad():
                _set_trained(module, w)
                return np.array(module(batches.rows(X)))

        def loss(self, scores: Floats, y: Floats) -> float:
            with pytorch.no_grad():
                return float(batches.summed(pytorch.from_numpy(np.array(scores)), y))

    return TorchModel


def torch(
    module: Any,
    loss: Callable[[Any, Any], Any],
    *,
    image: tuple[int, int, int] | None = None,
    classes: bool = True,
    rows_at_once: int = 64,
    name: str = "torch",
) -> Component:
    """Makes any torch.nn.Module a model: its parameters as one vector, its gradients by autograd.

    module: maps a batch (rows x columns, or rows x C x H x W with `image`) to scores; its
    parameters become double precision. Those that are frozen (requires_grad=False) are not in the
    vector: nothing moves them, not even the L2 term. loss: a function of (scores, labels) that
    returns the sum over the batch, such as torch.nn.CrossEntropyLoss(reduction="sum"); a mean is
    refused. classes: labels are integers from 0.

    Layers that remember batches (batch normalisation) or draw (dropout) would make the gradient of
    a row depend on who computes it: call module.eval() first, which freezes them, or use others.
    The run begins with the module's parameters; `torch_state(result, module)` puts the final ones
    back. Raises BadInput for such layers, for a loss that says that it is a mean, and if all
    parameters are frozen.
    """
    _check_layers(module)
    _check_loss(loss)
    module = module.double()
    if not _trained(module):
        raise BadInput(
            "the module has no parameter to train: set requires_grad=True for those that are not to"
            " be frozen"
        )
    made = _model_of(module, _Batches(loss, image, classes))
    made.name, made.rows_at_once = name, rows_at_once
    component = Component("model", add(made))
    own = {one for one, parameter in module.named_parameters() if parameter.requires_grad}
    _fixed[component.text] = {
        one: value.detach().clone() for one, value in module.state_dict().items() if one not in own
    }
    return component


def torch_state(result: Any, module: Any) -> dict[str, Any]:
    """Puts the final parameters of a run into the module, and returns its state_dict.

    module: the run's, or one of the same layers that are frozen alike. Frozen parameters and
    buffers become those of the run's module, if `q.torch` made that in this process. Raises
    BadInput if the run holds no final model, or if the module is another one.
    """
    names = {one for one, parameter in module.named_parameters() if parameter.requires_grad}
    count, model = sum(one.numel() for one in _trained(module)), result.model
    fixed = _fixed.get(result.options.get("model", ""))
    others = {} if fixed is None else {n: v for n, v in module.state_dict().items() if n in fixed}
    if count != len(model) or (
        fixed is not None
        and (
            names & fixed.keys()
            or {n: v.shape for n, v in others.items()} != {n: v.shape for n, v in fixed.items()}
        )
    ):
        raise BadInput(
            f"the run trained {len(model)} parameters, the module has {count} that are not frozen,"
            " or others: give the run's module, with the same layers frozen"
        )
    if fixed:
        module.load_state_dict(fixed, strict=False)
    _set_trained(module, model)
    return dict(module.state_dict())
