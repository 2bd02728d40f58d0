# SPDX-License-Identifier: BSD-2-Clause
"""cost: core-hours, what they went into, redundant work, bytes, and what the scheduler says."""

import shutil
import subprocess
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from .figures import Plot, finish, panels, row_height, rows
from .groups import Group
from .quantities import samples_once, used_samples
from .tables import mean, number, share, short
from .tasks import ABSENT, CANCELLED, COMPUTING, DELAY, MESSAGE, STATES, UNUSED, WAITING
from .tasks import pieces, tasks, totals
from .traces import Trace
from .workers import paint

SACCT = "JobID,State,Elapsed,TotalCPU,AllocCPUS,CPUTimeRAW,MaxRSS,ConsumedEnergyRaw"
TIMEOUT = 10  # seconds for the scheduler


class Cost:
    """Of one run; what needs a list of all contributions is NaN without it."""

    def __init__(self, trace: Trace) -> None:
        self.cores = self.cores_of(trace)
        self.core_hours = self.cores * trace.time / 3600
        self.used_rate = float(used_samples(trace).sum()) / max(trace.time, 1e-300)
        self.bytes_sent = float(trace.round["bytes_sent"].sum())
        self.bytes_received = float(trace.round["bytes_received"].sum())
        self.shares = np.full(len(STATES), np.nan)
        self.answered_rate = self.redundancy = float("nan")
        if not trace.lists_all_arrivals:
            return
        table = tasks(trace)
        if table.empty:
            return
        seconds = totals(trace, pieces(trace, table))
        self.shares = seconds.sum(0) / max(seconds.sum(), 1e-300)
        # Samples that were computed and answered for, over the rows that estimates needed once.
        answered = float(table["samples"].sum())
        if np.isfinite(self.used_rate):
            self.answered_rate = answered / max(trace.time, 1e-300)
        varying = bool(trace.attributes.get("varying_samples", 0))
        needed = trace.round["samples"].sum() if varying else trace.rounds * samples_once(trace)
        self.redundancy = answered / needed if needed else float("nan")

    @staticmethod
    def cores_of(trace: Trace) -> int:
        """One for each thread of a worker, and one for the coordinator."""
        threads = trace.config.get("threads", "1")
        return trace.workers * (int(threads) if threads.isdigit() else 1) + 1

    @property
    def idle(self) -> float:
        """Share of the workers' time without a task."""
        return float(self.shares[WAITING] + self.shares[ABSENT])

    @property
    def wasted(self) -> float:
        """Share in tasks that were cancelled or whose answers were not used."""
        return float(self.shares[CANCELLED] + self.shares[UNUSED])


def table(groups: Sequence[Group], costs: Sequence[list[Cost]]) -> pd.DataFrame:
    """A row for each configuration, means over its seeds."""
    lines = []
    for group, found in zip(groups, costs):
        shares = np.mean([cost.shares for cost in found], axis=0)
        lines.append(
            {
                "scheme": group.name,
                "core-hours": short(mean([cost.core_hours for cost in found]), 4),
                "samples/s": short(mean([cost.used_rate for cost in found]), 4),
                "answered/s": short(mean([cost.answered_rate for cost in found]), 4),
                "computing": share(shares[COMPUTING]),
                "delay": share(shares[DELAY]),
                "messages": share(shares[MESSAGE]),
                "idle": share(mean([cost.idle for cost in found])),
                "cancelled": share(shares[CANCELLED]),
                "not used": share(shares[UNUSED]),
                "work / needed": number(mean([cost.redundancy for cost in found]), 2),
                "MB out": number(mean([cost.bytes_sent for cost in found]) / 1e6, 2),
                "MB in": number(mean([cost.bytes_received for cost in found]) / 1e6, 2),
            }
        )
    return pd.DataFrame(lines)


def plot(groups: Sequence[Group], costs: Sequence[list[Cost]]) -> Plot:
    """Core-hours of the workers, by what they did."""
    names = [group.name for group in groups]
    figure, grid = panels(1, height=0.5 + row_height(names) * len(groups))
    axis = grid[0][0]
    left = np.zeros(len(groups))
    hours = np.array([mean([c.core_hours for c in found]) for found in costs])
    shares = np.array([np.mean([c.shares for c in found], axis=0) for found in costs])
    known = np.isfinite(shares).all(1)
    scale, unit = (3600, "core-seconds") if hours.max() < 1 else (1, "core-hours")
    shown = []
    for i, name in enumerate(STATES):
        part = np.where(known, shares[:, i], 0.0) * hours * scale
        if part.any():
            axis.barh(range(len(groups)), part, 0.7, left, **paint(i))
            shown.append(Patch(label=name, **paint(i)))
            left += part
    rest = np.where(known, 0.0, hours * scale)
    if rest.any():
        axis.barh(range(len(groups)), rest, 0.7, left, color="0.6")
        shown.append(Patch(color="0.6", label="not known"))
    rows(axis, names)
    axis.set_xlim(0, 1.03 * scale * hours.max())
    axis.set_xlabel(f"{unit} of the rounds")
    finish(figure, shown, [patch.get_label() for patch in shown])
    numbers = pd.DataFrame(shares, columns=STATES)
    numbers.insert(0, "configuration", [group.label for group in groups])
    numbers.insert(1, "core-hours", hours)
    text = (
        "One core for each thread of a worker and one for the coordinator, from the first dispatch "
        "to the last update, means over seeds. Idle is waiting or absent. Samples/s are those "
        "whose gradients updates used, each counted once, and answered/s those that workers "
        "answered for; work / needed is the latter, over those that each estimate needs once. "
        "Computing includes what a module of PyTorch copies, to a GPU and back."
    )
    return Plot("cost", "Cost", text, figure, numbers)


def scheduler_line(trace: Trace) -> str | None:
    """What sacct says of the job, if there is one and sacct knows it."""
    job = str(trace.attributes.get("scheduler_job_id", ""))
    if not job or not shutil.which("sacct"):
        return None
    try:
        done = subprocess.run(
            ["sacct", "-n", "-X", "-P", "-j", job, "-o", SACCT],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.split("\n")
    if done.returncode or not lines[0]:
        return None
    words = zip(SACCT.split(","), lines[0].split("|"))
    return f"{trace.name}: " + ", ".join(f"{name} {value}" for name, value in words if value)
