# SPDX-License-Identifier: BSD-2-Clause
"""What may stand in the place of a data set, because it brings its model and optimiser."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ._result import Result


class Finish(Protocol):
    """Is told the result of a run."""

    def __call__(self, result: Result) -> None:
        ...


class BaseTask:
    """Derived by `quorate.torch.Task`."""

    def keywords(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a run, with its data set, of those that the user has given."""
        raise NotImplementedError

    def watch(self) -> AbstractContextManager[Finish]:
        """Around a run in this process. What it gives is called with the result."""
        raise NotImplementedError


def keywords_of(data: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a run by name, also `data`, which may be a task."""
    return data.keywords(given) if isinstance(data, BaseTask) else {"data": data, **given}


def watched(data: Any) -> AbstractContextManager[Finish]:
    """Around a run with these data."""
    return data.watch() if isinstance(data, BaseTask) else nullcontext(lambda result: None)
