# SPDX-License-Identifier: BSD-2-Clause
# What src/python/ makes.

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Terms = Sequence["Contribution | tuple[Contribution, float] | int | tuple[int, float]"]

version: str
built_with: str
units: dict[str, dict[str, str]]

class BadInput(ValueError): ...
class RefusedRun(BadInput): ...
class Failure(RuntimeError): ...
class MpiError(RuntimeError): ...

class Item:
    block: int
    coefficient: float
    input: int
    def __init__(
        self,
        block: int,
        coefficient: float = 1.0,
        input: int = 0,
        operation: str = "gradient",
        rows: tuple[int, int] | None = None,
    ) -> None: ...

class Part:
    def __init__(
        self, items: Sequence[int | tuple[int, float] | Item], fold: Sequence[float]
    ) -> None: ...

class Plan:
    def __init__(
        self,
        parts: Sequence[Part | Sequence[int | tuple[int, float] | Item]],
        each_when_ready: bool = False,
    ) -> None: ...

class Needs:
    blocks: list[tuple[int, int]]
    shard: list[list[int]]
    def __init__(
        self, blocks: Sequence[tuple[int, int]], shard: Sequence[Sequence[int]], **others: Any
    ) -> None: ...

class Problem:
    workers: int
    rows: int
    seed: int
    batch: int
    row_time: float
    dense: bool
    columns: int
    parameters: int
    def partitions(self, count: int | None = None) -> list[tuple[int, int]]: ...

class Dispatch:
    def __init__(
        self,
        task: int,
        worker: int,
        plan: Plan,
        inputs: int | Sequence[int],
        draw: int | None = None,
        begin: str = "now",
        repeat: bool = False,
        samples: int = 0,
        seconds: float = ...,
        micro_batch: int = 0,
        operands: Sequence[Sequence[Sequence[Slice]]] = (),
    ) -> None: ...

class Close:
    def __init__(self, first: int, last: int) -> None: ...

class Slice:
    def __init__(self, rows: tuple[int, int], weight: float = 1.0) -> None: ...

class Placed:
    def __init__(
        self, contribution: Contribution | int, weight: float, rows: tuple[int, int], at: int
    ) -> None: ...

class Combine:
    def __init__(self, terms: Sequence[Placed]) -> None: ...

class Step:
    divisor: float
    error: float
    def __init__(
        self,
        terms: Terms,
        divisor: float,
        error: float = 0.0,
        scale: float = 1.0,
        share: float = 1.0,
        model: int = 0,
        displacement: bool = False,
        waste: int = 0,
        placed: Sequence[Placed] = (),
    ) -> None: ...

class SetTimer:
    def __init__(self, timer: int, at: float) -> None: ...

class Note:
    def __init__(self, text: str) -> None: ...

class Undecodable:
    def __init__(self, why: str) -> None: ...

class Contribution:
    id: int
    worker: int
    part: int
    task: int
    draw: int
    samples: int
    oldest: int
    newest: int
    items: int
    compute: float
    delay: float
    idle: float
    send: float
    sent: float
    arrived: float
    fingerprint: int
    projection: float

class Start:
    active: list[int]

class Arrived:
    contributions: list[Contribution]

class Deadline:
    timer: int

class Stepped:
    version: int
    model: int
    inner_with_last: float

class Quiescent: ...

class WorkerLost:
    worker: int

class WorkerJoined:
    worker: int

class Stop:
    def set(self) -> None: ...

class Trace:
    attributes: dict[str, Any]
    model: Floats
    def table(self, name: str) -> dict[str, npt.NDArray[Any]]: ...
    def faults(self) -> list[str]: ...
    def save(self, path: str) -> None: ...

def simulate(
    options: dict[str, str], stop: Stop, shown: Callable[[int], None] | None = None
) -> Trace: ...
def run(options: dict[str, str]) -> Trace | None: ...
def read_trace(path: str) -> Trace: ...
def command(name: str, words: Sequence[str]) -> str: ...
def advise(
    options: dict[str, str], shown: Callable[[int, int], None] | None = None
) -> list[
    tuple[
        str,
        list[tuple[str, str]],
        list[float],
        float | None,
        float,
        float,
        float | None,
        int,
        float | None,
        float | None,
        str,
        bool,
    ]
]: ...
def check_scheme(options: dict[str, str], rounds: int) -> list[str]: ...
def mean(needs: Needs, contributions: Sequence[Contribution]) -> Step: ...
def options(command: str) -> list[tuple[str, str, str, str]]: ...
def components() -> list[tuple[str, str, str, str, str, list[tuple[str, str, str, str]]]]: ...
def add_component(
    kind: str,
    name: str,
    text: str,
    source: str,
    options: Sequence[Sequence[str]],
    make: Callable[..., Any],
) -> None: ...
def python_plugins(load: Callable[[str], None]) -> None: ...
def look_at_torch_with(look: Callable[[], str]) -> None: ...
def log_to(function: Callable[[int, str], None] | None) -> None: ...
def end_runs() -> None: ...
def start_mpi() -> None: ...
def rank_and_size() -> tuple[int, int]: ...
def abort(status: int) -> None: ...
def run_as(command: str) -> None: ...
def program(words: Sequence[str]) -> int: ...
def write_data(
    path: str,
    name: str,
    columns: int,
    task: str,
    classes: int,
    class_names: Sequence[str],
    names: Sequence[str],
    image: str,
    ones: bool,
    train: tuple[Any, ...],
    test: tuple[Any, ...],
    labelled: bool,
) -> None: ...
def read_data(path: str, split: str) -> tuple[Any, ...]: ...
def read_label(text: str | bytes) -> tuple[str, float | None] | None: ...
def data_attributes(path: str) -> dict[str, str]: ...
def data_rows(path: str) -> tuple[int, int]: ...
def data_names(path: str) -> tuple[list[str], list[str]]: ...
