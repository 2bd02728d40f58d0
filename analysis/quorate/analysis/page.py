# SPDX-License-Identifier: BSD-2-Clause
"""One HTML page without anything from elsewhere: figures and what they link to are inside."""

import base64
from collections.abc import Callable
from html import escape
from pathlib import Path

import pandas as pd

from .files import MARK
from .page_style import STYLE
from .traces import shown

MOST_INSIDE = 65536  # bytes of a download that the page holds
TYPES = {".pdf": "application/pdf", ".csv": "text/csv", ".html": "text/html"}


class Page:
    """Parts of a page, in order."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.parts: list[str | Callable[[], str]] = []
        self.sections: list[tuple[str, str]] = []
        self.tables = 0

    def section(self, title: str) -> None:
        anchor = f"s{len(self.sections) + 1}"
        self.sections.append((anchor, title))
        self.parts.append(f'<h2 id="{anchor}">{escape(title)}</h2>')

    def heading(self, title: str) -> None:
        self.parts.append(f"<h3>{escape(title)}</h3>")

    def text(self, words: str) -> None:
        self.parts.append(f'<p class="note">{escape(words)}</p>')

    def items(self, lines: list[str]) -> None:
        if lines:
            inner = "".join(f"<li>{escape(line)}</li>" for line in lines)
            self.parts.append(f'<ul class="note">{inner}</ul>')

    def table(self, title: str, table: pd.DataFrame, plain: bool = False) -> None:
        """The first column names the rows. Plain: of words, which may break."""
        if not len(table):
            return
        self.tables += 1
        name = f"t{self.tables}"
        head = "".join(f'<th scope="col">{escape(str(word))}</th>' for word in table.columns)
        rows = "".join(row(line) for line in table.values.tolist())
        # A keyboard scrolls what has the focus, a reader hears the region's name.
        self.parts.append(
            f'<div class="wide{" plain" if plain else ""}" role="region" tabindex="0" '
            f'aria-labelledby="{name}"><table><caption id="{name}"><span>{escape(title)}</span>'
            f"</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def figure(self, title: str, text: str, spoken: str, png: Path) -> None:
        """The picture is read when the page is made: it may still be drawn."""

        def inside() -> str:
            files = ", ".join(download(png.with_suffix(suffix)) for suffix in (".pdf", ".csv"))
            return (
                f'<figure><div class="wide" role="region" tabindex="0" '
                f'aria-label="Figure: {escape(title)}">'
                f'<img style="--least: {least_width(png):.0f}em" alt="{escape(spoken)}" '
                f'src="{data(png, "image/png")}"></div>'
                f"<figcaption><b>{escape(title)}.</b> {escape(text)} ({files})</figcaption>"
                "</figure>"
            )

        self.parts.append(inside)

    def code(self, words: str) -> None:
        """Text as it is, in lines."""
        self.parts.append(f"<pre>{escape(words)}</pre>")

    def attach(self, words: str, file: Path) -> None:
        """A file that is there when the page is made."""
        self.parts.append(lambda: f"<p>{escape(words)}: {download(file)}</p>")

    def fold(self, title: str, words: str) -> None:
        """Text that a click shows."""
        self.parts.append(
            f"<details><summary>{escape(title)}</summary><pre>{escape(words)}</pre></details>"
        )

    def html(self) -> str:
        links = "".join(
            f'<li><a href="#{anchor}">{escape(name)}</a></li>' for anchor, name in self.sections
        )
        body = "\n".join(part() if callable(part) else part for part in self.parts)
        return shown(
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark">'
            f'<meta name="generator" content="{MARK}">'
            f"<title>{escape(self.title)}</title><style>{STYLE}</style></head><body>"
            '<a class="skip" href="#main">Skip to the results</a>'
            f"<header><h1>{escape(self.title)}</h1>"
            f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>\n'
            f'<main id="main" tabindex="-1">\n{body}\n</main></body></html>\n'
        )


def row(cells: list[object]) -> str:
    first, *rest = (escape(str(cell)) for cell in cells)
    return f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{w}</td>" for w in rest) + "</tr>"


def least_width(png: Path) -> float:
    """Letters of the page that a picture takes at least, so that its own can be read."""
    pixels = int.from_bytes(png.read_bytes()[16:20], "big")
    return 0.03 * pixels


def data(file: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"


def download(file: Path) -> str:
    """A link that works if the page is sent alone; of what is large, where it is."""
    name = escape(file.name)
    if file.stat().st_size > MOST_INSIDE:
        return f"beside this page: {name}"
    return f'<a download="{name}" href="{data(file, TYPES[file.suffix])}">{name}</a>'
