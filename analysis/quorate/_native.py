# SPDX-License-Identifier: BSD-2-Clause
# flake8: noqa: F401
"""The compiled module, with its messages going to `logging`."""

from __future__ import annotations

import atexit
import logging
import sys


def check_mpi() -> None:
    """Refuses an mpi4py of another MPI: of two in one process, calls go to either."""
    mpi4py = sys.modules.get("mpi4py.MPI")
    if mpi4py is None:
        return
    try:
        from ._built import MPI
    except ImportError:  # told better below
        return
    theirs = mpi4py.Get_library_version().splitlines()[0].strip("\0 ")
    ours = {"mpich": "MPICH", "openmpi": "Open MPI"}[MPI]
    if not theirs.startswith(ours):
        # As ValueError, because BadInput is in the module, which must not be loaded then.
        raise ValueError(f"mpi4py is of {theirs}, quorate of {ours}: use an mpi4py of that MPI")


check_mpi()
try:
    from . import _quorate as _quorate
except ImportError as error:
    raise ImportError(
        f"quorate's compiled module cannot be loaded ({error}): build it with 'make python', and"
        " set PYTHONPATH=build/python"
    ) from error

from ._quorate import Arrived as Arrived
from ._quorate import BadInput as BadInput
from ._quorate import Close as Close
from ._quorate import Combine as Combine
from ._quorate import Contribution as Contribution
from ._quorate import Deadline as Deadline
from ._quorate import Dispatch as Dispatch
from ._quorate import Failure as Failure
from ._quorate import Item as Item
from ._quorate import Needs as Needs
from ._quorate import Note as Note
from ._quorate import Part as Part
from ._quorate import Placed as Placed
from ._quorate import Plan as Plan
from ._quorate import Problem as Problem
from ._quorate import Quiescent as Quiescent
from ._quorate import SetTimer as SetTimer
from ._quorate import Slice as Slice
from ._quorate import Start as Start
from ._quorate import Step as Step
from ._quorate import Stepped as Stepped
from ._quorate import Undecodable as Undecodable
from ._quorate import WorkerJoined as WorkerJoined
from ._quorate import WorkerLost as WorkerLost
from ._quorate import version as version

logger = logging.getLogger("quorate")
# In the order of quorate::LogLevel.
_LEVELS = (logging.CRITICAL, logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)


def _log(level: int, text: str) -> None:
    logger.log(_LEVELS[level], text)


_quorate.log_to(_log)
# Threads of daemons would call back into an interpreter that is gone.
atexit.register(_quorate.end_runs)
