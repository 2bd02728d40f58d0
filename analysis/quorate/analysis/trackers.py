# SPDX-License-Identifier: BSD-2-Clause
"""export to experiment trackers: TensorBoard's event files, MLflow's folder. They write them."""

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from .groups import options
from .traces import BadInput, Trace, shown

MOST_METRICS = 1000  # in a call of MLflow's log_batch
MOST_PARAMETERS = 100
STATUS = {"completed": "FINISHED", "failed": "FAILED", "running": "RUNNING"}  # else KILLED
TAGS = ("command_line", "git_revision", "quorate_version", "host", "scheduler_job_id")
Value = tuple[str, float, int, float]


def need(name: str, package: str, to: str) -> ModuleType:
    """A module that is not ours. Raises BadInput if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise BadInput(
            f"--to {to} needs the Python package {package} ({error}): pip install {package}"
        ) from error


def values(trace: Trace) -> Iterator[Value]:
    """(name, value, round, seconds of the run) of rounds and scores, as far as they are numbers."""
    tables = {"round": trace.round, "evaluation": trace.evaluation}
    for kind, table in tables.items():
        step = table["round"] if "round" in table else pd.Series(np.arange(1, len(table) + 1))
        for name in table.columns.difference(["round", "time", "model"], sort=False):
            for value, number, when in zip(table[name], step, table["time"]):
                if np.isfinite(value):
                    yield f"{kind}/{name}", float(value), int(number), float(when)
    for number, seconds, when in zip(range(1, trace.rounds + 1), trace.durations, trace.edges[1:]):
        yield "round/seconds", float(seconds), number, float(when)


def new_folder(folder: Path, trace: Trace) -> Path:
    """Of this trace. Raises BadInput if it has something in it, which would be added to."""
    path = folder / trace.path.stem
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise BadInput(f"{path} is there: remove it, or give another --out")
    return path


def begin_of(trace: Trace) -> float:
    """When the run began, seconds since 1970: its trace was written last when it ended.

    A simulated run begins where its clock does not lead past that.
    """
    return max(0.0, trace.path.stat().st_mtime - trace.time)


def to_tensorboard(trace: Trace, folder: Path) -> list[Path]:
    """A folder with an event file; a tag for each column of the rounds and of the scores."""
    summary = need("tensorboard.summary", "tensorboard", "tensorboard")
    path, begin = new_folder(folder, trace), begin_of(trace)
    writer = summary.Writer(str(path))
    try:
        for tag, value, step, when in values(trace):
            writer.add_scalar(tag, value, step, wall_time=begin + when)
    finally:
        writer.close()
    return [path]


def to_mlflow(trace: Trace, folder: Path) -> list[Path]:
    """A run in the folder mlruns, with its options, metrics and the trace as an artifact."""
    # From 3.13 on MLflow writes folders only if it is told so.
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = need("mlflow", "mlflow", "mlflow")
    path = folder / "mlruns"
    try:
        log_run(mlflow, mlflow.MlflowClient(path.absolute().as_uri()), trace)
    except mlflow.exceptions.MlflowException as error:
        raise BadInput(f"MLflow does not write {path}: {' '.join(str(error).split())}") from error
    return [path]


def log_run(mlflow: ModuleType, client: Any, trace: Trace) -> None:
    begin = int(1000 * begin_of(trace))
    experiment = client.get_experiment_by_name("quorate")
    experiment = experiment.experiment_id if experiment else client.create_experiment("quorate")
    tags = {name: str(trace.attributes.get(name, "")) for name in TAGS}
    run = client.create_run(experiment, begin, tags, shown(trace.path.stem)).info.run_id
    chosen = {**options(trace), "seed": str(trace.seed)}
    entities = mlflow.entities
    parameters = [entities.Param(name, value) for name, value in sorted(chosen.items()) if value]
    metrics = [
        entities.Metric(name, value, begin + round(1000 * when), step)
        for name, value, step, when in values(trace)
    ]
    for at in range(0, len(parameters), MOST_PARAMETERS):
        client.log_batch(run, params=parameters[at : at + MOST_PARAMETERS])
    for at in range(0, len(metrics), MOST_METRICS):
        client.log_batch(run, metrics=metrics[at : at + MOST_METRICS])
    client.log_artifact(run, str(trace.path))
    end = begin + round(1000 * trace.time)
    client.set_terminated(run, STATUS.get(trace.status, "KILLED"), end)
