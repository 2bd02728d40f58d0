# SPDX-License-Identifier: BSD-2-Clause
"""What a rank says of its PyTorch, for `python3 -m quorate doctor`."""

from __future__ import annotations

from typing import Any

import torch

from ._cores import threads_here
from ._device import device_here


def torch_facts() -> dict[str, Any]:
    """Version, platform, threads and GPUs, named as TorchFacts (src/doctor/facts.hpp)."""
    device = device_here(None)
    return {
        "version": torch.__version__,
        "platform": _platform(),
        "threads": threads_here(0),
        "gpus": [_uuid(number) for number in range(torch.cuda.device_count())],
        "takes": device.index if device.type == "cuda" else -1,
    }


def _platform() -> str:
    for name, version in (("CUDA", torch.version.cuda), ("ROCm", torch.version.hip)):
        if version:
            return f"{name} {version}"
    return ""


def _uuid(number: int) -> str:
    """Of a GPU, the same in all processes, whichever they see; empty: PyTorch is older than 2.4."""
    return str(getattr(torch.cuda.get_device_properties(number), "uuid", ""))
