#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The table of jobs/elastic: times, scores and how far the iterates are from those of the first."""

import argparse
import pathlib

import h5py
import numpy

LOAD_TIME = 1e-4  # seconds a row, as in jobs/elastic


def report(label, trace, time, models, expected):
    last = {name: column[-1] for name, column in trace["evaluation"].items()}
    print(
        f"  {label:13} {time:9.1f}  {100 * last['accuracy']:12.2f}  {last['f1']:.3f}"
        f"  {last['test_loss']:.6f}  {numpy.abs(models - expected).max():.1e}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", nargs="+", required=True, help="the first one is the base")
    parser.add_argument("--restarted", nargs="+", required=True, help="the parts of one run")
    given = parser.parse_args()
    with h5py.File(given.traces[0], "r") as trace:
        expected = trace["iterate/model"][:]
    print("  run            time [s]  accuracy [%]    F1  loss      iterates differ by")
    for path in given.traces:
        with h5py.File(path, "r") as trace:
            time, models = trace["round/time"][-1], trace["iterate/model"][:]
            report(pathlib.Path(path).stem, trace, time, models, expected)
    # Of a job that ended at each change: rounds, and loading before all parts but the first.
    time, models = 0, []
    for path in given.restarted:
        with h5py.File(path, "r") as trace:
            loading = LOAD_TIME * trace["worker/rows"][:].max() if models else 0
            time += trace["round/time"][-1] + loading
            models.append(trace["iterate/model"][:])
            if path == given.restarted[-1]:
                report("restart", trace, time, numpy.concatenate(models), expected)


if __name__ == "__main__":
    main()
