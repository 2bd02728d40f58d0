# SPDX-License-Identifier: BSD-2-Clause
"""diagnose: what stragglers cost a run, who they are, and what to do about them."""

from pathlib import Path

import h5py
import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from .chance import beyond_chance
from .figures import Plot, beside, finish, panels, rows
from .groups import read_all
from .numbers import shown_seconds
from .observed import PARTS, of_csv, of_work
from .stragglers import enough_rounds
from .tables import number, share
from .tasks import COMPUTING, DELAY, MESSAGE, WAITING
from .traces import RUN_TRACE, BadInput, Floats
from .whatif import DECODE, WAIT, WORK, Diagnosis
from .workers import PAINT, Work

SMALL = 0.01  # of the time; who costs less is in the table only
PART = 0.3  # of the time, from which on a part of the rounds is told
COMMON = 1.5  # times the usual median, where all are slow at once
MOST_ROWS = 20  # of the table of workers
MOST_NAMED = 8  # workers in a sentence
MOST_BARS = 5  # workers, and nodes, of the figure
PAINTS = {
    PARTS[0]: PAINT[DELAY],
    PARTS[1]: PAINT[COMPUTING],
    PARTS[2]: PAINT[MESSAGE],
    WORK: PAINT[COMPUTING],
    WAIT: PAINT[WAITING],
    DECODE: "#009E73",
}


def read(path: str, last: int | None, per_node: int) -> Diagnosis:
    """Of a trace, the folder of a run, or CSV. Raises BadInput."""
    file = Path(path)
    if file.is_file() and not h5py.is_hdf5(file):
        return Diagnosis(of_csv(file, last, per_node))
    if not file.is_file() and not (file / RUN_TRACE).is_file():
        raise BadInput(f"{path} is not a file: give a trace, or CSV of worker, round, seconds")
    (trace,) = read_all([path])
    return Diagnosis(of_work(Work(trace, last, per_node)))


def what_ifs(one: Diagnosis) -> list[tuple[str, float]]:
    """Slowdowns by what would be otherwise."""
    found = [("this run", one.slowdown)]
    for node in sorted(one.chronic_nodes(), key=lambda n: one.without(one.of_node(n)))[:MOST_BARS]:
        found.append((f"without node {node}", one.without(one.of_node(node))))
    slowest = [w for w in np.argsort(-one.lost, kind="stable") if costs(one, w) >= SMALL]
    for worker in slowest[:MOST_BARS]:
        found.append((f"without worker {one.found.names[worker]}", one.without_one[worker]))
    if one.chronic.sum() > 1 and one.without_chronic < one.slowdown:
        found.append(("without all persistent stragglers", one.without_chronic))
    last = slowest_counted(one)
    found.append((f"without the slowest {last} of each round", one.all_but(last)))
    found.append(("every worker the median", 1.0))
    if one.shared_out() < one.slowdown:
        found.append(("an ideal scheme", one.shared_out()))
    return [(name, value) for name, value in found if np.isfinite(value)]


def slowest_counted(one: Diagnosis) -> int:
    """How many of a round a scheme may do without: the last, and all who are slow persistently."""
    return int(max(one.found.slow.last, min(one.chronic.sum(), one.workers // 2)))


def costs(one: Diagnosis, worker: int) -> float:
    """The share of the run's time that one worker costs alone."""
    return float(one.lost[worker]) / one.seconds


def table(one: Diagnosis) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"what if": name, "S": number(value, 3), "seconds": number(value * one.ideal, 3)}
            for name, value in what_ifs(one)
        ]
    )


def parts_table(one: Diagnosis) -> pd.DataFrame:
    """What a round consists of."""
    rounds = len(one.median)
    return pd.DataFrame(
        [
            {
                "part of a round": name,
                "ms mean": number(1000 * value / rounds, 2),
                "share": share(value / one.seconds),
            }
            for name, value in one.parts().items()
        ]
    )


def worker_table(one: Diagnosis) -> pd.DataFrame:
    """Workers by what they cost: those who are slow, and the first of the others."""
    slow, half, most = one.found.slow, one.times_median(0.5), one.times_median(0.95)
    verdict = np.array(slow.verdict)
    order = np.lexsort((-slow.share, -one.lost, verdict == "-"))
    lines = []
    for i in order[:MOST_ROWS]:
        line = {"worker": one.found.names[i]}
        if one.found.node is not None:
            line["node"] = one.found.node[i]
        line["x median"] = number(half[i], 2)
        line["95 %"] = number(most[i], 2)
        line[f"among last {slow.last}"] = share(slow.share[i])
        line["costs (s)"] = number(one.lost[i], 3)
        line["S without"] = number(one.without_one[i], 3)
        line["slow"] = verdict[i]
        lines.append(line)
    return pd.DataFrame(lines)


def node_table(one: Diagnosis) -> pd.DataFrame:
    """A row for each node, if there are several."""
    lines, half = [], one.times_median(0.5)
    for node in one.nodes:
        mine = one.of_node(node)
        seen = half[mine & np.isfinite(half)]
        without = one.without(mine)
        lines.append(
            {
                "node": node,
                "workers": str(int(mine.sum())),
                "x median": number(float(np.median(seen)) if len(seen) else np.nan, 2),
                "chronic": str(int(one.chronic[mine].sum())),
                "costs (s)": number(one.seconds - without * one.ideal, 3),
                "S without": number(without, 3),
            }
        )
    return pd.DataFrame(lines)


def named(one: Diagnosis, some: list[int]) -> str:
    """Workers in words."""
    names = [one.found.names[i] for i in some[:MOST_NAMED]]
    more = f" and {len(some) - MOST_NAMED} more" if len(some) > MOST_NAMED else ""
    return f"Worker{'s' * (len(some) > 1)} {', '.join(names)}{more}"


def findings(one: Diagnosis) -> list[str]:
    """A sentence for each finding, and what to do."""
    return [*verdict(one), *persistent(one), *transient(one), *other(one)]


def verdict(one: Diagnosis) -> list[str]:
    waiting = share(one.parts()[WAIT] / one.seconds)
    words = f"S = {one.slowdown:.2f}: the run took so many times what it takes if every worker "
    words += "has the median time. "
    if one.slowdown < 1:
        words += "Its rounds end before the median worker answers: stragglers cost it nothing."
    elif one.slowdown < 1 + 5 * SMALL:
        words += f"Waiting for stragglers is {waiting} of it: look for time elsewhere."
    else:
        words += f"Waiting for stragglers is {waiting} of it."
    return [words]


def persistent(one: Diagnosis) -> list[str]:
    lines = []
    half, lone = one.times_median(0.5), one.chronic.copy()
    for node in one.chronic_nodes():
        mine = one.of_node(node)
        lone &= ~mine
        without = one.without(mine)
        if one.slowdown - without < SMALL * one.slowdown:
            continue
        option = "" if node.isdigit() else f" (of SLURM: --exclude={node})"
        lines.append(
            f"Node {node} is slow all through the run, {int(one.chronic[mine].sum())} of its "
            f"{int(mine.sum())} workers: S without it is {without:.2f}. Leave it out{option} "
            "and have it looked at: redundancy for it is paid in every round."
        )
    some = [int(i) for i in np.flatnonzero(lone)]
    without = one.without(lone)
    if some and one.slowdown - without >= SMALL * one.slowdown:
        seen = half[some][np.isfinite(half[some])]
        times = f" {np.median(seen):.2f} times the median" if len(seen) else " without an answer"
        are, them = ("are", "them") if len(some) > 1 else ("is", "it")
        lines.append(
            f"{named(one, some)} {are} slow all through the run,{times}: S without {them} "
            f"is {without:.2f}. Leave {them} out, or look at what else runs there: redundancy for "
            f"{them} is paid in every round."
        )
    return lines


def transient(one: Diagnosis) -> list[str]:
    lost = one.without_chronic - 1
    if lost < 5 * SMALL:
        return []
    bursts = [i for i, word in enumerate(one.found.slow.verdict) if word == "bursts"]
    of_all = lost / max(one.slowdown - 1, 1e-300)
    enough = enough_rounds(one.found.slow.expected, one.workers)
    if len(one.median) < enough:
        words = f"Of {len(one.median)} rounds nobody can tell whether the same workers are slow "
        return [f"{words}always: give {enough} or more. {advice(one)}"]
    words = f"Transient stragglers, now this worker and now that, make {share(of_all)} of S - 1"
    if bursts:
        words += f"; they come in bursts ({named(one, bursts).lower()})"
    last = slowest_counted(one)
    reached = one.all_but(last)
    if reached < one.slowdown:
        words += f". Without the slowest {last} of each round S is {reached:.2f}"
    return [f"{words}. {advice(one)}"]


def advice(one: Diagnosis) -> str:
    """How `quorate advise` learns the times of this run."""
    if not one.found.of_rounds:
        return "A scheme that waits for all would pay that; this one does not."
    if not one.found.waits_for_all:
        return "Tolerate more stragglers, or take another scheme: quorate advise ranks them."
    times = f"--workers {one.workers} --delay trace:{one.found.file}"
    return f"Take a scheme that needs not all answers: quorate advise {times} ranks them."


def other(one: Diagnosis) -> list[str]:
    lines, parts = [], {name: value / one.seconds for name, value in one.parts().items()}
    slow = one.median > COMMON * np.median(one.median)
    beyond = beyond_usual(one.median) / one.seconds
    if beyond >= 5 * SMALL and beyond_chance(one.filled, lambda t: beyond_usual(middle(t))):
        lines.append(
            f"In {int(slow.sum())} of {len(slow)} rounds the median worker itself took more than "
            f"{COMMON} times the usual, {share(beyond)} of the time: no scheme helps where all are "
            "slow at once. Look at what they share: network, file system, the coordinator's host."
        )
    if parts.get(PARTS[2], 0) >= PART:
        lines.append(
            f"Transfer is {share(parts[PARTS[2]])} of the time: send less (--wire float or "
            "bfloat16, --aggregate node), or less often (a larger --batch)."
        )
    if parts.get(DECODE, 0) >= PART:
        lines.append(
            f"Decoding and the update are {share(parts[DECODE])} of the time: give the coordinator "
            "threads (--coordinator-threads) or a core of its own."
        )
    if parts.get(PARTS[0], 0) >= SMALL:
        lines.append(
            f"Delays that --delay injects are {share(parts[PARTS[0]])} of the time: this run tells "
            "of them, not of the cluster."
        )
    reached = one.shared_out()
    if reached < one.slowdown:
        lines.append(
            "An ideal scheme, which knows the delays and speeds of each round beforehand and "
            f"shares out its work by them, would reach S = {reached:.2f}: "
            f"{shown_seconds(reached * one.ideal)} in place of {shown_seconds(one.seconds)}."
        )
    return lines + one.found.notes + left_out(one)


def middle(times: Floats) -> Floats:
    """The time of the median worker of each round, of those who answered."""
    found: Floats = np.nanmedian(np.where(np.isfinite(times), times, np.nan), axis=1)
    return found


def beyond_usual(median: Floats) -> float:
    """Seconds that the median worker took longer than usual, in rounds where that is much."""
    usual = np.median(median)
    return float((median[median > COMMON * usual] - usual).sum())


def left_out(one: Diagnosis) -> list[str]:
    if not one.left_out:
        return []
    return [f"{one.left_out} rounds without an answer to a task of their own are left out."]


def plot(one: Diagnosis) -> Plot:
    """The parts of a round, and what would be without whom."""
    cases, parts = what_ifs(one), one.parts()
    figure, grid = panels(2, height=1.0, gridspec_kw={"height_ratios": [1, 1 + 0.32 * len(cases)]})
    figure.set_figheight(2.6 + 0.3 * len(cases))
    axis, left, shown = grid[0][0], 0.0, []
    for name, value in parts.items():
        part = value / one.seconds
        axis.barh([0], [part], 0.7, [left], color=PAINTS[name], linewidth=0)
        shown.append(Patch(color=PAINTS[name], label=f"{name} {share(part)}"))
        left += part
    axis.set_yticks([])
    axis.grid(False)
    axis.set_xlim(0, 1)
    axis.set_xlabel("share of the time of the rounds")
    axis = grid[1][0]
    where = np.arange(len(cases))
    values = np.array([value for _, value in cases])
    axis.barh(where, values, 0.7, color=["#D55E00", *["#0072B2"] * (len(cases) - 1)], linewidth=0)
    axis.axvline(1, color="black", linewidth=1)
    rows(axis, [name for name, _ in cases])
    beside(axis, [f"{value:.2f}" for value in values])
    axis.set_xlim(0, 1.03 * max(1.0, values.max()))
    axis.set_xlabel("S: time over that of the same rounds with every worker at the median")
    finish(figure, shown, [patch.get_label() for patch in shown], one.found.label)
    numbers = pd.concat(
        [
            pd.DataFrame({"what": list(parts), "quantity": "seconds", "value": parts.values()}),
            pd.DataFrame({"what": [n for n, _ in cases], "quantity": "S", "value": values}),
        ]
    )
    text = (
        "Above: what the rounds consist of; delay, computation and transfer are those of the "
        "median worker. Below: the time of the same rounds if those named took the median time at "
        "most."
    )
    return Plot("diagnosis", "What stragglers cost", text, figure, numbers)
