#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws training loss and test AUC of traces against time and against rounds."""

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from traces import BadInput, labels, read_trace  # noqa: E402

# Okabe and Ito's colours can be told apart by colour-blind readers; dashes help in print.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
STYLES = ["-", "--", "-.", ":"]


def curve(trace, metric):
    """(rounds, times, values); a run without evaluation gives its estimate of the loss."""
    table = trace.evaluation
    if len(table["round"]):
        return table["round"], table["time"], table[metric]
    if metric == "train_loss":
        rounds = np.arange(1, trace.rounds + 1)
        return rounds, trace.round["time"], trace.round["loss_estimate"]
    return np.array([]), np.array([]), np.array([])


def draw(traces):
    """The figure: loss above, AUC below; against time on the left, rounds on the right."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.2), sharex="col", sharey="row")
    names = {"train_loss": "training loss", "auc": "test AUC"}
    for row, (metric, name) in zip(axes, names.items()):
        for number, (trace, label) in enumerate(zip(traces, labels(traces))):
            rounds, times, values = curve(trace, metric)
            style = dict(
                color=COLOURS[number % len(COLOURS)],
                linestyle=STYLES[number % len(STYLES)],
                linewidth=1.7,
                label=label,
            )
            row[0].plot(times, values, **style)
            row[1].plot(rounds, values, **style)
        row[0].set_ylabel(name)
        for axis in row:
            axis.grid(color="0.9")
            axis.spines[["top", "right"]].set_visible(False)
    axes[1][0].set_xlabel("wall time (s)")
    axes[1][1].set_xlabel("round")
    handles, texts = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="upper center", ncols=min(len(texts), 4), frameon=False)
    first = traces[0].attributes
    figure.text(
        0.5,
        0.005,
        f"{first['data']}: {first['rows']} x {first['columns']}, {first['workers']} workers, "
        f"{first['optimizer']}, delay {first['delay']}",
        ha="center",
        fontsize=8,
        color="0.4",
    )
    figure.tight_layout(rect=(0, 0.03, 1, 0.94))
    return figure


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default="figure", help="path of the figures, without suffix")
    parser.add_argument("traces", nargs="+")
    arguments = parser.parse_args()
    try:
        traces = [read_trace(path) for path in arguments.traces]
        for trace in traces:
            if trace.rounds == 0:
                raise BadInput(f"{trace.path} holds no round yet: nothing to draw")
        if not Path(arguments.output).resolve().parent.is_dir():
            raise BadInput(f"--output is {arguments.output}, whose folder does not exist: make it")
    except BadInput as error:
        print(f"plot: {error}", file=sys.stderr)
        return 2
    figure = draw(traces)
    for suffix in ("png", "pdf"):
        figure.savefig(f"{arguments.output}.{suffix}", dpi=150)
        print(f"{arguments.output}.{suffix}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
