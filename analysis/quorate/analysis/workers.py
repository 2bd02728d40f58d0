# SPDX-License-Identifier: BSD-2-Clause
"""workers: what workers did when, who is slow, which delays fit, who gave the quorum."""


import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from . import delays
from .figures import Plot, Style, boxes, finish, from_zero, panels, plain_ticks, shares_above
from .quantities import ROUNDING
from .stragglers import counted_as_last, presence, slowness, times
from .tables import number, share, short
from .tasks import (
    ABSENT,
    CANCELLED,
    COMPUTING,
    DIED,
    JOINED,
    LEFT,
    STATES,
    WAITING,
    pieces,
    quantiles,
    tasks,
    totals,
)
from .traces import BadInput, Floats, Trace

# Of the states in the order of STATES; absent stays white.
PAINT = ["#E69F00", "#0072B2", "#56B4E9", "#E4E4E4", "#D55E00", "#CC79A7", "#FFFFFF"]
QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95]
MOST_TIMES = 20_000  # for fits; more are drawn from
MOST_POINTS = 1000  # of a distribution
WINDOW = 20  # rounds of a timeline
VERDICTS = {"-": "0.6", "often": "#E69F00", "bursts": "#CC79A7", "chronic": "#D55E00"}


class Work:
    """What the arrivals of one run say, computed once."""

    def __init__(self, trace: Trace, last: int | None = None, per_node: int = 0) -> None:
        self.trace = trace
        self.table = tasks(trace)
        if self.table.empty:
            raise BadInput(f"{trace.path} lists no contribution: nothing to show of workers")
        self.pieces = pieces(trace, self.table)
        self.seconds = totals(trace, self.pieces)
        self.times, self.row = times(trace, self.table)
        last = counted_as_last(trace.workers, last, trace.config.get("stragglers", ""))
        self.slow = slowness(self.times, presence(trace, len(self.times)), last)
        self.node = nodes(trace, per_node)

    @property
    def label(self) -> str:
        return f"{self.trace.scheme}, {self.trace.workers} workers, seed {self.trace.seed}"


def nodes(trace: Trace, per_node: int) -> npt.NDArray[np.str_] | None:
    """The name of the node of each worker: by ranks, if so many are on a node, else of the trace.
    None if there is one node only."""
    if len(trace.worker) != trace.workers:
        return None  # killed before this was written
    if per_node:
        found = (trace.worker["rank"] // per_node).astype(str).to_numpy()
    else:
        names = np.array(str(trace.attributes["nodes"]).split() or [""])
        found = names[trace.worker["node"]]
    return found if len(np.unique(found)) > 1 else None


def window_of(trace: Trace, words: str) -> tuple[int, int]:
    """A:B as rounds; default: the first ones. Raises BadInput."""
    if not words:
        return 1, min(WINDOW, trace.rounds)
    first, _, last = words.partition(":")
    if not first.isdigit() or not (last or first).isdigit():
        raise BadInput(f"--rounds: '{words}' is no range: give one, as 1:20")
    begin, end = int(first), int(last or first)
    if not 1 <= begin <= end <= trace.rounds:
        raise BadInput(f"--rounds {words}: {trace.path} has rounds 1:{trace.rounds}")
    return begin, end


def timeline(work: Work, window: tuple[int, int]) -> Plot:
    """Who did what in these rounds."""
    trace, ends = work.trace, work.trace.edges
    begin, end = ends[window[0] - 1], ends[window[1]]
    drawn = work.pieces[(work.pieces["begin"] < end) & (work.pieces["end"] > begin)]
    drawn = drawn.assign(begin=drawn["begin"].clip(lower=begin), end=drawn["end"].clip(upper=end))
    drawn = drawn[drawn["end"] > drawn["begin"]]
    height = float(np.clip(0.16 * trace.workers, 1.6, 6.5))
    figure, grid = panels(1, height=height + 0.4)
    axis = grid[0][0]
    shown = []
    for i, name in enumerate(STATES[:ABSENT]):
        mine = drawn[drawn["state"] == i]
        if len(mine):
            at = mine["worker"]
            boxes(axis, mine["begin"], mine["end"], at - 0.42, at + 0.42, facecolor=PAINT[i])
            shown.append(Patch(color=PAINT[i], label=name))
    inside = ends[(ends >= begin) & (ends <= end)]
    axis.vlines(inside, -0.5, trace.workers - 0.5, color="black", linewidth=0.7)
    mark_members(axis, trace, begin, end)
    axis.set_xlim(begin, end if end > begin else begin + 1)
    axis.set_ylim(trace.workers - 0.5, -0.5)
    if trace.workers <= 20:
        axis.set_yticks(range(trace.workers))
    axis.grid(False)
    axis.set_ylabel("worker")
    axis.set_xlabel(f"{trace.clock} time (s); lines are ends of rounds")
    finish(figure, shown, [patch.get_label() for patch in shown], work.label)
    numbers = drawn.assign(state=np.array(STATES)[drawn["state"]])
    numbers = numbers[["worker", "round", "begin", "end", "state"]]
    numbers = numbers.sort_values(["worker", "begin"])
    text = (
        f"Rounds {window[0]} to {window[1]}. A task is its delay, its computation, and messages "
        "and queues. Who has answered waits for the round to end; whose task was cancelled had not."
    )
    spent = (drawn["end"] - drawn["begin"]).groupby(drawn["state"]).sum()
    summary = pd.DataFrame(
        {
            "state": np.array(STATES)[spent.index],
            "share of the time drawn": list(spent / spent.sum()),
        }
    )
    return Plot("timeline", "Timeline of workers", text, figure, numbers, summary)


def mark_members(axis: Axes, trace: Trace, begin: float, end: float) -> None:
    """Signs where workers came and went."""
    member = trace.membership
    member = member[(member["time"] > 0) & member["time"].between(begin, end)]
    signs = {JOINED: (">", "#009E73"), LEFT: ("<", "black"), DIED: ("X", "black")}
    for kind, (sign, colour) in signs.items():
        at = member[member["kind"] == kind]
        axis.plot(
            at["time"],
            at["worker"],
            sign,
            color=colour,
            markeredgecolor="white",
            markersize=8,
            zorder=5,
        )


def quorum(work: Work) -> tuple[Floats, Floats]:
    """Shares of rounds that were the first to use a contribution of a worker, and in which that was
    the last such one to come."""
    trace = work.trace
    table = trace.arrivals("worker", "arrived", "used")
    used = table[table["used"].between(1, trace.rounds)].sort_values("arrived", kind="stable")

    def share_of(some: pd.DataFrame) -> Floats:
        return np.bincount(some["worker"], minlength=trace.workers) / trace.rounds

    return (
        share_of(used.drop_duplicates(["used", "worker"])),
        share_of(used.drop_duplicates("used", keep="last")),
    )


def paint(state: int) -> Style:
    """The style of an area that stands for a state."""
    hatched = dict(hatch="xxx", edgecolor="0.7") if state == ABSENT else {}
    return dict(facecolor=PAINT[state], linewidth=0, **hatched)


def along_workers(axis: Axes, trace: Trace) -> None:
    """Workers to the right, by their numbers."""
    axis.set_xlabel("worker")
    axis.set_xlim(-0.6, trace.workers - 0.4)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def shares(work: Work) -> Plot:
    """The whole run: how workers spent it, and whose answers counted."""
    trace = work.trace
    of_time = work.seconds / max(trace.time, 1e-300)
    used, ended = quorum(work)
    figure, (above, below) = panels(2, height=2.2, sharex=True)
    axis, where, shown = above[0], np.arange(trace.workers), []
    bottom = np.zeros(trace.workers)
    for i, name in enumerate(STATES):
        if of_time[:, i].any():
            top = bottom + of_time[:, i]
            boxes(axis, where - 0.43, where + 0.43, bottom, top, **paint(i))
            shown.append(Patch(label=name, **paint(i)))
            bottom = top
    axis.set_ylabel("share of the run")
    axis.set_ylim(0, 1)
    axis = below[0]
    boxes(axis, where - 0.43, where + 0.43, 0, used, facecolor="0.75")
    boxes(axis, where - 0.2, where + 0.2, 0, ended, facecolor="black")
    axis.set_ylim(0, min(1.0, 1.1 * max(used.max(), 1e-3)))
    axis.set_ylabel("share of rounds")
    along_workers(axis, trace)
    shown += [Patch(color="0.75", label="answer used"), Patch(color="black", label="ended a round")]
    finish(figure, shown, [patch.get_label() for patch in shown], work.label)
    numbers = pd.DataFrame(of_time, columns=STATES).assign(used=used, ended=ended)
    numbers.insert(0, "worker", where)
    text = (
        "Above: what each worker did with the time of the run. Below: the share of rounds whose "
        "estimate used the worker, and of those whose last used answer came from it."
    )
    return Plot("workers", "Time of workers, and the quorum", text, figure, numbers)


def parts_of(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Delay, computation and the rest of each message, in seconds."""
    rest = table["arrived"] - table["begin"] - table["delay"] - table["compute"]
    return {
        "delay": table["delay"],
        "computation": table["compute"],
        "messages": rest.where(rest > ROUNDING, 0),
    }


def distributions(work: Work) -> Plot:
    """Delay, computation and messages of each worker, as quantiles."""
    trace = work.trace
    where = np.arange(trace.workers)
    parts = {name: values for name, values in parts_of(work.table).items() if values.any()}
    if not parts:
        parts = {"computation": work.table["compute"]}
    figure, grid = panels(len(parts), height=1.7, sharex=True)
    numbers = pd.DataFrame({"worker": where})
    for row, (name, values) in zip(grid, parts.items()):
        found = 1000 * quantiles(values, work.table["worker"], trace.workers, QUANTILES)
        axis = row[0]
        wide = float(np.clip(200 / trace.workers, 1.5, 8))
        axis.vlines(where, found[:, 0], found[:, 4], color="#56B4E9", linewidth=wide / 3)
        axis.vlines(where, found[:, 1], found[:, 3], color="#0072B2", linewidth=wide)
        axis.plot(where, found[:, 2], "o", color="black", markersize=min(4.0, wide))
        positive = found[np.isfinite(found) & (found > 0)]
        if len(positive) and positive.max() > 100 * np.median(positive):
            axis.set_yscale("log")
        else:
            axis.set_ylim(0, 1.12 * max(np.nanmax(found), 1e-9))
        axis.set_ylabel(f"{name} (ms)")
        for i, at in enumerate(QUANTILES):
            numbers[f"{name} {at:.0%} (ms)"] = found[:, i]
    along_workers(grid[-1][0], trace)
    finish(figure, note=f"{work.label}; dots: medians; bars: the middle 50 % and 90 %")
    text = (
        "Times of the answers that came: those of tasks that were cancelled are not known. "
        "Messages are what a task took beside delay and computation: both ways, and queues."
    )
    return Plot("worker-times", "Delay, computation and messages", text, figure, numbers)


def slow(work: Work) -> Plot:
    """Who was among the last, and when."""
    trace, found = work.trace, work.slow
    where = np.arange(trace.workers)
    height = float(np.clip(0.1 * trace.workers, 1.8, 4.2))
    figure, grid = panels(
        2, height=(2.2 + height) / 2, gridspec_kw=dict(height_ratios=[2.2, height])
    )
    axis = grid[0][0]
    colours = [VERDICTS[word] for word in found.verdict]
    boxes(axis, where - 0.43, where + 0.43, 0, found.share, facecolors=colours)
    axis.set_ylim(0, 1.1 * max(found.share.max(), found.expected, 1e-3))
    axis.axhline(found.expected, color="black", linewidth=1)
    axis.set_ylabel(f"share of {work.row}s\namong the last {found.last}")
    along_workers(axis, trace)
    present = {"-": "by chance", "often": "often", "bursts": "in bursts", "chronic": "chronic"}
    shown = [Patch(color=VERDICTS[w], label=present[w]) for w in VERDICTS if w in found.verdict]
    axis = grid[1][0]
    positive = work.times[np.isfinite(work.times) & (work.times > 0)]
    axis.grid(False)
    axis.set_facecolor("0.85")
    if len(positive):
        low, high = np.quantile(positive, [0.01, 0.999])
        image = axis.imshow(
            work.times.T,
            aspect="auto",
            interpolation="nearest",
            norm=LogNorm(low, max(high, 1.01 * low)),
            extent=(0.5, len(work.times) + 0.5, trace.workers - 0.5, -0.5),
        )
        bar = figure.colorbar(image, ax=axis, label="response (s)", pad=0.01, fraction=0.05)
        plain_ticks(bar.ax.yaxis, high / low)
    axis.set_xlim(0.5, len(work.times) + 0.5)
    axis.set_ylim(trace.workers - 0.5, -0.5)
    axis.set_xlabel(f"{work.row} (grey: no answer)")
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_ylabel("worker")
    finish(figure, shown, [patch.get_label() for patch in shown], work.label)
    numbers = pd.DataFrame(
        {
            "worker": where,
            "share among the last": found.share,
            "expected": found.expected,
            "clustering": found.clustering,
            "verdict": found.verdict,
        }
    )
    text = (
        f"Above: how often a worker was among the last {found.last}; the line is what chance "
        "gives. Chronic: much more often, all through the run; in bursts: slow rounds follow each "
        "other. Below: seconds from dispatch to answer."
    )
    return Plot("stragglers", "Who is slow", text, figure, numbers)


def task_times(work: Work) -> tuple[Floats, Floats]:
    """Delay and computation of whole tasks, and the times after which others were cancelled."""
    table, trace = work.table, work.trace
    # Where the clock ends a task, only its delay is drawn from anything.
    timed = "compute-time" in trace.config
    length = table["delay"] if timed else table["delay"] + table["compute"]
    known = length.groupby([table["task"], table["worker"]]).sum().to_numpy()
    cancelled = work.pieces[work.pieces["state"] == CANCELLED]
    length = cancelled["end"] - cancelled["begin"]
    censored = length.groupby([cancelled["round"], cancelled["worker"]]).sum().to_numpy()
    if timed:
        censored = censored[:0]
    most = len(known) + len(censored)
    if most > MOST_TIMES:
        draw = np.random.default_rng(1)
        known = draw.choice(known, max(1, MOST_TIMES * len(known) // most), replace=False)
        censored = draw.choice(censored, MOST_TIMES * len(censored) // most, replace=False)
    return known, censored


def fitted(work: Work) -> tuple[Plot, pd.DataFrame]:
    """Delay models against the times of tasks."""
    known, censored = task_times(work)
    found = delays.fits(known, censored)
    figure, grid = panels(1, height=2.9)
    axis = grid[0][0]
    values, above = delays.kaplan_meier(known, censored)
    measured = dict(color="black", linewidth=3.2, label="measured")
    shares_above(axis, [(1000 * values, above, measured)])
    few = np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).astype(int))
    values, above = values[few], above[few]
    numbers = pd.DataFrame({"seconds": values, "share above": above})
    lines = []
    at = np.linspace(0, values.max(), 400) if len(values) else values
    styles = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
    colours = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00")
    for fit, colour, style in zip(found, colours, styles):
        name = fit.model if len(fit.model) < 50 else fit.model.partition(":")[0] + " of two"
        axis.plot(1000 * at, fit.survival(at), color=colour, linestyle=style, label=name)
        numbers[fit.model] = fit.survival(values)
        lines.append(
            {
                "model": fit.model,
                "AIC": short(fit.aic, 7),
                "KS distance": number(fit.distance, 4),
                "5 % point": number(delays.critical(len(known)), 4),
                "verdict": "fits" if fit.distance < delays.critical(len(known)) else "",
            }
        )
    from_zero(axis, "x")
    timed = "compute-time" in work.trace.config
    axis.set_xlabel(f"delay {'' if timed else 'and computation '}of a task (ms)")
    axis.set_ylabel("share that takes longer")
    handles, texts = axis.get_legend_handles_labels()
    words = f"; {len(censored)} cancelled tasks count as longer than that" if len(censored) else ""
    finish(figure, handles, texts, f"{work.label}; {len(known)} tasks{words}")
    text = (
        "Models as --delay takes them, the best by Akaike's criterion first. The "
        "Kolmogorov-Smirnov distance is to the Kaplan-Meier estimate; below the 5 % point a model "
        "cannot be told from the times."
    )
    summary = pd.DataFrame([{"model": f.model, "distance": f.distance} for f in found])
    return Plot("delays", "Fitted delay models", text, figure, numbers, summary), pd.DataFrame(
        lines
    )


def table(work: Work) -> pd.DataFrame:
    """A row for each worker."""
    trace, seconds = work.trace, work.seconds
    used, ended = quorum(work)
    medians = {
        name: 1000 * quantiles(values, work.table["worker"], trace.workers, [0.5])[:, 0]
        for name, values in parts_of(work.table).items()
    }
    lines = []
    for i in range(trace.workers):
        line = {"worker": str(i)}
        if work.node is not None:
            line["node"] = work.node[i]
        of_time = seconds[i] / max(trace.time, 1e-300)
        line.update({f"{name} (ms)": number(median[i], 2) for name, median in medians.items()})
        line["computing"] = share(of_time[COMPUTING])
        line["waiting"] = share(of_time[WAITING])
        line["cancelled"] = share(of_time[CANCELLED])
        line["used"] = share(used[i])
        line["ended round"] = share(ended[i])
        line[f"among last {work.slow.last}"] = share(work.slow.share[i])
        line["slow"] = work.slow.verdict[i]
        lines.append(line)
    return pd.DataFrame(lines)


def node_table(work: Work) -> pd.DataFrame | None:
    """A row for each node, if nodes are known."""
    if work.node is None:
        return None
    lines = []
    computation = 1000 * quantiles(
        work.table["compute"], work.table["worker"], work.trace.workers, [0.5]
    )
    for node in np.unique(work.node):
        mine = np.flatnonzero(work.node == node)
        chronic = sum(work.slow.verdict[i] == "chronic" for i in mine)
        lines.append(
            {
                "node": node,
                "workers": str(len(mine)),
                "computation (ms)": number(float(np.nanmedian(computation[mine])), 2),
                f"among last {work.slow.last}": share(float(work.slow.share[mine].mean())),
                "chronic": str(chronic),
            }
        )
    return pd.DataFrame(lines)


def plots(work: Work, window: str = "") -> list[Plot]:
    """All but the fitted delays."""
    return [
        timeline(work, window_of(work.trace, window)),
        shares(work),
        distributions(work),
        slow(work),
    ]
