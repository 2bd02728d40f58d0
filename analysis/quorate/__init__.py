# SPDX-License-Identifier: BSD-2-Clause
# flake8: noqa: F401
"""Quorate from Python: coded distributed optimisation, simulated or over MPI.

    import quorate as q

    r = q.simulate(scheme="agc", stragglers=2, collect=15, workers=30, delay=q.exponential(1))
    r.rounds                      # a DataFrame: time, wait, used, decode_error, ...

Options are those of the command line, with underscores: `quorate simulate --help` lists them. What
they get wrong raises BadInput, whose text says what would be right. docs/python.md is the manual.

The compiled module is loaded with the first name that needs it; `quorate.analysis` does without.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

if importlib.util.find_spec("numpy") is None:
    raise ImportError(
        f"{sys.executable} has no numpy, which quorate needs: use the Python that it was built for"
        " ('make info' names it), or install numpy"
    )

if TYPE_CHECKING:
    from ._public import *  # noqa: F403

    __version__: str

    def _delay(*arguments: float) -> Component:
        ...

    cedar = constant = erasurehead = exponential = fixed = gamma = half_normal = _delay
    gilbert_elliott = lognormal = mixture = niagara = none = pareto = _delay
    shifted_exponential = trace = uneven = _delay

# Without `open`, which would hide Python's.
__all__ = [
    "Advice",
    "Arrived",
    "BadInput",
    "Close",
    "Combine",
    "Comparison",
    "Component",
    "Contribution",
    "DataSet",
    "Deadline",
    "Dispatch",
    "Failure",
    "Item",
    "Model",
    "Needs",
    "Note",
    "Optimizer",
    "Part",
    "Placed",
    "Plan",
    "Problem",
    "Quiescent",
    "Result",
    "Scheme",
    "SetTimer",
    "Slice",
    "Start",
    "Step",
    "Stepped",
    "SynchronousScheme",
    "Undecodable",
    "WorkerJoined",
    "WorkerLost",
    "add",
    "advise",
    "check",
    "code",
    "compare",
    "components",
    "dataset",
    "delay",
    "generate",
    "import_",
    "inspect",
    "load",
    "model",
    "optimizer",
    "optimum",
    "predict",
    "rank",
    "run",
    "scheme",
    "simulate",
    "sweep",
    "tune",
    "version",
]

# Loaded by the first who asks. `torch` needs PyTorch.
_PACKAGES = ("analysis", "torch")

# The delay models of C++ that `__getattr__` makes functions of. Plugins add others.
_DELAYS = "cedar constant erasurehead exponential fixed gamma gilbert_elliott half_normal lognormal"
_DELAYS += " mixture niagara none pareto shifted_exponential trace uneven"


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name in _PACKAGES:
        value = importlib.import_module(f".{name}", __name__)
    elif name.startswith("_"):
        raise AttributeError(f"quorate has no {name}")
    elif hasattr(public := importlib.import_module("._public", __name__), name):
        value = getattr(public, name)
    else:
        from ._components import delay_maker

        value = delay_maker(name)
    globals()[name] = value
    return value


def _version() -> str:
    """Of what make built; else of what pip installed, which may be `quorate.analysis` alone."""
    try:
        return str(importlib.import_module("._built", __name__).VERSION)
    except ImportError:
        from importlib import metadata
    try:
        return metadata.version("quorate")
    except metadata.PackageNotFoundError:
        raise AttributeError("quorate has no __version__: build it with 'make python'") from None


def __dir__() -> list[str]:
    return [*__all__, "open", *_DELAYS.split(), *_PACKAGES, "__version__"]
