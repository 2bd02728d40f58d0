# SPDX-License-Identifier: BSD-2-Clause
"""One HTML page without anything from elsewhere: figures are inside."""

import base64
from collections.abc import Callable
from html import escape
from pathlib import Path

import pandas as pd

from .files import MARK

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72em; margin: 2em auto; padding: 0 1em;
  color: #222; }
h1 { font-size: 1.6em; } h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }
nav a { margin-right: 1em; } figure { margin: 1em 0; } img { max-width: 100%; }
figcaption, .note { color: #555; font-size: 0.93em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9em; font-variant-numeric: tabular-nums; }
td, th { padding: 0.2em 0.7em; text-align: right; border-bottom: 1px solid #ddd;
  white-space: nowrap; }
td:first-child, th:first-child { text-align: left; } td.text { white-space: normal; }
pre { white-space: pre-wrap; background: #f4f4f4; padding: 0.6em; font-size: 0.85em; }
@media print { nav { display: none; } h2 { break-after: avoid; } figure { break-inside: avoid; }
  body { margin: 0; font-size: 10pt; } .wide { overflow-x: visible; } td { white-space: normal; } }
"""


class Page:
    """Parts of a page, in order."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.parts: list[str | Callable[[], str]] = []
        self.sections: list[tuple[str, str]] = []

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

    def table(self, table: pd.DataFrame) -> None:
        if not len(table):
            return
        head = "".join(f"<th>{escape(str(name))}</th>" for name in table.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
            for row in table.values.tolist()
        )
        self.parts.append(f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>')

    def figure(self, title: str, text: str, png: Path) -> None:
        """The picture is read when the page is made: it may still be drawn."""
        files = ", ".join(
            f'<a href="{escape(png.with_suffix(s).name)}">{s[1:]}</a>'
            for s in (".png", ".pdf", ".csv")
        )

        def inside() -> str:
            data = base64.b64encode(png.read_bytes()).decode()
            return (
                f'<figure><img alt="{escape(title)}" src="data:image/png;base64,{data}">'
                f"<figcaption><b>{escape(title)}.</b> {escape(text)} ({files})</figcaption>"
                "</figure>"
            )

        self.parts.append(inside)

    def code(self, words: str) -> None:
        """Text as it is, in lines."""
        self.parts.append(f"<pre>{escape(words)}</pre>")

    def link(self, words: str, file: str) -> None:
        """To a file beside the page."""
        self.parts.append(f'<p><a href="{escape(file)}">{escape(words)}</a></p>')

    def fold(self, title: str, words: str) -> None:
        """Text that a click shows."""
        self.parts.append(
            f"<details><summary>{escape(title)}</summary><pre>{escape(words)}</pre></details>"
        )

    def html(self) -> str:
        links = "".join(f'<a href="#{anchor}">{escape(name)}</a>' for anchor, name in self.sections)
        body = "\n".join(part() if callable(part) else part for part in self.parts)
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f'<meta name="generator" content="{MARK}">'
            f"<title>{escape(self.title)}</title><style>{STYLE}</style></head><body>"
            f"<h1>{escape(self.title)}</h1><nav>{links}</nav>\n{body}\n"
            "</body></html>\n"
        )
