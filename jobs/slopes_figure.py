#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws how much faster m-sgc is than gradient coding by what a unit of load takes.

    quorate analysis claims FOLDER --json | jobs/slopes_figure.py figure.png

Of the claims of sequential-slopes those with a slope in seconds: a line for each recorded profile,
and the median of each slope.
"""

import json
import pathlib
import sys

import matplotlib.pyplot as plt
import numpy as np

STYLE = pathlib.Path(__file__).parent.parent / "analysis/quorate/analysis/quorate.mplstyle"


def claims_by_slope(claims):
    """The claims that m-sgc is faster, by their slope in seconds, ascending."""
    found = {}
    for claim in claims:
        slope = claim["where"].removeprefix("load-slope=")
        if slope != "recorded" and claim["of"]["options"] == "scheme=m-sgc":
            found[float(slope)] = claim
    return dict(sorted(found.items()))


def ratio(claim, profile):
    return claim["beside"]["measured"][profile] / claim["of"]["measured"][profile]


def draw(claims, path):
    found = claims_by_slope(claims)
    slopes = list(found)
    profiles = found[slopes[0]]["of"]["measured"]
    lines = {one: [ratio(claim, one) for claim in found.values()] for one in profiles}
    papers = {slope: claim["paper"][0] for slope, claim in found.items() if claim["paper"]}
    plt.style.use(STYLE)
    figure, axes = plt.subplots(figsize=(6.5, 3.2))
    for i, ys in enumerate(lines.values()):
        label = "a recorded profile" if i == 0 else None
        axes.plot(slopes, ys, color="0.6", linewidth=1, marker="", label=label)
    axes.plot(slopes, np.median(list(lines.values()), axis=0), marker="o", label="median")
    axes.plot(list(papers), list(papers.values()), "D", color="black", label="the paper's table")
    axes.axhline(1, color="black", linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    ticks = [0.5, 1, 2]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks([], minor=True)
    axes.set_xlabel("further seconds of a task for a unit of load")
    axes.set_ylabel("time of cyclic / m-sgc")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    figure.savefig(path, dpi=200, bbox_inches="tight")


if __name__ == "__main__":
    draw(json.load(sys.stdin), sys.argv[1])
