# SPDX-License-Identifier: BSD-2-Clause
"""Files of Python as plugins: all schemes, models and optimisers that they define, and what they
add by `quorate.add`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from ._components import _BASES, add
from ._native import BadInput


def load(path: str) -> None:
    """Runs the file and adds the classes that it defines."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise BadInput(f"the plugin {path} cannot be read: give a file of Python")
    # What it imports may stand beside it, as with a program.
    folder = str(Path(path).absolute().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    for value in list(vars(module).values()):
        if (
            isinstance(value, type)
            and issubclass(value, tuple(_BASES.values()))
            and value.__module__ == name
            and not value.__name__.startswith("_")
        ):
            add(value)
