# SPDX-License-Identifier: BSD-2-Clause
"""What traces hold of each round and of each contribution, beside the scores of models."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from .tasks import by_message, need_arrivals
from .traces import Floats, Trace

POINTS = 100  # of a curve; more rounds are averaged
ROUNDING = 1e-9  # seconds


@dataclass
class Quantity:
    """A number of each round: `of` it over `per` what; without that it is a mean of rounds."""

    label: str
    of: Callable[[Trace], Floats]
    per: Callable[[Trace], Floats] = lambda trace: np.ones(trace.rounds)


def column(name: str) -> Callable[[Trace], Floats]:
    return lambda trace: np.asarray(trace.round[name], dtype=np.float64)


def samples_once(trace: Trace) -> int:
    """How many samples the estimate of a round needs: a batch, or all rows."""
    rows = int(trace.attributes["rows"])
    batch = trace.config.get("batch", "0")
    return min(int(batch), rows) if batch.isdigit() and int(batch) else rows


def used_samples(trace: Trace) -> Floats:
    """Samples of each round's estimate, each counted once: the contributions of a code hold some of
    them twice. NaN with local steps, of which traces count the steps."""
    if "local-steps" in trace.config:
        return np.full(trace.rounds, np.nan)
    samples = column("samples")(trace)
    if not trace.attributes.get("varying_samples", 0):
        samples = samples.clip(max=samples_once(trace))
    return samples


ROUNDS = {
    "batch": Quantity("samples of a round", column("samples")),
    "sample_rate": Quantity("samples per second", used_samples, lambda t: t.durations),
    "round_time": Quantity("time of a round (s)", lambda t: t.durations),
    "step": Quantity("step size", column("step_size")),
    "staleness": Quantity("mean staleness (updates)", column("staleness_mean")),
    "decode_error": Quantity("decode error", column("decode_error")),
    "used": Quantity("workers used", column("used")),
    "wait": Quantity("wait of the coordinator in a round (s)", column("wait")),
}
# Columns of /arrival.
CONTRIBUTIONS = {
    "worker_batch": ("samples", "samples of a contribution"),
    "compute": ("compute", "computing time of a contribution (s)"),
    "delay": ("delay", "delay of a contribution (s)"),
    "send": ("send", "time to send a contribution (s)"),
    "idle": ("idle", "time without a task before a contribution (s)"),
}
TOLD_LATER = ("send",)


def messages(trace: Trace) -> pd.DataFrame:
    """A row for each message to the coordinator, by worker and in order. `compute` and `delay` are
    those of all its parts; `send` is what it took to leave, as its worker told with the next one,
    and NaN of the last one. Raises BadInput if the trace does not list all contributions."""
    need_arrivals(trace)
    names = ("event", "round", "worker", "task", "sent", "arrived", "compute", "delay", "send")
    table = trace.arrivals(*names).sort_values(["worker", "event"], kind="stable")
    table = by_message(table)
    table["send"] = table.groupby("worker")["send"].shift(-1)
    return table.reset_index(drop=True)


def received(trace: Trace) -> pd.DataFrame:
    """Columns `round`, `worker` and `value`: what went by from a task's departure to the arrival of
    its first message and was neither delay, computation nor sending."""
    found = transfers(trace)
    return found[["round", "worker", "receive"]].set_axis(["round", "worker", "value"], axis=1)


def queued(trace: Trace) -> pd.DataFrame:
    """Columns `round`, `worker` and `value`: how many other messages had been sent to the
    coordinator when this one came, and had not come. The last message of each worker, which nobody
    told how long it took, counts from its arrival on: not at all."""
    table = messages(trace)
    arrived = np.sort(table["arrived"].to_numpy())
    left = np.sort((table["arrived"] - table["send"].fillna(0.0)).to_numpy())
    now = table["arrived"].to_numpy()
    table["value"] = np.searchsorted(left, now, "right") - np.searchsorted(arrived, now, "right")
    return table[["round", "worker", "value"]]


# Of contributions, what no column of /arrival holds.
DERIVED = {
    "receive": (received, "time to receive a task (s)"),
    "queued": (queued, "messages under way to the coordinator"),
}
OF_CONTRIBUTIONS = (*CONTRIBUTIONS, *DERIVED)
LABELS = {
    **{name: quantity.label for name, quantity in ROUNDS.items()},
    **{name: label for name, (_, label) in CONTRIBUTIONS.items()},
    **{name: label for name, (_, label) in DERIVED.items()},
}


def observed(trace: Trace, name: str) -> pd.DataFrame:
    """Columns `round`, from 1, and `value` of each contribution. Those that came in no round that
    ended are left out. Of what a worker tells with its next message the first one knows nothing.

    Raises BadInput if the trace does not list all contributions.
    """
    need_arrivals(trace)
    if name in DERIVED:
        found = DERIVED[name][0](trace)
    else:
        found = trace.arrivals("round", "worker", CONTRIBUTIONS[name][0])
    if name in TOLD_LATER:
        found = found[found["worker"].duplicated()]
    found = found[found["round"] <= trace.rounds]
    return found.set_axis(["round", "worker", "value"], axis=1)


def transfers(trace: Trace) -> pd.DataFrame:
    """Columns `receive` and `send`, in seconds, of each task's first message, with its `round` and
    `worker`: `send` is what its worker needed to send it, as it told with its next message;
    `receive` is what else went by from the task's departure to the message's arrival and was
    neither delay nor computation.

    The last message of each worker is left out. Raises BadInput if the trace does not list all
    contributions.
    """
    table = messages(trace)
    table = table[~table.duplicated(["worker", "task"])].dropna(subset="send")
    busy = table["compute"] + table["delay"] + table["send"]
    receive = table["arrived"] - table["sent"] - busy
    table["receive"] = receive.where(receive.abs() > ROUNDING, 0.0)
    return table[["round", "worker", "receive", "send"]].reset_index(drop=True)


def by_round(trace: Trace, name: str) -> tuple[Floats, Floats]:
    """(sums, counts): their ratio is the quantity of a round, or of several. Raises BadInput."""
    if name in ROUNDS:
        return ROUNDS[name].of(trace), ROUNDS[name].per(trace)
    found = observed(trace, name)
    where, size = found["round"].to_numpy() - 1, trace.rounds
    counts = np.bincount(where, minlength=size).astype(float)
    return np.bincount(where, found["value"].to_numpy(), size).astype(float), counts


def line(trace: Trace, name: str) -> tuple[npt.NDArray[np.int64], Floats]:
    """(rounds, values): means over blocks of rounds, each at its end; NaN without a number.

    Raises BadInput.
    """
    sums, counts = by_round(trace, name)
    step = -(-len(sums) // POINTS)
    begins = np.arange(0, len(sums), step)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.add.reduceat(sums, begins) / np.add.reduceat(counts, begins)
    ends: npt.NDArray[np.int64] = np.append(begins[1:], len(sums))
    return ends, values


def samples(trace: Trace, name: str) -> Floats:
    """The numbers of all rounds, or of all contributions. Raises BadInput."""
    if name in OF_CONTRIBUTIONS:
        return np.asarray(observed(trace, name)["value"], dtype=np.float64)
    sums, counts = by_round(trace, name)
    known = counts > 0
    return np.array(sums[known] / counts[known])
