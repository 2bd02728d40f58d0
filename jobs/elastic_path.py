#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Paths of membership for jobs/elastic: who leaves and joins after which round, what came of it."""

import argparse
import pathlib

import h5py
import numpy

MACHINES, NEEDED, ROUNDS = 20, 10, 1000
LOAD_TIME = 1e-4  # seconds a row, as in jobs/elastic
# How often each number of machines is chosen when the number changes, in 2 % of the rounds.
PATHS = {
    "even": {10: 0.2, 12: 0.2, 15: 0.2, 18: 0.2, 20: 0.2},
    "high": {10: 0.0, 12: 0.0, 15: 0.15, 18: 0.25, 20: 0.6},
}


def draw(name):
    """The number of machines in each round, and the events that make it so."""
    random = numpy.random.default_rng(27)
    numbers = list(PATHS[name])
    there = set(range(MACHINES))
    counts, events = [], []
    for done in range(ROUNDS):
        if done > 0 and random.random() < 0.02:
            wanted = random.choice(numbers, p=list(PATHS[name].values()))
            change = random.permutation(sorted(there))[: len(there) - wanted]
            verb = "leave"
            if wanted > len(there):
                absent = sorted(set(range(MACHINES)) - there)
                change, verb = random.permutation(absent)[: wanted - len(there)], "join"
            if len(change):
                events.append(f"{done}r {verb} {','.join(str(worker) for worker in change)}")
            there ^= set(change.tolist())
        counts.append(len(there))
    return counts, events


def report_times(name, paths):
    counts, events = draw(name)
    ideal = 1 - NEEDED * numpy.mean([1 / count for count in counts])
    print(f"path {name}: {len(events)} changes, ideal saving 1 - L mean(1/N) = {100 * ideal:.1f} %")
    total = {}
    for path in paths:
        with h5py.File(path, "r") as trace:
            total[path] = trace["round/time"][-1], trace["round/waste"][:].sum()
    fixed = total[paths[0]][0]
    for path, (time, waste) in total.items():
        label = pathlib.Path(path).stem.removeprefix(f"{name}-")
        saved = 100 * (1 - time / fixed)
        print(f"  {label:15} {time:7.1f} s  saves {saved:5.1f} %  {waste} rows wasted")


def report_run(label, trace, time, models, expected):
    last = {name: column[-1] for name, column in trace["evaluation"].items()}
    print(
        f"  {label:13} {time:9.1f}  {100 * last['accuracy']:12.2f}  {last['f1']:.3f}"
        f"  {last['test_loss']:.6f}  {numpy.abs(models - expected).max():.1e}"
    )


def report_runs(paths, restarted):
    with h5py.File(paths[0], "r") as trace:
        expected = trace["iterate/model"][:]
    print("  run            time [s]  accuracy [%]    F1  loss      iterates differ by")
    for path in paths:
        with h5py.File(path, "r") as trace:
            time, models = trace["round/time"][-1], trace["iterate/model"][:]
            report_run(pathlib.Path(path).stem, trace, time, models, expected)
    # Of a job that ended at each change: rounds, and loading before all parts but the first.
    time, models = 0, []
    for path in restarted:
        with h5py.File(path, "r") as trace:
            loading = LOAD_TIME * trace["worker/rows"][:].max() if models else 0
            time += trace["round/time"][-1] + loading
            models.append(trace["iterate/model"][:])
            if path == restarted[-1]:
                report_run("restart", trace, time, numpy.concatenate(models), expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", choices=[*PATHS, "credit"])
    parser.add_argument(
        "--traces", nargs="+", help="say what came of it; the first one is the base"
    )
    parser.add_argument("--restarted", nargs="+", default=[], help="the parts of one run")
    given = parser.parse_args()
    if given.path == "credit":
        report_runs(given.traces, given.restarted)
    elif given.traces:
        report_times(given.path, given.traces)
    else:
        print("\n".join(draw(given.path)[1]))


if __name__ == "__main__":
    main()
