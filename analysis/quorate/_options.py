# SPDX-License-Identifier: BSD-2-Clause
"""Keyword arguments as options of the command line."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from keyword import iskeyword
from typing import Any

import numpy as np

from ._arrays import is_real, shown
from ._native import BadInput, _quorate


def option_name(keyword: str) -> str:
    """`evaluate_every` is evaluate-every; `lambda_` and `import_` are words of Python."""
    return keyword.rstrip("_").replace("_", "-")


def keyword_of(option: str) -> str:
    """The other way round."""
    keyword = option.replace("-", "_")
    return f"{keyword}_" if iskeyword(keyword) else keyword


def text_of(name: str, value: Any) -> str:
    """A value as the command line has it."""
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, (int, np.integer)) and is_real(type(value)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        whole = number.is_integer() and abs(number) < 1e15  # rounds=1e3
        return str(int(number)) if whole else repr(number)
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (list, tuple)):
        return ",".join(text_of(name, one) for one in value)
    wanted = "a number, a text, a list of them or a component"
    if name == "data":
        wanted = "a data set, such as quorate.dataset(X, y) makes, or the path of one"
    raise BadInput(f"{name} is {shown(value)}: give {wanted}")


# Of what is kept in memory only, these are refused.
_OF_FILES = (
    "trace overwrite checkpoint checkpoint-every resume log manifest row stop-before walltime"
)
_OF_FILES += " resilient"


def document(function: Callable[..., Any], command: str) -> None:
    """Adds the options of a command to the docstring of the function that runs it."""
    named = inspect.signature(function).parameters
    lines = [str(function.__doc__)]
    for name, argument, fallback, text in _quorate.options(command):
        keyword = keyword_of(name)
        if name in _OF_FILES.split() or keyword in named:
            continue
        default = f" (default: {fallback})" if fallback else ""
        lines.append(f"    {keyword}: {argument or 'bool'}\n        {text}{default}")
    function.__doc__ = "\n".join(lines)
