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


def header(test_loss) -> tuple:
    if test_loss is None:
        return HEADER
    return (*HEADER, f"s to test loss {test_loss:g}", "times faster")


def rows(traces, test_loss=None) -> list:
    """A row of words for each trace. Speed-up: the first one's time per round over this one's;
    times faster: its time to the test loss over this one's."""
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
        if test_loss is not None:
            reached = trace.time_to(test_loss)
            faster = traces[0].time_to(test_loss) / reached
            table[-1] += (number(reached, 2), number(faster, 2))
    return table


def text(table, first=HEADER) -> str:
    """The table, with its header; the first column to the left, numbers to the right."""
    lines = [first, *table]
    widths = [max(len(line[i]) for line in lines) for i in range(len(first))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(w.rjust(n) for w, n in zip(line[1:], widths[1:]))])
        for line in lines
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    parser.add_argument("--test-loss", type=float, metavar="X", help="add the time until it is X")
    arguments = parser.parse_args()
    try:
        traces = [read_trace(path) for path in arguments.traces]
    except BadInput as error:
        print(f"table: {error}", file=sys.stderr)
        return 2
    print(text(rows(traces, arguments.test_loss), header(arguments.test_loss)))
    if any(trace.rounds and not trace.evaluated and not trace.dry for trace in traces):
        print("~ the last round's estimate: that trace holds no evaluation")
    return 0


if __name__ == "__main__":
    sys.exit(main())
