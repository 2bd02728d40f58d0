# SPDX-License-Identifier: BSD-2-Clause
"""The panel of watch: some lines with curves about a run that goes on."""

import numpy as np

from .tasks import CHANGES, JOINED, OF_ALL
from .traces import Floats, Trace

RECENT = 50  # rounds
LATEST = 4000  # contributions
QUIET = 30.0  # seconds without a row after which a run may be dead
BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.-=+*%#"


def spark(values: Floats, width: int, blocks: str) -> str:
    """The values as a line of blocks, the last ones if there are too many to average."""
    values = values[np.isfinite(values)]
    if not len(values):
        return ""
    edges = np.linspace(0, len(values), min(width, len(values)) + 1).astype(int)
    means = np.array([values[a:b].mean() for a, b in zip(edges[:-1], edges[1:])])
    low, high = means.min(), means.max()
    level = (means - low) / (high - low) if high > low else np.zeros(len(means))
    return "".join(blocks[int(round(x * (len(blocks) - 1)))] for x in level)


def bar(share: float, width: int) -> str:
    done = int(round(min(max(share, 0.0), 1.0) * width))
    return "[" + "#" * done + "-" * (width - done) + "]"


def duration(seconds: float) -> str:
    if not np.isfinite(seconds):
        return "-"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def lines(trace: Trace, width: int, age: float, blocks: str = BLOCKS) -> list[str]:
    """The view. Age: seconds since the file changed."""
    wanted = int(trace.attributes.get("rounds", 0))
    head = f"{trace.name}: {trace.scheme}, {trace.workers} workers, {trace.status}"
    found = [head + f" on {trace.attributes.get('host', '')}, {trace.clock} time"]
    if not trace.rounds:
        return [*found, "no round yet"]
    recent = trace.durations[-RECENT:]
    left = (wanted - trace.rounds) * recent.mean() if trace.status == "running" else 0.0
    found.append(
        f"{bar(trace.rounds / max(wanted, 1), max(10, width // 3))} round {trace.rounds} of "
        f"{wanted}, {duration(trace.time)}" + (f", {duration(left)} left" if left > 0 else "")
    )
    room = max(10, width - 52)
    table = trace.round
    loss = table["loss_estimate"].to_numpy()
    if not trace.dry and np.isfinite(loss).any():
        words = f"loss      {loss[0]:.4g} to {loss[-1]:.4g}"
        found.append(f"{words:50}  {spark(loss, room, blocks)}")
    words = f"ms/round  {1000 * recent.mean():.2f}, 95 % {1000 * np.quantile(recent, 0.95):.2f}"
    found.append(f"{words:50}  {spark(recent, room, blocks)}")
    used = table["used"].to_numpy()[-RECENT:]
    words = f"used      {used.mean():.1f} of {trace.workers} workers"
    found.append(f"{words:50}  {spark(used.astype(float), room, blocks)}")
    means = table.tail(RECENT).mean(skipna=False)
    error, stale = means["decode_error"], means["staleness_mean"]
    found.append(f"decoding  error {error:.3g}, staleness {stale:.3g}")
    if trace.evaluated:
        last = trace.evaluation.iloc[-1]
        words = ", ".join(
            f"{n} {last[n]:.4f}" for n in ("train_loss", "accuracy", "auc") if np.isfinite(last[n])
        )
        found.append(f"scored    round {last['round']:.0f}: {words}")
    found += slow_lines(trace)
    if trace.diverged:
        found.append("the loss has diverged")
    if trace.status == "running" and age > QUIET:
        found.append(f"nothing new for {duration(age)}: the job may be dead")
    return [line[:width] for line in found]


def slow_lines(trace: Trace) -> list[str]:
    """Who answered least often in recent rounds, and who came or went last."""
    table = trace.arrivals("round", "worker", last=LATEST)
    recent = table[table["round"] > trace.rounds - RECENT]
    found = []
    if len(recent):
        first = max(table["round"].min(), trace.rounds - RECENT + 1)
        answers = np.bincount(recent.drop_duplicates()["worker"], minlength=trace.workers)
        worst = np.argsort(answers, kind="stable")[:5]
        words = ", ".join(f"{worker} ({answers[worker]})" for worker in worst)
        found.append(f"slowest   worker (answers in {trace.rounds - first + 1} rounds): {words}")
    member = trace.membership
    changes = member[(member["kind"] != JOINED) | (member["time"] > 0)].tail(3)
    if len(changes):
        last = [
            f"{'' if change.kind in OF_ALL else f'{change.worker} '}"
            f"{CHANGES.get(change.kind, '')} at {duration(change.time)}"
            for change in changes.itertuples()
        ]
        found.append(f"members   {', '.join(last)}")
    return found
