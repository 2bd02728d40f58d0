# SPDX-License-Identifier: BSD-2-Clause
"""A figure of what a benchmark has measured."""
import statistics


def draw(path, measured, *, ylabel, title):
    """Draws medians as bars, with a line from the least to the most.

    measured: {series: {group: values}}; other series may lack the last groups of the first one.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    names = list(next(iter(measured.values())))
    size = max(6, 0.95 * len(names)), 3.2  # labels stay apart
    figure, axes = pyplot.subplots(figsize=size, layout="constrained")
    width = 0.8 / len(measured)
    for at, (series, groups) in enumerate(measured.items()):
        places = [i + width * (at - (len(measured) - 1) / 2) for i in range(len(groups))]
        medians = [statistics.median(values) for values in groups.values()]
        below = [median - min(values) for median, values in zip(medians, groups.values())]
        above = [max(values) - median for median, values in zip(medians, groups.values())]
        axes.bar(places, medians, 0.95 * width, label=series, yerr=[below, above], capsize=3)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel(ylabel)
    axes.set_title(title)
    axes.legend()
    figure.savefig(path, dpi=120)
