#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws how long a round takes by the number of workers and the size of messages, measured and
simulated, and prints both.

    jobs/bandwidth_figure.py figure.png TRACE...

The traces are those of jobs/bandwidth: uncoded rounds over MPI, a trace for each seed, and one
under the virtual clock.
"""

import pathlib
import sys

import matplotlib.pyplot as plt
import numpy as np

from quorate.analysis.traces import read_trace

STYLE = pathlib.Path(__file__).parent.parent / "analysis/quorate/analysis/quorate.mplstyle"


def seconds_of_a_round(paths):
    """By the number of parameters, the clock and the number of workers, ascending: of each run."""
    found = {}
    for trace in map(read_trace, paths):
        parameters = int(trace.config["hidden"]) * (int(trace.attributes["columns"]) + 2) + 1
        key = parameters, trace.clock, trace.workers
        found.setdefault(key, []).append(trace.time_per_round)
    return dict(sorted(found.items()))


def bytes_in_words(parameters):
    return (
        f"{8 * parameters / 1e3:.0f} kB" if parameters < 1e5 else f"{8 * parameters / 1e6:.3g} MB"
    )


def draw(found, path):
    plt.style.use(STYLE)
    figure, axes = plt.subplots(figsize=(6.5, 3.6))
    for number, size in enumerate(dict.fromkeys(key[0] for key in found)):
        for clock, style in ("wall", "-"), ("virtual", "--"):
            runs = {w: times for (s, c, w), times in found.items() if (s, c) == (size, clock)}
            workers = list(runs)
            label = bytes_in_words(size) if clock == "wall" else None
            means = [np.mean(times) for times in runs.values()]
            axes.plot(workers, means, style, color=f"C{number}", label=label)
            edges = [[f(times) for times in runs.values()] for f in (min, max)]
            axes.fill_between(workers, *edges, color=f"C{number}", alpha=0.2, linewidth=0)
    axes.plot([], [], "-", color="0.4", label="measured")
    axes.plot([], [], "--", color="0.4", label="simulated")
    axes.set_xscale("log")
    axes.set_yscale("log")
    shown = sorted({key[2] for key in found})
    axes.set_xticks(shown, shown)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("workers")
    axes.set_ylabel("time per round (s)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=6)
    figure.savefig(path, dpi=200, bbox_inches="tight")


def table(found):
    yield "| message | workers | measured, ms | simulated, ms | ratio |"
    yield "|---|---|---|---|---|"
    for (size, clock, workers), times in found.items():
        if clock == "wall":
            here, model = np.mean(times), found[size, "virtual", workers][0]
            yield (
                f"| {bytes_in_words(size)} | {workers} | {1e3 * here:.4g} | {1e3 * model:.4g}"
                f" | {here / model:.2f} |"
            )


if __name__ == "__main__":
    rounds = seconds_of_a_round(sys.argv[2:])
    draw(rounds, sys.argv[1])
    print("\n".join(table(rounds)))
