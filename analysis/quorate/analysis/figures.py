# SPDX-License-Identifier: BSD-2-Clause
"""Figures: one style, and a PNG, a PDF and the numbers of each."""

import multiprocessing
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.style  # noqa: E402
import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402
import pandas as pd  # noqa: E402
from matplotlib.artist import Artist  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.category import StrCategoryFormatter  # noqa: E402
from matplotlib.collections import PolyCollection  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from matplotlib.ticker import FixedFormatter  # noqa: E402

from .files import MARK, write_whole  # noqa: E402
from .traces import BadInput  # noqa: E402

matplotlib.style.use(Path(__file__).parent / "quorate.mplstyle")
COLOURS = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
COLOURS = [colour if colour.startswith("#") else f"#{colour}" for colour in COLOURS]
# Dashes help in print, and beyond seven lines.
DASHES = ("-", (0, (4, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (1, 1.2)))
MOST_VECTORS = 2000  # rectangles; more are pixels in a PDF
MOST_WIDE = 100  # letters in a line over a figure
Style = dict[str, Any]  # options of matplotlib
Grid = npt.NDArray[np.object_]  # of axes


@dataclass
class Plot:
    """A figure, its name as a file, what it shows, the numbers behind it, and fewer that tell the
    same in words."""

    name: str
    title: str
    text: str
    figure: Figure
    numbers: pd.DataFrame
    summary: pd.DataFrame | None = None


def styles(count: int) -> list[Style]:
    """Line styles. Later lines are thinner, so that equal curves do not hide each other."""
    return [
        dict(
            color=COLOURS[i % len(COLOURS)],
            linestyle=DASHES[i % len(DASHES)],
            linewidth=max(1.5, 2.8 - 0.6 * i) if count > 1 else 1.8,
        )
        for i in range(count)
    ]


def panels(
    rows: int, columns: int = 1, height: float = 2.6, width: float = 8.5, **options: Any
) -> tuple[Figure, Grid]:
    """A figure and its axes, rows x columns."""
    figure = Figure(figsize=(width, 0.9 + height * rows))
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def take_names_literally(figure: Figure) -> None:
    """A name that holds $ is no formula. The numbers at an axis are some."""
    formulas: set[Text] = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            formulas.add(axis.offsetText)
            if not isinstance(axis.get_major_formatter(), (FixedFormatter, StrCategoryFormatter)):
                formulas.update(axis.get_ticklabels(which="both"))
    for text in figure.findobj(Text):
        if text not in formulas:
            text.set_parse_math(False)


def finish(
    figure: Figure, handles: Sequence[Artist] = (), texts: Sequence[str] = (), note: str = ""
) -> None:
    """A legend above, a note below, and the panels between."""
    height = figure.get_figheight()
    top = 0.08
    if texts:
        longest = max(len(text) for text in texts)
        columns = max(1, min(len(texts), MOST_WIDE // (longest + 8)))
        lines = -(-len(texts) // columns)
        height += 0.2 * (lines - 1)  # the panels keep their size
        figure.set_figheight(height)
        figure.legend(handles, texts, loc="upper center", ncols=-(-len(texts) // lines))
        top += 0.02 + 0.2 * lines
    if note:
        figure.text(0.5, 0.08 / height, note, ha="center", va="bottom", fontsize=9, color="0.35")
    below = 0.13 + 0.15 * len(note.split("\n")) if note else 0.05
    figure.align_ylabels()
    take_names_literally(figure)
    figure.tight_layout(rect=(0, below / height, 1, 1 - top / height))


def legend_of(axes: Iterable[Axes]) -> tuple[list[Artist], list[str]]:
    """Handles and texts of all axes, each text once."""
    found: dict[str, Artist] = {}
    for axis in axes:
        for handle, text in zip(*axis.get_legend_handles_labels()):
            found.setdefault(text, handle)
    return list(found.values()), list(found)


def boxes(
    axis: Axes,
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    bottom: npt.ArrayLike,
    top: npt.ArrayLike,
    **style: Any,
) -> None:
    """Filled rectangles, as one object: much faster than bars."""
    left, right, bottom, top = np.broadcast_arrays(left, right, bottom, top)
    corners = np.stack([[left, bottom], [right, bottom], [right, top], [left, top]]).transpose(
        2, 0, 1
    )
    drawn = PolyCollection(corners, **{"linewidth": 0, **style})
    drawn.set_rasterized(len(corners) > MOST_VECTORS)
    axis.add_collection(drawn, autolim=False)


def mark_warmup(axis: Axes, end: float) -> None:
    """A grey field from the left edge, with a word."""
    axis.axvspan(0, end, color="0.85", zorder=0, linewidth=0)
    if end < 0.005 * axis.get_xlim()[1]:
        return  # too narrow to be seen; tables tell it
    words = axis.annotate(
        "warm-up",
        (end, 1),
        xycoords=("data", "axes fraction"),
        xytext=(2, -2),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color="0.4",
    )
    words.set_in_layout(False)


def refuse_file(out: str) -> None:
    """Raises BadInput if the folder for figures is a file."""
    if Path(out).is_file():
        raise BadInput(f"--out is {out}, which is a file: give a folder")


def folder_of(out: str) -> Path:
    """The folder for figures, made if need be. Raises BadInput."""
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        wrong = f"cannot make the folder {out}: {error.strerror}; give another one"
        raise BadInput(wrong) from error
    return folder


def save(plot: Plot, folder: Path) -> list[Path]:
    """Writes NAME.png, NAME.pdf and NAME.csv. Raises BadInput."""

    def numbers(part: Path) -> None:
        plot.numbers.to_csv(part, index=False, float_format="%.9g")

    def png(part: Path) -> None:
        plot.figure.savefig(part, format="png", metadata={"Software": MARK})

    def pdf(part: Path) -> None:
        plot.figure.savefig(part, format="pdf", metadata={"Creator": MARK})

    # The numbers first: that name is the likeliest to be another's.
    ways = {"csv": numbers, "png": png, "pdf": pdf}
    return [write_whole(folder / f"{plot.name}.{suffix}", way) for suffix, way in ways.items()]


class Saver:
    """Saves figures in processes of their own, as many at a time as there are cores."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.most = len(os.sched_getaffinity(0))
        self.running: list[tuple[ForkProcess, Connection]] = []

    def add(self, plot: Plot) -> Path:
        """The path of the PNG, which is there after wait(). Raises BadInput."""
        while len(self.running) >= self.most:
            self.end_one()
        fork = multiprocessing.get_context("fork")
        here, there = fork.Pipe(duplex=False)
        process = fork.Process(target=self.save, args=(plot, there))
        process.start()
        there.close()
        self.running.append((process, here))
        return self.folder / f"{plot.name}.png"

    def save(self, plot: Plot, answer: Connection) -> None:
        try:
            save(plot, self.folder)
            answer.send("")
        except BadInput as error:
            answer.send(str(error))

    def end_one(self) -> None:
        process, here = self.running.pop(0)
        try:
            words = here.recv()
        except EOFError:
            words = f"cannot write figures to {self.folder}: out of memory?"
        process.join()
        if words:
            raise BadInput(words)

    def wait(self) -> None:
        while self.running:
            self.end_one()
