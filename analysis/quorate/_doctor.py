# SPDX-License-Identifier: BSD-2-Clause
"""What `python3 -m quorate doctor` finds out about PyTorch in each rank."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from typing import Any


def look_at_torch() -> str:
    """The JSON of TorchFacts (src/doctor/facts.hpp), of this process."""
    facts: dict[str, Any] = {
        "version": "",
        "wrong": "",
        "platform": "",
        "threads": 0,
        "gpus": [],
        "takes": -1,
        "installed": _installed_gpus(),
    }
    if find_spec("torch") is not None:
        try:
            from .torch._facts import torch_facts

            facts.update(torch_facts())
        except Exception as error:  # whatever a broken library or driver raises
            facts["wrong"] = " ".join(f"{type(error).__name__}: {error}".split())
    return json.dumps(facts)


def _installed_gpus(devices: str = "/dev", amd: str = "/sys/class/kfd/kfd/topology/nodes") -> int:
    """GPUs of this host that have a driver, whether or not this process may use them."""
    nvidia = len([name for name in os.listdir(devices) if re.fullmatch(r"nvidia\d+", name)])
    if nvidia or not os.path.isdir(amd):
        return nvidia
    # Processors are nodes of that topology, too, without SIMD units.
    return len([node for node in os.listdir(amd) if _simds(f"{amd}/{node}/properties")])


def _simds(path: str) -> int:
    try:
        with open(path, encoding="ascii") as properties:
            found = re.search(r"^simd_count (\d+)$", properties.read(), re.MULTILINE)
    except OSError:  # of a GPU that a container hides
        return 0
    return int(found[1]) if found else 0
