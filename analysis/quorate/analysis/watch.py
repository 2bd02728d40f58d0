# SPDX-License-Identifier: BSD-2-Clause
"""watch: a run that goes on elsewhere, in one line of a terminal, from its trace alone."""

import shutil
import sys
import time
from pathlib import Path

import h5py
import numpy as np

from .panel import BLOCKS, LATEST, PLAIN, QUIET, RECENT, duration, lines
from .tasks import APART, DIED, JOINED, LEFT, LOADING, LOST, REENCODED, RESET, RESUMED
from .traces import RUN_TRACE, BadInput, Trace, read_trace

MOST_FAILURES = 10  # times in a row that a trace may not be read
SLOW = 1.5  # times the median of the workers' times
MOST_SLOW = 3  # workers that are named
MOST_NEWS = 5  # of what was before watch began


def slow(trace: Trace) -> list[int]:
    """Who is slow: answers to less than half as many of the last rounds as others do, or takes
    much longer than the median. The slowest first."""
    table = trace.arrivals("round", "worker", "sent", "arrived", last=LATEST)
    table = table[table["round"] > trace.rounds - RECENT]
    if table.empty:
        return []
    answers = np.bincount(table.drop_duplicates(["round", "worker"])["worker"])
    answers = np.pad(answers, (0, max(0, trace.workers - len(answers))))
    seconds = (table["arrived"] - table["sent"]).groupby(table["worker"]).mean()
    seconds = seconds.reindex(range(len(answers)), fill_value=np.inf).to_numpy()
    usual = np.median(seconds[np.isfinite(seconds)])
    late = np.nonzero((answers < answers.max() / 2) | (seconds > SLOW * usual))[0]
    return [int(worker) for worker in sorted(late, key=lambda w: (answers[w], -seconds[w]))]


def line(trace: Trace, age: float, pace: float = float("nan")) -> str:
    """Round, loss, time, time left, answers used, who is slow.

    Age: seconds since the file changed. Pace: seconds of a round as watched, if their clock is
    not the wall's.
    """
    wanted = int(trace.attributes.get("rounds", 0))
    words = [f"round {trace.rounds}/{wanted}"]
    if trace.rounds:
        loss = trace.round["loss_estimate"].iloc[-1]
        if not trace.dry:
            words.append(f"loss {loss:.4g}")
        words.append(duration(trace.time))
        recent = trace.durations[-RECENT:].mean() if trace.clock == "wall" else pace
        if trace.status == "running" and np.isfinite(recent):
            words.append(f"{duration((wanted - trace.rounds) * recent)} left")
        used = trace.round["used"].to_numpy()[-RECENT:].mean()
        words.append(f"used {used:.3g}/{trace.workers}")
        late = slow(trace)
        if late:
            more = ", ..." if len(late) > MOST_SLOW else ""
            words.append("slow " + ", ".join(map(str, late[:MOST_SLOW])) + more)
    if trace.status == "running" and age > QUIET:
        words.append(f"nothing new for {duration(age)}")
    return "  ".join(words)


def news(trace: Trace) -> list[str]:
    """Who came and went, a line for each change, in their order."""
    told = []
    for change in trace.membership.itertuples():
        if change.kind == APART or (change.kind == JOINED and change.time <= 0):
            continue
        worker = f"worker {change.worker}"
        text = {
            JOINED: f"{worker} has joined",
            LEFT: f"{worker} has left",
            DIED: f"{worker} has died",
            REENCODED: f"the code was made anew for {change.worker} workers",
            RESUMED: f"the run went on with {change.worker} workers",
            LOST: "contributions were lost after a decision, and the round began anew",
            RESET: "the run was resumed, and inner optimisers were reset",
            LOADING: f"a standby rank takes the place of {worker}",
        }.get(change.kind, f"{worker}: change {change.kind}")
        number = 1 + int(np.searchsorted(trace.round["time"], change.time))
        told.append(f"{text} in round {number}, at {duration(change.time)}")
    return told


def age_of(path: Path) -> float:
    """Seconds since the file changed."""
    return time.time() - path.stat().st_mtime


def traces_of(manifest: Path) -> list[Path]:
    """The traces of a manifest's runs, which may not be there yet. Raises BadInput."""
    try:
        rows = [
            row.split("\t")
            for row in manifest.read_text("utf-8", "surrogateescape").splitlines()
            if row.strip() and not row.startswith("#")
        ]
    except OSError as error:
        raise BadInput(f"{manifest} cannot be read: {error}") from error
    if not rows or rows[0][:2] != ["run", "trace"]:
        raise BadInput(
            f"{manifest} cannot be read: it is neither a trace nor a manifest, nor a folder of runs"
        )
    return [manifest.parent / row[1] for row in rows[1:] if len(row) > 1]


def under_way(traces: list[Path]) -> Path | None:
    """The trace of a run that goes on; of several, the one that changed last."""
    for path in sorted((p for p in traces if p.is_file()), key=age_of):
        try:
            trace = read_trace(path)
        except BadInput:
            continue
        mean = trace.durations[-RECENT:].mean() if trace.rounds and trace.clock == "wall" else 0.0
        if trace.status == "running" and age_of(path) < max(2 * QUIET, 10 * mean):
            return path
    return None


def is_complete(path: Path) -> bool:
    try:
        return path.is_file() and read_trace(path).status == "completed"
    except BadInput:
        return False


class Target:
    """What to watch: the trace of one run, or the runs of a manifest. Raises BadInput."""

    def __init__(self, word: str) -> None:
        path = Path(word)
        self.manifest: Path | None = None
        self._trace = path / RUN_TRACE if (path / RUN_TRACE).is_file() else path
        if path.is_file() and not h5py.is_hdf5(path):
            self.manifest = path
        elif self._trace.is_dir() and (path / "manifest.tsv").is_file():
            self.manifest = path / "manifest.tsv"
        elif self._trace.is_dir():
            runs = sorted(path.glob(f"*/{RUN_TRACE}"), key=age_of)
            if not runs:
                raise BadInput(f"{word} holds neither runs nor a manifest.tsv: give a trace")
            self._trace = runs[0]
        self.count()  # to refuse what is no manifest

    def now(self) -> Path | None:
        """The trace to show; None if no run of the manifest goes on."""
        return under_way(traces_of(self.manifest)) if self.manifest else self._trace

    def count(self) -> tuple[int, int]:
        """How many runs of the manifest are complete, of how many."""
        traces = traces_of(self.manifest) if self.manifest else []
        return sum(map(is_complete, traces)), len(traces)


class Screen:
    """A line that is written over and over, and lines above it; without a terminal, lines."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._last = ""

    def above(self, text: str) -> None:
        print(("\r\x1b[K" if self._terminal else "") + text, flush=True)

    def show(self, text: str) -> None:
        if self._terminal:
            width = shutil.get_terminal_size((80, 24)).columns
            print("\r" + text[: width - 1] + "\x1b[K", end="", flush=True)
        elif text != self._last:
            print(text, flush=True)
        self._last = text

    def end(self) -> None:
        if self._terminal and self._last:
            print(flush=True)
        self._last = ""

    def panel(self, trace: Trace, age: float) -> None:
        blocks = BLOCKS if "utf" in (sys.stdout.encoding or "").lower() else PLAIN
        width = shutil.get_terminal_size((100, 24)).columns
        text = "\n".join(lines(trace, width, age, blocks))
        print("\x1b[H\x1b[J" * self._terminal + text + "\n" * (not self._terminal), flush=True)


class Follower:
    """Shows one trace, time and again."""

    def __init__(self, path: Path, screen: Screen, panel: bool) -> None:
        self.path, self._screen, self._panel = path, screen, panel
        self._told: int | None = None  # changes of members
        self._begin: tuple[float, int] | None = None

    def show(self) -> bool:
        """Shows it now. Returns whether its run goes on. Raises BadInput."""
        trace, age = read_trace(self.path), age_of(self.path)
        if self._panel:
            self._screen.panel(trace, age)
            return trace.status == "running"
        told = news(trace)
        for text in told[max(0, len(told) - MOST_NEWS) if self._told is None else self._told :]:
            self._screen.above(text)
        self._told = len(told)
        now = time.monotonic()
        begin, rounds = self._begin = self._begin or (now, trace.rounds)
        done = trace.rounds - rounds
        pace = (now - begin) / done if done else float("nan")
        ended = "" if trace.status == "running" else f"  {trace.status}"
        self._screen.show(line(trace, age, pace) + ended)
        return trace.status == "running"


def watch(word: str, every: float, once: bool, panel: bool) -> None:
    """Shows a run until it ends; of a manifest one after the other, until all are complete. Raises
    BadInput if what is to be watched cannot be read."""
    target, screen = Target(word), Screen()
    follower: Follower | None = None
    failures = MOST_FAILURES  # in a row; the first time there is no patience
    while True:
        path = follower.path if follower else target.now()
        if path is None:
            done, count = target.count()
            screen.show(f"{done} of {count} runs are complete, and none goes on")
            if once or done == count:
                screen.end()
                return
        else:
            if follower is None:
                follower = Follower(path, screen, panel)
                if target.manifest:
                    screen.above(f"{path.name}:")
            try:
                goes_on = follower.show()
                failures = 0
            except BadInput:
                failures += 1
                if once or failures > MOST_FAILURES:
                    screen.end()
                    raise
                goes_on = True
            if once or not goes_on:
                screen.end()
                if once or not target.manifest:
                    return
                follower = None
                continue
        time.sleep(every)
