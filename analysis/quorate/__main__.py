# SPDX-License-Identifier: BSD-2-Clause
"""python3 -m quorate COMMAND ...: the program `quorate`, with plugins that may be Python files."""

from __future__ import annotations

import shlex
import sys
import traceback
from pathlib import Path

from ._doctor import look_at_torch
from ._native import BadInput, _quorate
from ._plugins import load


def load_or_tell(path: str) -> None:
    """Loads a plugin; what its code raises is told with its traceback."""
    try:
        load(path)
    except BadInput:
        raise
    except Exception:
        traceback.print_exc()
        raise


if sys.argv[1:2] == ["analysis"]:
    from .analysis.cli import main
    from .analysis.streams import program

    sys.exit(program(lambda: main(sys.argv[2:])))

# What job scripts start, with this package wherever it is.
_HERE = shlex.quote(str(Path(__file__).absolute().parents[1]))
_PATH = f'PYTHONPATH={_HERE}"${{PYTHONPATH:+:$PYTHONPATH}}"'
_quorate.run_as(f"env {_PATH} {shlex.quote(sys.executable)} -m quorate")
_quorate.log_to(None)  # to stderr, as the program does
_quorate.python_plugins(load_or_tell)
_quorate.look_at_torch_with(look_at_torch)
sys.exit(_quorate.program(sys.argv[1:]))
