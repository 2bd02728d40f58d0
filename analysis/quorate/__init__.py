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
    from ._commands import Advice as Advice
    from ._commands import advise as advise
    from ._commands import generate as generate
    from ._commands import import_ as import_
    from ._commands import inspect as inspect
    from ._commands import optimum as optimum
    from ._commands import tune as tune
    from ._components import Component as Component
    from ._components import Model as Model
    from ._components import Optimizer as Optimizer
    from ._components import Scheme as Scheme
    from ._components import SynchronousScheme as SynchronousScheme
    from ._components import add as add
    from ._components import code as code
    from ._components import delay as delay
    from ._components import model as model
    from ._components import optimizer as optimizer
    from ._components import scheme as scheme
    from ._data import DataSet as DataSet
    from ._data import dataset as dataset
    from ._data import open as open
    from ._native import *  # noqa: F403
    from ._predict import predict as predict
    from ._result import Comparison as Comparison
    from ._result import Result as Result
    from ._result import load as load
    from ._run import check as check
    from ._run import compare as compare
    from ._run import components as components
    from ._run import rank as rank
    from ._run import run as run
    from ._run import simulate as simulate
    from ._run import sweep as sweep
    from ._torch import torch as torch
    from ._torch import torch_state as torch_state

# Where each name is.
_HOMES = {
    "_commands": "Advice advise generate import_ inspect optimum tune",
    "_components": "Component Model Optimizer Scheme SynchronousScheme add code delay model"
    " optimizer scheme",
    "_data": "DataSet dataset open",
    "_native": "Arrived BadInput Close Combine Contribution Deadline Dispatch Failure Item Needs"
    " Note Part Placed Plan Problem Quiescent SetTimer Slice Start Step Stepped Undecodable"
    " WorkerJoined WorkerLost version",
    "_predict": "predict",
    "_result": "Comparison Result load",
    "_run": "check compare components rank run simulate sweep",
    "_torch": "torch torch_state",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name.startswith("_"):
        raise AttributeError(f"quorate has no {name}")
    else:
        from ._components import delay_maker

        value = delay_maker(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "analysis"]
