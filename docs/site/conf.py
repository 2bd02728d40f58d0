# SPDX-License-Identifier: BSD-2-Clause
"""Sphinx's settings of `make docs`; docs/site/stage has made the folder of sources."""

import os
import re
import sys

sys.path.insert(0, os.environ["QUORATE_PACKAGE"])

project = "Quorate"
author = "The Quorate developers"
copyright = author  # Sphinx's name
version = release = os.environ["QUORATE_VERSION"]
language = "en_GB"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
autodoc_member_order = "bysource"
highlight_language = "none"  # of blocks that do not say theirs

html_theme = "furo"
html_title = f"Quorate {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False


def plain(app, what, name, obj, options, lines):
    """Docstrings are text, with lists of `option: ARGUMENT` and its words: nothing is markup."""
    text = [re.sub(r"([\\\\*`|_])", r"\\\1", line) for line in lines]
    lines.clear()
    for line, following in zip(text, [*text[1:], ""]):
        lines.append(line)
        depth, after = (len(one) - len(one.lstrip()) for one in (line, following))
        term, next_term = (re.fullmatch(r"\s*[\w\\]+: \S+", one) for one in (line, following))
        if line.strip() and following.strip() and not term and (depth != after or next_term):
            lines.append("")


def setup(app):
    app.connect("autodoc-process-docstring", plain)
