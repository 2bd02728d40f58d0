# SPDX-License-Identifier: BSD-2-Clause
"""Where a rank computes."""

from __future__ import annotations

import os
from typing import Any

import torch

from .._arrays import shown
from .._native import BadInput
from .._run import rank

# Which process of its host this one is, as launchers say: torchrun, Open MPI, MPICH, SLURM.
LOCAL_RANKS = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")


def _local_rank() -> int:
    for name in LOCAL_RANKS:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return 0


def named_device(wanted: Any) -> Any:
    """The device of that name; None: "auto". Raises BadInput if it is no name."""
    try:
        return None if wanted == "auto" else torch.device(wanted)
    except (RuntimeError, TypeError) as error:
        raise BadInput(f"device is {shown(wanted)}: use auto, cpu, cuda or cuda:N") from error


def device_here(device: Any) -> Any:
    """That device, if this rank has it. None: of the GPUs of this host one for each worker in turn,
    the coordinator not being one; without a GPU the CPU. Raises BadInput if it is not there."""
    if device is None:
        if not torch.cuda.is_available():
            return torch.device("cpu")
        local, here = _local_rank(), rank()
        workers_before = local - 1 if local == here > 0 else local
        return torch.device("cuda", workers_before % torch.cuda.device_count())
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise BadInput(
            f"device is {device}, but torch sees {torch.cuda.device_count()} GPUs: use auto or cpu"
        )
    return device
