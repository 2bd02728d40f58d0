#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints a table of traces: times, final loss and AUC, speed-up against the first one."""

import argparse
import math
import sys

from traces import BadInput, labels, read_trace

HEADER = (
    "scheme",
    "time (s)",
    "ms per round",
    "speed-up",
    "decode error",
    "final loss",
    "AUC",
)


def number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"


def rows(traces) -> list:
    """A row of words for each trace. Speed-up: the first one's time per round over this one's."""
    table = []
    for trace, label in zip(traces, labels(traces)):
        estimate = "" if trace.evaluated or trace.dry or not trace.rounds else "~"
        speedup = traces[0].time_per_round / trace.time_per_round if trace.time else math.nan
        table.append(
            (
                label,
                number(trace.time, 3),
                number(1000 * trace.time_per_round, 2),
                number(speedup, 2),
                f"{trace.decode_error:.3g}" if trace.rounds else "-",
                estimate + number(trace.final_loss, 4),
                number(trace.final_auc, 4),
            )
        )
    return table


def text(table) -> str:
    """The table, with its header; the first column to the left, numbers to the right."""
    lines = [HEADER, *table]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(w.rjust(n) for w, n in zip(line[1:], widths[1:]))])
        for line in lines
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    arguments = parser.parse_args()
    try:
        traces = [read_trace(path) for path in arguments.traces]
    except BadInput as error:
        print(f"table: {error}", file=sys.stderr)
        return 2
    print(text(rows(traces)))
    if any(trace.rounds and not trace.evaluated and not trace.dry for trace in traces):
        print("~ the last round's estimate: that trace holds no evaluation")
    return 0


if __name__ == "__main__":
    sys.exit(main())
