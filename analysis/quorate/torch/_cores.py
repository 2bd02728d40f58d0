# SPDX-License-Identifier: BSD-2-Clause
"""How many threads a rank computes with."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache

import numpy as np

from .._arrays import shown
from .._native import BadInput, _quorate

MOST = 1024
# How many ranks are on this host, as their launchers say: MPICH and Open MPI.
LOCAL_SIZES = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE")


def checked_threads(given: int | str) -> int:
    """That number; 0: "auto"."""
    if given == "auto":
        return 0
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not 0 < given <= MOST:
        raise BadInput(f"threads is {shown(given)}: use auto, or a number from 1 to {MOST}")
    return int(given)


def threads_here(wanted: int) -> int:
    """So many; 0: in a rank of MPI those for which it has cores, else 1, because what a process by
    itself computes is not to depend on the machine."""
    if wanted > 0:
        return wanted
    return cores_of_rank() if _quorate.rank_and_size()[1] > 1 else 1


def cores_of_rank() -> int:
    """OMP_NUM_THREADS, if it is set, else the cores on which this rank may run, of which it shares
    some with other ranks of its host. 1 if nobody says how many these are."""
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if said.isdigit() and int(said) > 0:
        return min(int(said), MOST)
    ranks = ranks_of_host(os.environ)
    return 1 if ranks is None else share(_cores(0), ranks, list(_cores_beside()))


def ranks_of_host(told: Mapping[str, str]) -> int | None:
    """How many ranks of this run are on this host, by what launchers tell; None: unknown."""
    for name in LOCAL_SIZES:
        if told.get(name, "").isdigit():
            return int(told[name])
    # SLURM has them by node: "8(x2),5".
    counts: list[int] = []
    for one in told.get("SLURM_STEP_TASKS_PER_NODE", "").split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", one)
        if match is None:
            return None
        counts += [int(match[1])] * int(match[2] or 1)
    node = told.get("SLURM_NODEID", "")
    return counts[int(node)] if node.isdigit() and int(node) < len(counts) else None


def share(own: set[str], ranks: int, beside: list[set[str]]) -> int:
    """The cores that one of some ranks of a host has for itself, at least 1.

    own: where it may run. beside: where each child of its parent may run, itself among them. These
    are the ranks if a launcher has started them itself. Else all ranks are taken to run there.
    """
    if len(beside) != ranks:
        return max(1, len(own) // ranks)
    users = Counter(core for one in beside for core in one)
    return max(1, int(sum(Fraction(1, max(1, users[core])) for core in own)))


@cache
def _core(cpu: int) -> str:
    """The core of a hardware thread, by the list of its threads."""
    try:
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        with open(path, encoding="ascii") as siblings:
            return siblings.read().strip()
    except OSError:
        return str(cpu)


def _cores(process: int) -> set[str]:
    """Where a process may run."""
    return {_core(cpu) for cpu in os.sched_getaffinity(process)}


def _cores_beside() -> Iterator[set[str]]:
    """Where each child of this process's parent may run, itself among them."""
    parent = os.getppid()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                # The name of the program, in brackets, may hold anything.
                if int(stat.read().rpartition(")")[2].split()[1]) == parent:
                    yield _cores(int(name))
        except (OSError, IndexError):  # it has ended meanwhile
            continue
