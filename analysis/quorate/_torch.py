# SPDX-License-Identifier: BSD-2-Clause
"""Modules of PyTorch as models."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._components import Component, Model, add
from ._native import BadInput

Floats = npt.NDArray[np.float64]

STATEFUL = ("BatchNorm", "InstanceNorm", "SyncBatchNorm", "Dropout")


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
    parameters become double precision. loss: a function of (scores, labels) that returns the sum
    over the batch, such as torch.nn.functional.cross_entropy with reduction="sum". classes: labels
    are integers from 0.

    Layers that remember batches (batch normalisation) or draw (dropout) would make the gradient of
    a row depend on who computes it: call module.eval() first, which freezes them, or use others.
    The run begins with the module's parameters; `torch_state(result, module)` puts the final ones
    back.
    """
    import torch as pytorch

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
    module = module.double()
    first = pytorch.nn.utils.parameters_to_vector(module.parameters()).detach().numpy().copy()
    label_type = pytorch.long if classes else pytorch.float64

    def batch(X: Any) -> Any:
        rows = pytorch.from_numpy(np.array(X))  # torch wants what it may write to
        return rows.reshape(len(rows), *image) if image else rows

    def set_parameters(w: Floats) -> None:
        pytorch.nn.utils.vector_to_parameters(pytorch.from_numpy(w.copy()), module.parameters())

    def summed(scores: Any, y: Floats) -> Any:
        if classes and (y != np.round(y)).any():
            raise BadInput(
                "labels are no classes and would be rounded: give classes=False for a regression"
            )
        labels = pytorch.from_numpy(np.array(y)).to(label_type)
        return loss(scores, labels)

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
                set_parameters(w)
                module.zero_grad()
                value = summed(module(batch(X)), y)
                value.backward()
                gradients = [
                    pytorch.zeros_like(p) if p.grad is None else p.grad for p in module.parameters()
                ]
                return float(value), np.array(pytorch.cat([g.reshape(-1) for g in gradients]))

        def scores(self, X: Any, w: Floats) -> Floats:
            with lock, pytorch.no_grad():
                set_parameters(w)
                return np.array(module(batch(X)))

        def loss(self, scores: Floats, y: Floats) -> float:
            with pytorch.no_grad():
                return float(summed(pytorch.from_numpy(np.array(scores)), y))

    TorchModel.name = name
    TorchModel.rows_at_once = rows_at_once
    return Component("model", add(TorchModel))


def torch_state(result: Any, module: Any) -> dict[str, Any]:
    """Puts the final parameters of a run into the module, and returns its state_dict."""
    import torch as pytorch

    count = sum(one.numel() for one in module.parameters())
    if count != len(result.model):
        raise BadInput(
            f"the run has {len(result.model)} parameters, the module {count}: give the run's module"
        )
    pytorch.nn.utils.vector_to_parameters(
        pytorch.from_numpy(np.array(result.model)), module.parameters()
    )
    return dict(module.state_dict())
