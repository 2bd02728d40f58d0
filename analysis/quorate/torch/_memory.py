# SPDX-License-Identifier: BSD-2-Clause
"""Memory that tensors free stays with the process."""

from __future__ import annotations

import ctypes

# mallopt(3): sizes from which a block has a mapping of its own, and at which the heap gives its end
# back. They are ints.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
TRIM, MAPPED = 2**31 - 1, 2**30


def keep_freed_memory() -> None:
    """Lets the C library keep freed memory for the tensors of the next step.

    By default glibc gives back large blocks and the end of its heap, and a step faults all their
    pages in again, by chance of where its blocks lie. Other C libraries are left alone.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, MAPPED)
        mallopt(M_TRIM_THRESHOLD, TRIM)
