# SPDX-License-Identifier: BSD-2-Clause
"""What dropout, augmentation and the like draw: from a key, so that replicas draw alike."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch

from .._while_runs import while_runs_go_on

# Generators are the process's: who computes a micro-batch has this lock from the seed to the end.
computing = threading.Lock()


def seed_chance(seed: int, updates: int, samples: npt.NDArray[np.int64]) -> None:
    """Seeds torch, random and NumPy for a micro-batch, from these arguments alone: replicas of it
    draw alike. The generators are the process's, so one thread at a time may compute."""
    key = hashlib.blake2b(np.array([seed, updates], np.int64).tobytes(), digest_size=8)
    key.update(np.ascontiguousarray(samples, np.int64).tobytes())
    number = int.from_bytes(key.digest(), "little") >> 1
    # torch.manual_seed takes long to note who called it, for GPUs that are not used yet.
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
    random.seed(number)
    np.random.seed(number % 2**32)


@while_runs_go_on
def kept_chance() -> Iterator[None]:
    """Puts back what the program's own generators were before the first of the runs that go on."""
    gpus = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    before = random.getstate(), np.random.get_state(), torch.get_rng_state()
    yield
    random.setstate(before[0])
    np.random.set_state(before[1])
    torch.set_rng_state(before[2])
    for number, state in enumerate(gpus):
        torch.cuda.set_rng_state(state, number)
