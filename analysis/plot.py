#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws training loss and test AUC of traces against time and against rounds."""

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
METRICS = {"train_loss": "training loss", "auc": "test AUC"}


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


def draw(traces):
    """The figure: loss above, AUC below; against time on the left, rounds on the right."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), sharex="col", sharey="row")
    for row, (metric, name) in zip(axes, METRICS.items()):
        drawn = 0
        for trace, label, style in zip(traces, labels(traces), styles(len(traces))):
            rounds, times, values = curve(trace, metric)
            label += "" if trace.evaluated else " (estimate)"
            # A dot shows where a run ends, and a run of one point at all.
            row[0].plot(times, values, label=label, **style)
            row[0].plot(times[-1:], values[-1:], "o", markersize=5, color=style["color"])
            row[1].plot(rounds, values, label=label, **style)
            row[1].plot(rounds[-1:], values[-1:], "o", markersize=5, color=style["color"])
            drawn += len(values)
        row[0].set_ylabel(name)
        for axis in row:
            axis.grid(color="0.9")
            axis.set_axisbelow(True)
            axis.spines[["top", "right"]].set_visible(False)
            axis.set_xlim(left=0)
            if not drawn:
                axis.set_yticks([])
                axis.text(
                    0.5,
                    0.5,
                    f"no {name} in these traces",
                    ha="center",
                    color="0.4",
                    transform=axis.transAxes,
                )
    axes[1][0].set_xlabel("wall time (s)")
    axes[1][1].set_xlabel("round")
    handles, texts = axes[0][0].get_legend_handles_labels()
    widest = max(len(text) for text in texts)
    columns = max(1, min(len(texts), 90 // (widest + 8)))
    lines = -(-len(texts) // columns)
    figure.legend(
        handles, texts, loc="upper center", ncols=columns, frameon=False, handlelength=3.5
    )
    figure.text(0.5, 0.01, caption(traces), ha="center", fontsize=9, color="0.35")
    figure.align_ylabels()
    figure.tight_layout(rect=(0, 0.035, 1, 1 - 0.02 - 0.037 * lines))
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
