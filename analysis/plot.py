#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws loss, distance from the optimum, accuracy and AUC of traces against time and rounds."""

import argparse
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from traces import BadInput, curve, labels, read_trace  # noqa: E402

SUFFIXES = (".png", ".pdf")
# Okabe and Ito's colours can be told apart by colour-blind readers; dashes help in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", (0, (4, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (1, 1.2)))
METRICS = {
    "train_loss": "training loss",
    "gap": "objective - optimum",
    "accuracy": "test accuracy",
    "auc": "test AUC",
}


def styles(count: int) -> list:
    """Line styles. Later lines are thinner, so that equal curves do not hide each other."""
    return [
        dict(
            color=COLOURS[i % len(COLOURS)],
            linestyle=STYLES[i % len(STYLES)],
            linewidth=max(1.5, 2.8 - 0.6 * i) if count > 1 else 1.8,
        )
        for i in range(count)
    ]


def caption(traces) -> str:
    """What the traces have in common, as far as they agree."""

    def common(name):
        values = {str(trace.attributes[name]) for trace in traces}
        return values.pop() if len(values) == 1 else None

    parts = []
    if all(common(name) for name in ("data", "rows", "columns")):
        parts.append(f"{common('data')}, {common('rows')} x {common('columns')}")
    if common("workers"):
        parts.append(f"{common('workers')} workers")
    parts += [common(name) for name in ("optimizer",) if common(name)]
    if common("delay"):
        parts.append(f"delay {common('delay')}")
    return "; ".join(parts)


def names(traces) -> list:
    """Labels of the lines, with a word where they show estimates."""
    words = []
    for trace, label in zip(traces, labels(traces)):
        if not trace.evaluated:
            label = label[:-1] + ", estimate)" if label.endswith(")") else label + " (estimate)"
        words.append(label)
    return words


def draw(traces):
    """The figure: one row a metric; against time on the left, rounds on the right.

    A metric that no trace has is left out. Raises BadInput if that leaves nothing.
    """
    metrics = [m for m in METRICS if any(len(curve(trace, m)[2]) for trace in traces)]
    if "auc" in metrics and "accuracy" in metrics:
        metrics.remove("accuracy")  # of two classes AUC says more
    if not metrics:
        raise BadInput(f"{traces[0].path} holds no finite loss or AUC: nothing to plot")
    figure, axes = plt.subplots(
        len(metrics),
        2,
        figsize=(9, 1 + 2.7 * len(metrics)),
        sharex="col",
        sharey="row",
        squeeze=False,
    )
    for row, metric in zip(axes, metrics):
        for trace, label, style in zip(traces, names(traces), styles(len(traces))):
            rounds, times, values = curve(trace, metric)
            for axis, where in zip(row, (times, rounds)):
                axis.plot(where, values, label=label, **style)
                # A dot shows where a run ends, and a run of one point at all.
                axis.plot(where[-1:], values[-1:], "o", markersize=5, color=style["color"])
        row[0].set_ylabel(METRICS[metric])
        if metric == "gap":
            row[0].set_yscale("log")
        for axis in row:
            axis.grid(color="0.9")
            axis.set_axisbelow(True)
            axis.spines[["top", "right"]].set_visible(False)
            axis.set_xlim(left=0)
    clocks = {trace.attributes["clock"] for trace in traces}
    axes[-1][0].set_xlabel(f"{clocks.pop()} time (s)" if len(clocks) == 1 else "time (s)")
    axes[-1][1].set_xlabel("round")
    handles, texts = axes[0][0].get_legend_handles_labels()
    widest = max(len(text) for text in texts)
    columns = max(1, min(len(texts), 90 // (widest + 8)))
    lines = -(-len(texts) // columns)
    figure.legend(
        handles, texts, loc="upper center", ncols=columns, frameon=False, handlelength=3.5
    )
    height = figure.get_figheight()
    figure.text(0.5, 0.07 / height, caption(traces), ha="center", fontsize=9, color="0.35")
    figure.align_ylabels()
    figure.tight_layout(rect=(0, 0.22 / height, 1, 1 - (0.1 + 0.22 * lines) / height))
    return figure


def stem_of(output: str) -> str:
    """The figures' path without suffix. Raises BadInput if they cannot be written there."""
    stem = output[:-4] if output.endswith(SUFFIXES) else output
    if not Path(stem).name or Path(stem).is_dir():
        raise BadInput(f"--output is {output}, which names no file: give a path without suffix")
    if not Path(stem).parent.is_dir():
        raise BadInput(f"--output is {output}, whose folder does not exist: make it")
    return stem


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--output",
        metavar="STEM",
        default="figure",
        help="path of the figures, without suffix [figure]",
    )
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    arguments = parser.parse_args()
    try:
        stem = stem_of(arguments.output)
        traces = [read_trace(path) for path in arguments.traces]
        for trace in traces:
            if trace.rounds == 0:
                raise BadInput(f"{trace.path} holds no round yet: nothing to plot")
        figure = draw(traces)
        for suffix in SUFFIXES:
            try:
                figure.savefig(stem + suffix, dpi=150)
            except OSError as error:
                raise BadInput(f"cannot write {stem + suffix}: {error.strerror}") from error
            print(stem + suffix)
    except BadInput as error:
        print(f"plot: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
