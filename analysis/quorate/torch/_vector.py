# SPDX-License-Identifier: BSD-2-Clause
"""The numbers of a module as one vector, which is what a run knows of it.

| numbers | which | their "gradient" |
|---|---|---|
| trained | parameters with requires_grad, as parameters() gives them, tied ones once | the loss's |
| buffers | floating buffers, as buffers() gives them | samples x (before - after forward) |
| updates | 1 number: how many updates have been made | 0 |

So what batch normalisation remembers travels with the points, is averaged like a gradient, and is
in checkpoints. Other buffers do not travel.
"""

from __future__ import annotations

import copy
import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .._arrays import shown
from .._native import BadInput


class _Writable:
    """Memory of an array as NumPy takes it, without its mark that it is read only."""

    def __init__(self, view: npt.NDArray[Any]) -> None:
        interface = view.__array_interface__
        self.view = view  # which must live as long
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def tensor_of(view: npt.NDArray[Any]) -> Any:
    """A tensor in the memory of an array, also of one that is read only: torch would warn, and what
    gets it here does not write into it."""
    return torch.from_numpy(np.asarray(_Writable(view)))


def check_layers(module: Any) -> None:
    """Refuses layers whose statistics are no mean of what micro-batches say."""
    for name, one in module.named_modules():
        if isinstance(one, torch.nn.SyncBatchNorm):
            raise BadInput(
                f"the layer {name} is SyncBatchNorm, but workers do not wait for one another: use"
                " BatchNorm, whose statistics are averaged with the gradients"
            )
        if getattr(one, "running_mean", None) is not None and one.momentum is None:
            raise BadInput(
                f"the layer {name} ({type(one).__name__}) has momentum=None, a mean over all"
                " batches that workers cannot form: give it a number, such as momentum=0.1"
            )


def check_module(module: Any) -> None:
    """Refuses what is no module, and numbers that are not there yet, or are not real."""
    if not isinstance(module, torch.nn.Module):
        raise BadInput(f"module is {shown(module)}: give a torch.nn.Module")
    values = [*module.parameters(), *module.buffers()]
    if any(isinstance(one, torch.nn.parameter.UninitializedTensorMixin) for one in values):
        raise BadInput(
            "the module has parameters without a shape: call it on a batch first, which makes its"
            " lazy layers"
        )
    if any(one.is_meta for one in values):
        raise BadInput(
            "the module is on the device meta, where parameters have no values: make it on the CPU"
        )
    if any(one.is_complex() for one in values):
        raise BadInput("the module has complex numbers: give their parts as real ones")


class Vector:
    """A module whose trained parameters and floating buffers lie in one tensor.

    size: numbers of the vector. updates: how many had been made at the point that was written.
    numbers: the vector, in the module's type and on its device. The module gets this memory: it
    must not be moved, cast, or given other parameters afterwards. Raises BadInput for a module that
    has nothing to train, or numbers of several types or places.
    """

    def __init__(self, module: Any) -> None:
        check_module(module)
        check_layers(module)
        self.module, self.updates = module, 0
        self.trained = [one for one in module.parameters() if one.requires_grad]
        # A layer may put another tensor in the place of a buffer, so buffers are found by name.
        self._places: list[tuple[dict[str, Any], str]] = []
        self._counters: list[Any] = []
        self._find_buffers()
        values = self.trained + self._buffers()
        self._check(values)
        self._starts: list[int] = np.cumsum([0, *(one.numel() for one in values)]).tolist()
        self.parameters, self.size = self._starts[len(self.trained)], self._starts[-1] + 1
        with torch.no_grad():
            flat = [one.detach().reshape(-1) for one in values]
            self.numbers = torch.cat([*flat, flat[0].new_zeros(1)])
            self._views = self.cut(self.numbers, values)
            for one, view in zip(values, self._views):
                one.data = view
        self._before, self._moved = self._memory.clone(), torch.zeros_like(self._memory)
        # Gradients of a GPU come to memory that it writes itself. Points of another type are
        # converted there; those of the module's type need no such stop.
        on_gpu = self.numbers.is_cuda
        self._pinned = self.numbers.cpu().pin_memory() if on_gpu else None

    @property
    def dtype_in_run(self) -> Any:
        """The type of points and gradients in a run: the module's, but float32 for halves."""
        return torch.float64 if self.numbers.dtype == torch.float64 else torch.float32

    @property
    def _memory(self) -> Any:
        """The numbers of the buffers."""
        return self.numbers[self.parameters : -1]

    def _find_buffers(self) -> None:
        seen: set[int] = set()
        for owner in self.module.modules():
            for name, value in owner._buffers.items():
                if value is None or id(value) in seen:
                    continue
                seen.add(id(value))
                if value.is_floating_point():
                    self._places.append((owner._buffers, name))
                elif name == "num_batches_tracked":
                    self._counters.append(value)

    def copied_module(self) -> Any:
        """A copy of the module on the CPU, without gradients, at any point."""
        for one in self.trained:
            one.grad = None
        return copy.deepcopy(self.module).cpu()

    def cut(self, flat: Any, like: list[Any]) -> list[Any]:
        """Views of a tensor laid out as the vector, with the shapes of the first of its parts."""
        return [flat[at : at + one.numel()].view(one.shape) for at, one in zip(self._starts, like)]

    def _buffers(self) -> list[Any]:
        return [owner[name] for owner, name in self._places]

    def _check(self, values: list[Any]) -> None:
        if not self.trained:
            raise BadInput(
                "the module has no parameter to train: set requires_grad=True for those that are"
                " not to be frozen"
            )
        for what, remedy in (("dtype", "module.float()"), ("device", "module.to(device)")):
            kinds = sorted({str(getattr(one, what)) for one in values})
            if len(kinds) > 1:
                raise BadInput(
                    f"the module has numbers of {' and '.join(kinds)}: give it one {what}, such as"
                    f" by {remedy}"
                )

    def __str__(self) -> str:
        """What must be alike on all ranks: the size, and a digest of names, shapes, types and the
        values that do not travel."""
        digest = hashlib.sha256()
        travelling = {id(one) for one in self.trained + self._buffers() + self._counters}
        named = [*self.module.named_parameters(), *self.module.named_buffers()]
        for name, value in named:
            digest.update(repr((name, tuple(value.shape), str(value.dtype))).encode())
            if id(value) not in travelling:
                content = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
                digest.update(content.numpy().data)
        return f"{self.size} numbers ({digest.hexdigest()[:12]})"

    def write(self, point: Any) -> None:
        """Puts a point into the module, and begins a sum of gradients at it, which autograd forms.
        point: a tensor of `size` numbers, on the CPU; it is copied."""
        with torch.no_grad():
            self._check_memory()
            self.updates = int(point[-1])
            same = self._pinned is None or point.dtype == self.numbers.dtype
            self.numbers.copy_(point if same else self._pinned.copy_(point))
            self._before.copy_(self._memory)
            self._moved.zero_()
            for one in self.trained:
                one.grad = None
            self._put_counters()

    def displaced(self, samples: int) -> None:
        """A micro-batch of so many samples has gone forward and backward: adds what it has moved
        the buffers, and moves them back. Gradients have added themselves up."""
        with torch.no_grad():
            if self._places:
                self._take_buffers()
                self._moved.add_(self._before - self._memory, alpha=samples)
                self._memory.copy_(self._before)
            self._put_counters()

    def add_to(self, total: Any, coefficient: float) -> None:
        """Adds the sum of gradients since `write`, times a coefficient. total: `size` numbers on
        the CPU, float32 or float64."""
        with torch.no_grad():
            gradients = [_dense(one) for one in self.trained]
            if self._pinned is not None:
                sums = torch.cat([*(one.reshape(-1) for one in gradients), self._moved])
                gradients = self.cut(self._pinned[:-1].copy_(sums), self.trained)
            for part, gradient in zip(self.cut(total, self.trained), gradients):
                part.add_(gradient, alpha=coefficient)
            total[self.parameters : -1].add_(self._moved.cpu(), alpha=coefficient)

    def move_buffers(self, mean: Any) -> None:
        """Moves buffers by the mean of their "gradients", and counts an update. mean: a tensor of
        `size` numbers in the module's type and on its device."""
        with torch.no_grad():
            self._memory.sub_(mean[self.parameters : -1])
            self.updates += 1
            self.numbers[-1] = self.updates

    def read(self, point: Any) -> None:
        """Copies the module's numbers into a point of `size` numbers on the CPU."""
        with torch.no_grad():
            self._take_buffers()
            point.copy_(self.numbers)
            point[-1] = self.updates

    def state(self) -> dict[str, Any]:
        """The module's state_dict, with tensors of their own on the CPU."""
        self._put_counters()
        return {
            name: value.detach().cpu().clone() if torch.is_tensor(value) else value
            for name, value in self.module.state_dict().items()
        }

    def _put_counters(self) -> None:
        for one in self._counters:
            one.fill_(self.updates)

    def _take_buffers(self) -> None:
        """Buffers that were replaced by others are put back, with the values of these."""
        for (owner, name), view in zip(self._places, self._views[len(self.trained) :]):
            value = owner[name]
            if value.data_ptr() != view.data_ptr():
                owner[name] = view.copy_(value)

    def _check_memory(self) -> None:
        for one, view in zip(self.trained, self._views):
            if one.data_ptr() != view.data_ptr() or one.dtype != view.dtype:
                raise BadInput(
                    "the module was moved, cast or given other parameters while a run has it: do so"
                    " before"
                )


def _dense(parameter: Any) -> Any:
    """Its gradient, which layers that were not used do not have."""
    if parameter.grad is None:
        return torch.zeros_like(parameter)
    return parameter.grad.to_dense() if parameter.grad.is_sparse else parameter.grad
