# SPDX-License-Identifier: BSD-2-Clause
"""What `make docs` builds: all pages and references, whose links hold and which need no network."""

import html.parser
import os
import re
import urllib.parse

import pytest

from program import REPOSITORY, output

pytestmark = pytest.mark.whole

SITE = REPOSITORY / os.environ.get("B", "build") / "docs"


class Page(html.parser.HTMLParser):
    """What a page loads, what it links to, and its anchors."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.links, self.anchors = [], [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors |= {attributes.get("id"), attributes.get("name")}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag in ("script", "img", "iframe"):
            self.loads.append(attributes.get("src"))
        elif tag == "link" and attributes.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(attributes["href"])


@pytest.fixture(scope="module")
def pages():
    """Pages of the site, those of Doxygen too."""
    # The tests may have been started by make.
    fresh = "env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS".split()
    output(*fresh, "make", f"MPI={os.environ.get('MPI', 'mpich')}", "docs", cwd=REPOSITORY)
    return {path: Page(path) for path in SITE.rglob("*.html")}


def test_the_site_has_all_pages_and_references(pages):
    names = {str(path.relative_to(SITE)) for path in pages}
    for page in REPOSITORY.glob("docs/*.md"):
        assert f"docs/{page.stem}.html" in names
    assert {"index.html", "search.html", "reference/python.html"} <= names
    options = (SITE / "reference" / "commands" / "run.html").read_text()
    assert "on-divergence" in options and "stop|warn|ignore" in options
    assert 'id="quorate.simulate"' in (SITE / "reference" / "python.html").read_text()
    assert "SynchronousScheme" in (SITE / "cpp" / "annotated.html").read_text()
    figures = re.findall(r"^!\[", (REPOSITORY / "docs" / "gallery.md").read_text(), re.M)
    shown = re.findall("_images/", (SITE / "docs" / "gallery.html").read_text())
    assert len(shown) >= 2 * len(figures) > 20  # each small, too
    assert "straggler" in (SITE / "searchindex.js").read_text()


def test_its_links_lead_somewhere_and_it_loads_nothing_from_elsewhere(pages):
    wrong = []
    for path, page in pages.items():
        for load in filter(None, page.loads):
            if urllib.parse.urlparse(load).netloc:
                wrong.append(f"{path} loads {load}")
        for link in {*page.links, *filter(None, page.loads)}:
            parts = urllib.parse.urlparse(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            target = (
                (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            )
            if not target.exists():
                wrong.append(f"{path} links to {link}")
            elif parts.fragment and target in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                    wrong.append(f"{path} links to {link}, which has no such place")
    assert not wrong, "\n".join(wrong[:30])


def test_links_of_the_cpp_reference_lead_to_files(pages):
    wrong, found = [], 0
    for path in (SITE / "cpp").rglob("*.html"):
        for link in {*re.findall(r'(?:href|src)="([^"#]+)', path.read_text())}:
            parts = urllib.parse.urlparse(link)
            if parts.scheme or parts.netloc:
                continue
            found += 1
            if not (path.parent / urllib.parse.unquote(parts.path)).exists():
                wrong.append(f"{path} links to {link}")
    assert found > 1000 and not wrong, "\n".join(wrong[:30])
