# SPDX-License-Identifier: BSD-2-Clause
"""Figures: one style, and a PNG, a PDF and the numbers of each."""

import multiprocessing
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.style  # noqa: E402
import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402
import pandas as pd  # noqa: E402
from matplotlib.artist import Artist  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.axis import Axis  # noqa: E402
from matplotlib.category import StrCategoryFormatter  # noqa: E402
from matplotlib.collections import PolyCollection  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.legend import Legend  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from matplotlib.ticker import FixedFormatter, LogLocator, NullLocator  # noqa: E402

from .files import MARK, write_whole  # noqa: E402
from .traces import BadInput  # noqa: E402

matplotlib.style.use(Path(__file__).parent / "quorate.mplstyle")
COLOURS = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
COLOURS = [colour if colour.startswith("#") else f"#{colour}" for colour in COLOURS]
# Dashes help in print, and beyond seven lines.
DASHES = ("-", (0, (4, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (1, 1.2)))
MOST_VECTORS = 2000  # rectangles; more are pixels in a PDF
MOST_LINES = 4  # of a legend in letters of full size
ROW_LETTERS = 48  # of a line that names a row
WIDE = 8  # a scale whose end is so many times its beginning is logarithmic
MARGIN = 0.02  # of a scale, below its zero
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


def broken(words: str, letters: int) -> str:
    """In lines of so many letters at most, and about as long as each other; after commas, too."""
    if len(words) > letters:
        words = re.sub(r",(?=\S)", ", ", words)
    found = fill(words, letters)
    lines = found.count("\n") + 1
    even = fill(words, min(letters, len(words) // lines + 8))
    return even if even.count("\n") < lines else found


def rows(axis: Axes, names: Sequence[str]) -> None:
    """Names from above, of the rows 0, 1, ...; long ones in several lines."""
    axis.set_yticks(range(len(names)), [broken(name, ROW_LETTERS) for name in names])
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(axis="y", visible=False)


def row_height(names: Sequence[str]) -> float:
    """Inches that each row takes."""
    return 0.28 + 0.14 * max(broken(name, ROW_LETTERS).count("\n") + 1 for name in names)


def beside(axis: Axes, words: Sequence[str]) -> None:
    """A text for each row, right of the axis: there is room for it, whatever its length."""
    right = axis.secondary_yaxis("right")
    right.set_yticks(range(len(words)), words)
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)


def from_zero(axis: Axes, which: str, low: float = 0.0) -> None:
    """A scale that begins just below `low`, so that lines along the edge are seen whole."""
    get, put = (getattr(axis, f"{verb}_{which}lim") for verb in ("get", "set"))
    put(low - MARGIN * (get()[1] - low), get()[1])


def plain_ticks(axis: Axis, ratio: float) -> None:
    """Of a logarithmic scale, whose end is so many times its beginning: 0.1, 0.2, 0.5, 1."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if ratio < 1000 else (1,)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def scale(axis: Axes, which: str, drawn: pd.Series) -> None:
    """Logarithmic if the numbers differ much and are positive, or an option's values beside a zero
    do; else a quantity begins at zero."""
    positive = drawn[drawn > 0]
    if drawn.min() > 0 and drawn.max() > WIDE * drawn.min():
        (axis.set_xscale if which == "x" else axis.set_yscale)("log")
        plain_ticks(axis.xaxis if which == "x" else axis.yaxis, drawn.max() / drawn.min())
    elif which == "x" and drawn.min() == 0 and positive.max() > WIDE * positive.min():
        axis.set_xscale("symlog", linthresh=positive.min())
    elif which == "y":
        from_zero(axis, "y", min(0.0, drawn.min()))


def shares_above(axis: Axes, lines: Sequence[tuple[npt.ArrayLike, npt.ArrayLike, Style]]) -> None:
    """Survival curves: numbers ascending, the share above each, and a style: they are steps."""
    least = 1.0
    for values, above, style in lines:
        axis.step(np.append(0, values), np.append(1, above), where="post", **style)
        least = min([least, *np.asarray(above)[np.asarray(above) > 0]])
    least = max(least / 2, 1e-5)
    axis.set_ylim(least, 1.2)  # first: without it a scale of no numbers is a warning
    axis.set_yscale("log")
    plain_ticks(axis.yaxis, 1 / least)


def legend(figure: Figure, handles: Sequence[Artist], texts: Sequence[str]) -> float:
    """Above, in as few lines as its width allows, and in small letters if these are many; its
    height in inches."""
    wide = figure.get_figwidth()
    texts = [broken(text, int(7.5 * wide)) for text in texts]
    columns = 1
    for size in (9.5, 8):
        drawn = draw_legend(figure, handles, texts, 1, size)
        gap = 1.2 * size / 72
        columns = int((wide - 0.1 + gap) / (drawn.get_window_extent().width / figure.dpi + gap))
        columns = min(max(1, columns), len(texts))
        drawn.remove()
        if len(texts) <= MOST_LINES * columns:
            break
    lines = -(-len(texts) // columns)
    drawn = draw_legend(figure, handles, texts, -(-len(texts) // lines), size)
    high: float = drawn.get_window_extent().height / figure.dpi
    return high


def draw_legend(
    figure: Figure, handles: Sequence[Artist], texts: Sequence[str], columns: int, size: float
) -> Legend:
    drawn = figure.legend(handles, texts, loc="upper center", ncols=columns, fontsize=size)
    for text in drawn.get_texts():
        text.set_parse_math(False)  # before it is measured
    return drawn


def fit(text: Text, room: float) -> int:
    """Breaks a text that is wider than so many pixels; how many lines that adds."""
    words: str = text.get_text()
    wide = text.get_window_extent().width
    if wide <= room:
        return 0
    lines = broken(words, max(12, int(len(words) * room / wide)))
    text.set_text(lines)
    return lines.count("\n") - words.count("\n")


def fit_labels(axis: Axes) -> tuple[int, int]:
    """Breaks a title and a label below that would leave the figure, or meet the next panel's; how
    many lines that adds to each."""
    box, wide = axis.get_window_extent(), axis.figure.bbox.width
    middle = (box.x0 + box.x1) / 2
    alone = axis.get_subplotspec() is None or axis.get_subplotspec().get_gridspec().ncols == 1
    across = 2 * min(middle, wide - middle) if alone else box.width
    title = axis.set_title(axis.get_title("left"))
    return fit(title, wide - box.x0 if alone else box.width), fit(axis.xaxis.label, across)


def finish(
    figure: Figure, handles: Sequence[Artist] = (), texts: Sequence[str] = (), note: str = ""
) -> None:
    """A legend above, a note below, and the panels between, which keep their size."""
    wide, height = figure.get_size_inches()
    top, below = 0.08, 0.05
    if texts:
        above = legend(figure, handles, texts)
        height += max(0.0, above - 0.26)
        top = 0.04 + above
    if note:
        note = "\n".join(fill(line, int(14 * wide)) for line in note.split("\n"))
        below = 0.13 + 0.15 * len(note.split("\n"))
        figure.text(0.5, 0.08 / height, note, ha="center", va="bottom", fontsize=9, color="0.35")
    figure.align_ylabels()
    take_names_literally(figure)

    def arrange() -> None:
        figure.set_figheight(height)
        figure.tight_layout(rect=(0, below / height, 1, 1 - top / height))

    arrange()
    added = np.max([fit_labels(axis) for axis in figure.axes], axis=0).sum()
    if added:
        height += 0.17 * added
        arrange()


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
