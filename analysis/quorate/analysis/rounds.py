# SPDX-License-Identifier: BSD-2-Clause
"""rounds: how long rounds took and should have taken, and what went into them."""


from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from .delays import kaplan_meier
from .figures import Plot, finish, from_zero, mark_warmup, panels, shares_above, styles
from .groups import INCIDENTAL, Group, caption
from .tables import number, ratio, share, short
from .traces import BadInput, Floats, Trace

# What is drawn for each round, if it is ever other than zero.
QUANTITIES: dict[str, Callable[[Trace], pd.Series]] = {
    "time per round\n(ms)": lambda t: pd.Series(1000 * t.durations),
    "workers used": lambda t: t.round["used"].astype(float),
    "workers erased": lambda t: t.round["erased"].astype(float),
    "decode error": lambda t: t.round["decode_error"],
    "mean staleness\n(updates)": lambda t: t.round["staleness_mean"],
    "bytes a round\n(kB)": lambda t: (t.round["bytes_sent"] + t.round["bytes_received"]) / 1000,
}
POINTS = 200  # of a line; more rounds are averaged
SAME = ("scheme", "workers", "seed", "data", "optimizer", "delay", "slowdown")
# Options that may differ between the clocks' traces of one run, beside INCIDENTAL ones.
OWN = "rounds evaluate-every row-time latency bandwidth port load-time init".split()


def averaged(values: Floats) -> tuple[Floats, Floats, int]:
    """(rounds, means, how many rounds are a mean) with at most POINTS means."""
    step = -(-len(values) // POINTS)
    edges = np.arange(0, len(values), step)
    counts = np.diff(np.append(edges, len(values)))
    return edges + (counts + 1) / 2, np.add.reduceat(values, edges) / counts, step


def panel(groups: Sequence[Group]) -> Plot:
    """The quantities of QUANTITIES against rounds."""
    names = [
        name
        for name, of in QUANTITIES.items()
        if any(np.any(of(trace)) for group in groups for trace in group.traces)
    ]
    figure, grid = panels(len(names), height=1.55, sharex=True)
    numbers, step = [], 1
    for group, style in zip(groups, styles(len(groups))):
        shortest = min(trace.rounds for trace in group.traces)
        columns = {}
        for name, row in zip(names, grid):
            values = np.stack([QUANTITIES[name](t)[:shortest] for t in group.traces])
            where, line, step = averaged(values.mean(0))
            row[0].plot(where, line, label=group.name, **style)
            if len(values) > 1:
                edges = [averaged(edge)[1] for edge in (values.min(0), values.max(0))]
                row[0].fill_between(where, *edges, color=style["color"], alpha=0.15, linewidth=0)
            columns[name.replace("\n", " ")] = values.mean(0)
        columns = {"configuration": group.label, "round": np.arange(1, shortest + 1), **columns}
        numbers.append(pd.DataFrame(columns))
    for name, row in zip(names, grid):
        row[0].set_ylabel(name)
        from_zero(row[0], "y")
    warm = max(trace.warmup for group in groups for trace in group.traces)
    if warm:
        mark_warmup(grid[0][0], warm + 0.5)
    from_zero(grid[-1][0], "x")
    grid[-1][0].set_xlabel("round")
    words = f"; each point is the mean of {step} rounds" if step > 1 else ""
    handles, texts = grid[0][0].get_legend_handles_labels()
    finish(figure, handles, texts, caption([t for g in groups for t in g.traces]) + words)
    text = "Means over seeds; fields go from the least to the greatest seed."
    if warm:
        text += " The grey field is warm-up."
    table = pd.concat(numbers)
    means = table.drop(columns="round").groupby("configuration", sort=False).mean().reset_index()
    return Plot("rounds", "Rounds", text, figure, table, means.add_prefix("mean "))


def distribution(groups: Sequence[Group]) -> Plot:
    """The share of rounds that took longer than a time, and the expected mean."""
    figure, grid = panels(1, height=2.8)
    axis, lines, numbers = grid[0][0], [], []
    for group, style in zip(groups, styles(len(groups))):
        durations = np.concatenate([t.durations for t in group.traces])
        values, above = kaplan_meier(durations, np.array([]))
        lines.append((1000 * values, above, dict(label=group.name, **style)))
        found = expected_mean(group.first)
        mean = 1000 * float(durations.mean())
        axis.plot(mean, 0.03, "o", color=style["color"], transform=axis.get_xaxis_transform())
        if np.isfinite(found):
            axis.axvline(1000 * found, color=style["color"], linewidth=1, linestyle=":")
        numbers.append(
            pd.DataFrame(
                {
                    "configuration": group.label,
                    "time (ms)": 1000 * values,
                    "share above": above,
                    "expected mean (ms)": 1000 * found,
                }
            )
        )
    shares_above(axis, lines)
    from_zero(axis, "x")
    axis.set_xlabel("time of a round (ms)")
    axis.set_ylabel("share of rounds that took longer")
    handles, texts = axis.get_legend_handles_labels()
    finish(figure, handles, texts, "dots: measured means; dotted lines: expected means")
    text = (
        "Expected are means for independent delays and the median computation, messages and the "
        "coordinator taking no time."
    )
    return Plot("round-times", "Time of rounds", text, figure, pd.concat(numbers))


def expected_mean(trace: Trace) -> float:
    """Seconds a round: the delay by the run's closed form, and the median computation of a task.

    NaN without a closed form, and for runs whose workers left or joined.
    """
    if np.any(trace.membership["time"] > 0):
        return float("nan")
    computed = trace.arrivals("compute")["compute"]
    compute = float(np.median(computed)) if len(computed) else 0.0
    delay = float(trace.attributes.get("expected_delay", np.nan))
    return compute * float(trace.attributes.get("expected_tasks", 1)) + delay


def table(groups: Sequence[Group]) -> pd.DataFrame:
    """A row for each configuration, over the rounds of all seeds."""
    lines = []
    for group in groups:
        values = 1000 * np.concatenate([t.durations for t in group.traces])
        means = pd.concat([t.round for t in group.traces]).mean(skipna=False)
        expected = 1000 * expected_mean(group.first)
        lines.append(
            {
                "scheme": group.name,
                "rounds": str(len(values)),
                "ms mean": number(values.mean(), 2),
                "median": number(float(np.median(values)), 2),
                "95 %": number(float(np.quantile(values, 0.95)), 2),
                "expected": number(expected, 2),
                "ratio": number(ratio(values.mean(), expected), 3),
                "waiting": share(ratio(1000 * means["wait"], values.mean())),
                "used": number(means["used"], 1),
                "erased": number(means["erased"], 1),
                "decode error": short(means["decode_error"]),
                "staleness": short(means["staleness_mean"]),
                "kB out": number(means["bytes_sent"] / 1000, 1),
                "kB in": number(means["bytes_received"] / 1000, 1),
            }
        )
    return pd.DataFrame(lines)


def difference(one: Trace, other: Trace) -> tuple[str, str, str] | None:
    """A name and two values in which these are not the same run under two clocks."""
    for name in SAME:
        mine, theirs = (str(t.attributes.get(name, "")) for t in (one, other))
        if mine != theirs:
            return name, mine, theirs
    for name in sorted(set(one.config) & set(other.config) - {*INCIDENTAL, *OWN}):
        if one.config[name] != other.config[name]:
            return name, one.config[name], other.config[name]
    return None


def same_run(one: Trace, other: Trace) -> None:
    """Raises BadInput unless the traces are of one run, under two clocks."""
    found = difference(one, other)
    if found:
        name, mine, theirs = found
        raise BadInput(
            f"--against: {one.path} has {name} {mine}, {other.path} has {theirs}: give "
            "traces of the same run, measured and simulated"
        )


def against(measured: Trace, simulated: Trace) -> tuple[Plot, list[str]]:
    """Measured and simulated time of the same rounds, and their ratios in words."""
    same_run(measured, simulated)
    rounds = min(measured.rounds, simulated.rounds)
    where = np.arange(1, rounds + 1)
    mine, theirs = (1000 * t.durations[:rounds] for t in (measured, simulated))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(theirs > 0, mine / theirs, np.nan)
    known = ratios[np.isfinite(ratios)]
    if not len(known):
        raise BadInput(f"{simulated.path}: its rounds take no time: there is no ratio")
    low, middle, high = np.quantile(known, [0.05, 0.5, 0.95])
    total = mine.sum() / theirs.sum()
    figure, grid = panels(2, height=2.2, sharex=True)
    axis = grid[0][0]
    names = clocks(measured, simulated)
    styled = dict(markersize=4 if rounds < 200 else 2, linewidth=1)
    axis.plot(where, mine, "-o", color="#0072B2", label=names[0], **styled)
    axis.plot(where, theirs, "--x", color="#D55E00", label=names[1], **styled)
    axis.set_ylabel("time per round (ms)")
    from_zero(axis, "y")
    handles, texts = axis.get_legend_handles_labels()
    axis = grid[1][0]
    axis.axhline(1, color="black", linewidth=1)
    axis.plot(where, ratios, "-o", color="#009E73", **styled)
    axis.axhspan(low, high, color="#009E73", alpha=0.15, linewidth=0)
    axis.set_ylim(0, max(2.0, 1.3 * float(high)))
    axis.set_ylabel(f"{names[0]} / {names[1]}")
    axis.set_xlabel("round")
    axis.set_xlim(0, rounds + 1)
    if measured.warmup:
        mark_warmup(grid[0][0], measured.warmup + 0.5)
    words = (
        f"ratio per round: median {middle:.3f}, 5 to 95 % {low:.3f} to {high:.3f}; "
        f"all {rounds} rounds {total:.3f}"
    )
    finish(figure, handles, texts, f"{caption([measured, simulated])}\n{words}")
    numbers = pd.DataFrame(
        {"round": where, f"{names[0]} (ms)": mine, f"{names[1]} (ms)": theirs, "ratio": ratios}
    )
    lines = [words]
    above = np.flatnonzero(ratios > axis.get_ylim()[1])
    if len(above):
        lines.append(f"rounds beyond the scale: {', '.join(str(i + 1) for i in above[:20])}")
    title = f"{names[0].capitalize()} and {names[1]} time of the same run"
    return Plot("against", title, words + ".", figure, numbers), lines


def clocks(one: Trace, other: Trace) -> tuple[str, str]:
    """Words for two traces of one run: by their clocks, or by their files."""
    words = {"wall": "measured", "virtual": "simulated", "replayed": "replayed"}
    names = words.get(one.clock, one.clock), words.get(other.clock, other.clock)
    return names if names[0] != names[1] else (one.path.stem, other.path.stem)
