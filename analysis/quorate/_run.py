# SPDX-License-Identifier: BSD-2-Clause
"""Simulations and runs."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from ._arrays import shown
from ._components import Component, component_of, options_of
from ._native import BadInput, _quorate, check_mpi
from ._options import document, option_name
from ._progress import Progress
from ._result import Comparison, Result, load
from ._tasks import BaseTask, keywords_of, watched
from ._threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

# Seconds of silence after which a worker of a task is taken for dead. It answers between
# micro-batches only. Of a module they may be long: the first one compiles and warms up, and workers
# that are threads take turns.
TIMEOUT_OF_TASKS = "300"


def _label_of(scheme: Any) -> str:
    component = component_of("scheme", scheme) if scheme is not None else None
    return component.label if component else str(scheme or "")


def _prepared(data: Any, keywords: dict[str, Any]) -> dict[str, str]:
    check_mpi()
    options = options_of(keywords_of(data, keywords))
    if "data" in options:
        options["data"] = os.path.abspath(options["data"])
    return options


def _run_options(data: Any, keywords: dict[str, Any]) -> dict[str, str]:
    """Options of a run. That of a task is evaluated only if that is asked for: it goes through all
    samples, which may take as long as an epoch."""
    options = _prepared(data, keywords)
    if isinstance(data, BaseTask):
        options.setdefault("evaluate-every", "0")
    return options


def _command(name: str, operands: list[str], options: Mapping[str, Any]) -> str:
    """Runs a command and returns what it printed."""
    words = list(operands)
    for option, value in options_of(options).items():
        if value == "on":
            words.append(f"--{option}")
        elif value != "off":
            words += [f"--{option}", value]
    return _quorate.command(name, words)


def _traced(
    command: str, data: Any, keywords: dict[str, Any], prepared: dict[str, str]
) -> Result | None:
    """A run whose trace is a file, so that it can have checkpoints and go on from them. Returns
    None on other ranks than 0."""
    with one_thread(), watched(data) as finish:
        try:
            _command(command, [], {"quiet": True, **prepared})
        except BadInput as error:
            if str(error):
                raise
            raise _quorate.RefusedRun("the coordinator has refused this run") from error
        if rank() != 0:
            return None
        result = load(keywords["trace"])
        result.label = _label_of(keywords.get("scheme")) or result.label
        finish(result)
    return result


def simulate(data: Any = None, **options: Any) -> Result:
    """Simulates a run under a virtual clock, in this process. Without data it is dry: times and
    decode errors only. Any number of threads may simulate at once. Ctrl-C raises KeyboardInterrupt.
    trace: a file for the trace; then options of checkpoints hold, and the run can be resumed.
    """
    if options.get("trace") is not None:
        result = _traced("simulate", data, options, _run_options(data, _or_dry(data, options)))
        assert result is not None
        return result
    return _simulate(data, options, _quorate.Stop(), alone=True)


def _data_set(data: Any) -> Any:
    """What a result keeps of the data: no task, which has copies of a module."""
    return None if isinstance(data, BaseTask) else data


def _or_dry(data: Any, keywords: dict[str, Any]) -> dict[str, Any]:
    """The options of a simulation, which is dry without data."""
    return (
        {"dry": True, **keywords} if data is None and keywords.get("replay") is None else keywords
    )


def _simulate(data: Any, keywords: dict[str, Any], stop: Any, alone: bool = False) -> Result:
    options = _run_options(data, _or_dry(data, keywords))
    rounds = options.get("rounds", "100" if data is None else "5000")
    progress = Progress(int(rounds), "rounds") if alone and rounds.isdigit() else None
    with one_thread(), watched(data) as finish:
        trace = _quorate.simulate(options, stop, progress.at if progress else None)
        result = Result(trace, _label_of(keywords.get("scheme")), _data_set(data))
        finish(result)
    if progress and progress.shown:
        progress.at(len(trace.table("round")["time"]))
    return result


def run(data: Any, **options: Any) -> Result | None:
    """Trains over MPI: for programs that mpiexec or srun starts. All ranks call it with the same
    arguments; rank 0 is the coordinator, the others are workers. Returns the result on rank 0, None
    on the others. If a worker fails, it says so by a traceback, or of bad input in a line, and MPI
    ends all ranks.
    trace: a file for the trace; then options of checkpoints hold, and the run can be resumed.
    """
    prepared = _run_options(data, options)  # what is wrong with these is wrong on all ranks
    if prepared.get("resilient") == "on":
        raise BadInput(
            "resilient is on, which ends the process with the run: use `python3 -m quorate run`"
        )
    if isinstance(data, BaseTask):
        prepared.setdefault("timeout", TIMEOUT_OF_TASKS)
    try:
        if options.get("trace") is not None:
            return _traced("run", data, options, prepared)
        with one_thread(), watched(data) as finish:
            trace = _quorate.run(prepared)
            if trace is None:
                return None
            result = Result(trace, _label_of(options.get("scheme")), _data_set(data))
            finish(result)
            return result
    except BaseException as error:
        if rank() > 0 and not isinstance(error, _quorate.RefusedRun):
            end_all_ranks(error)
        raise


def end_all_ranks(error: BaseException) -> None:
    """Says what this rank has failed with, and ends the others, which would wait for it for ever:
    bad input in a line, all else by its traceback. Does not return."""
    if isinstance(error, BadInput):
        here, size = _quorate.rank_and_size()
        print(f"quorate[rank {here} of {size}]: error: {error}", file=sys.stderr, flush=True)
        _quorate.abort(2)
    traceback.print_exception(error)
    _quorate.abort(1)


def rank() -> int:
    """This process's rank; 0 before MPI has begun."""
    return int(_quorate.rank_and_size()[0])


document(simulate, "simulate")
document(run, "run")


def sweep(
    data: Any = None,
    *,
    over: dict[str, Iterable[Any]],
    threads: int | None = None,
    **options: Any,
) -> Comparison:
    """Simulates all combinations of some options, in parallel threads.

    over: values of options by name: `over={"seed": range(10), "scheme": ["uncoded", "agc"]}`.
    threads: default: a core each.
    """
    points: list[dict[str, Any]] = [{}]
    for name, values in over.items():
        if isinstance(values, (str, bytes)):
            raise BadInput(f"over has the text {shown(values)} for {name}: give a list of values")
        choices = list(values)
        if not choices:
            raise BadInput(f"over names no values of {name}: give some")
        # What is defined in Python is added before runs begin.
        choices = [component_of(option_name(name), value) or value for value in choices]
        points = [{**point, name: value} for point in points for value in choices]
    options = {
        name: value if value is None else component_of(option_name(name), value) or value
        for name, value in options.items()
    }
    stop = _quorate.Stop()
    progress = Progress(len(points), "runs")

    def one(point: dict[str, Any]) -> Result:
        result = _simulate(data, {**options, **point}, stop)
        others = [
            f"{n} {getattr(v, 'label', v)}" for n, v in point.items() if n not in ("seed", "scheme")
        ]
        result.label = " ".join([result.label, *others])
        progress.step()
        return result

    workers = threads or len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(one, point) for point in points]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            if not all(f.done() and f.exception() is None for f in futures):
                stop.set()
                pool.shutdown(cancel_futures=True)
    for future in futures:
        if future.done() and not future.cancelled() and future.exception():
            raise future.exception()  # type: ignore[misc]
    return Comparison(future.result() for future in futures)


def compare(
    schemes: Sequence[str | Component | type], data: Any = None, *, seeds: int = 5, **options: Any
) -> Comparison:
    """Simulates schemes with the same delays, each with so many seeds."""
    if isinstance(schemes, (str, Component)):
        raise BadInput("compare takes a list of schemes: give several")
    return sweep(data, over={"scheme": schemes, "seed": range(seeds)}, **options)


def components(kind: str = "") -> pd.DataFrame:
    """What there is of schemes, models, optimisers, delays, ..., a row each."""
    import pandas as pd

    rows = [row[:5] for row in _quorate.components() if kind in ("", row[0])]
    if not rows:
        kinds = sorted({row[0] for row in _quorate.components()})
        raise BadInput(f"there is no kind {shown(kind)} of components: use {', '.join(kinds)}")
    return pd.DataFrame(rows, columns=["kind", "name", "arguments", "text", "source"])


def check(scheme: Any, workers: int = 7, rounds: int = 50, **options: Any) -> str:
    """Runs a scheme against workers that finish in any order, and says which promises of schemes it
    breaks. Returns a report; raises BadInput with it if a promise is broken."""
    component = component_of("scheme", scheme)
    keywords = {"scheme": component or scheme, "workers": workers, **options}
    broken: list[str] = _quorate.check_scheme(options_of(keywords), rounds)
    name = _label_of(keywords["scheme"])
    if broken:
        raise BadInput(f"{name} breaks what schemes promise: " + "; ".join(broken))
    orders = f"{rounds} rounds of {workers} workers in three orders of arrival"
    return f"{name}: {orders}, no promise broken"
