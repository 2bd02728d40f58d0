# SPDX-License-Identifier: BSD-2-Clause
"""Modules of PyTorch, trained with schemes that do not wait for stragglers.

    import quorate as q
    import quorate.torch as qt

    task = qt.Task(module, dataset, loss, optimizer=lambda p: torch.optim.AdamW(p, lr=3e-4))
    result = q.run(task, scheme="agc", stragglers=1, collect=6, batch=512, rounds=1000)
    torch.save(qt.state(result), "trained.pt")
"""

import importlib.util
import sys

if importlib.util.find_spec("torch") is None:
    raise ImportError(
        f"{sys.executable} has no torch, which quorate.torch needs: install PyTorch for that Python"
    )

from ._join import join as join
from ._task import Task as Task
from ._training import state as state

__all__ = ["Task", "join", "state"]
