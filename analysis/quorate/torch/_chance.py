# SPDX-License-Identifier: BSD-2-Clause
"""What dropout, augmentation and the like draw: from a key, so that replicas draw alike."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

# Generators are the process's: who computes a micro-batch has this lock from the seed to the end.
computing = threading.Lock()

_lock = threading.Lock()
_inside = 0  # runs that go on, in all threads
_before: tuple[Any, ...] = ()


def seed_chance(seed: int, updates: int, samples: npt.NDArray[np.int64]) -> None:
    """Seeds torch, random and NumPy for a micro-batch, from these arguments alone: replicas of it
    draw alike. The generators are the process's, so one thread at a time may compute."""
    key = hashlib.blake2b(np.array([seed, updates], np.int64).tobytes(), digest_size=8)
    key.update(np.ascontiguousarray(samples, np.int64).tobytes())
    number = int.from_bytes(key.digest(), "little") >> 1
    # torch.manual_seed takes 0.1 ms to note who called it, for GPUs that are not used yet.
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
    random.seed(number)
    np.random.seed(number % 2**32)


@contextmanager
def kept_chance() -> Iterator[None]:
    """Puts back what the program's own generators were before the first of the runs that go on."""
    global _inside, _before
    with _lock:
        if _inside == 0:
            gpus = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
            _before = random.getstate(), np.random.get_state(), torch.get_rng_state(), gpus
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                random.setstate(_before[0])
                np.random.set_state(_before[1])
                torch.set_rng_state(_before[2])
                for number, state in enumerate(_before[3]):
                    torch.cuda.set_rng_state(state, number)
