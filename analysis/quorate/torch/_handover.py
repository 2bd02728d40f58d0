# SPDX-License-Identifier: BSD-2-Clause
"""A rank's two threads: the engine's, which asks for gradients, and the user's loop, which gives
them. Each waits while the other works."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


@dataclass
class Expected:
    """The engine begins a sum. It asks for these micro-batches, unless it gives the sum up."""

    upcoming: Iterator[Numbers]


@dataclass
class Asked:
    """The engine waits for a micro-batch: total += coefficient x (sum of gradients at point)."""

    samples: Numbers
    point: npt.NDArray[Any]
    coefficient: float
    total: npt.NDArray[Any]


@dataclass
class Ended:
    """The run has ended; with an error, if there is one."""

    error: BaseException | None


class Handover:
    """Messages go to the loop in order. It answers each Asked, and nothing else."""

    def __init__(self) -> None:
        self._messages: SimpleQueue[Expected | Asked | Ended] = SimpleQueue()
        self._answers: SimpleQueue[float | BaseException] = SimpleQueue()
        self._first: Expected | Asked | Ended | None = None

    # The engine's thread.

    def expect(self, upcoming: Iterator[Numbers]) -> None:
        self._messages.put(Expected(upcoming))

    def add_gradient(
        self,
        samples: Numbers,
        point: npt.NDArray[Any],
        coefficient: float,
        total: npt.NDArray[Any],
    ) -> float:
        """Returns the sum of the losses. Raises what the loop has failed with."""
        self._messages.put(Asked(samples, point, coefficient, total))
        answer = self._answers.get()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def end(self, error: BaseException | None = None) -> None:
        self._messages.put(Ended(error))

    # The loop's thread.

    def first(self) -> Expected | Asked | Ended:
        """The first message that was not taken. Waits for it."""
        if self._first is None:
            self._first = self._messages.get()
        return self._first

    def take(self) -> None:
        """Takes the first message. Ended stays, because it is the last one."""
        if not isinstance(self.first(), Ended):
            self._first = None

    def answer(self, loss: float) -> None:
        self._answers.put(loss)

    def fail(self, error: BaseException) -> None:
        """The engine's next question, or the one it waits for, is answered by this error."""
        self._answers.put(error)
