#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints a table of traces: times, final loss and AUC, speed-up against the first one."""

import argparse
import sys

from traces import BadInput, labels, last, read_trace


def rows(traces) -> list:
    """A header, and a row of words for each trace."""
    table = [("scheme", "wall time s", "s per round", "final loss", "AUC", "speed-up")]
    base = traces[0].time / max(traces[0].rounds, 1)
    for trace, label in zip(traces, labels(traces)):
        per_round = trace.time / max(trace.rounds, 1)
        table.append(
            (
                label,
                f"{trace.time:.3f}",
                f"{per_round:.5f}",
                f"{last(trace, 'train_loss'):.4f}",
                f"{last(trace, 'auc'):.4f}",
                f"{base / per_round:.2f}" if per_round > 0 else "-",
            )
        )
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+")
    arguments = parser.parse_args()
    try:
        table = rows([read_trace(path) for path in arguments.traces])
    except BadInput as error:
        print(f"table: {error}", file=sys.stderr)
        return 2
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        first, *rest = (word.rjust(width) for word, width in zip(row, widths))
        print("  ".join([row[0].ljust(widths[0]), *rest]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
