# SPDX-License-Identifier: BSD-2-Clause
"""Pages of reports: marked up for readers that hear them, and tried in a browser where it is."""

import html.parser
import re
import shutil

import pytest
from browser import TAB, browser
from quorate.analysis.groups import group, read_all
from quorate.analysis.spoken import spoken

pytestmark = pytest.mark.whole

PAGES = ("index.html", "appendix.html")
VOID = ("meta", "img", "br", "link")
SHOWN = {"light": (255, 255, 255), "dark": (22, 24, 27)}  # the background


@pytest.fixture(scope="module")
def folder(simulated, tmp_path_factory):
    """A report of several runs."""
    from quorate.analysis.report import Report

    out = tmp_path_factory.mktemp("report")
    names = ("uncoded-1", "uncoded-2", "frc-1", "diverged")
    Report(group(read_all([simulated[name] for name in names])), out).write()
    return out


class Elements(html.parser.HTMLParser):
    """Every element: its name, attributes, text, and the names of those around it."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)
        assert not self.open  # all that begins ends

    def handle_starttag(self, tag, attrs):
        one = {"tag": tag, "text": "", "in": [other["tag"] for other in self.open], **dict(attrs)}
        self.found.append(one)
        if tag not in VOID:
            self.open.append(one)

    def handle_data(self, data):
        for one in self.open:
            one["text"] += data

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag

    def of(self, tag):
        return [one for one in self.found if one["tag"] == tag]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_tells_its_structure(folder, name):
    page = Elements((folder / name).read_text())
    assert page.of("html")[0]["lang"] == "en" and page.of("title")[0]["text"]
    assert len(page.of("main")) == len(page.of("h1")) == 1
    assert page.of("nav")[0]["aria-label"]
    assert page.of("a")[0]["href"] == "#" + page.of("main")[0]["id"]  # to skip what is before it
    levels = [int(one["tag"][1]) for one in page.found if re.fullmatch("h[1-6]", one["tag"])]
    assert levels[0] == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:]))
    ids = [one["id"] for one in page.found if "id" in one]
    assert len(ids) == len(set(ids))
    for link in page.of("a"):
        assert link["text"] and (link["href"][1:] in ids or link["href"].startswith("data:"))


@pytest.mark.parametrize("name", PAGES)
def test_tables_have_captions_and_heads_and_what_scrolls_a_name(folder, name):
    page = Elements((folder / name).read_text())
    tables = page.of("table")
    assert tables and len(tables) == len(page.of("caption")) == len(page.of("thead"))
    assert all(one["text"] for one in page.of("caption"))
    for cell in page.of("th"):
        assert cell["scope"] == ("col" if "thead" in cell["in"] else "row") and cell["text"]
    captions = {one["id"] for one in page.of("caption")}
    for one in page.found:
        if "wide" in one.get("class", "").split():
            assert (one["role"], one["tabindex"]) == ("region", "0")
            assert one.get("aria-labelledby") in captions or one["aria-label"]
    assert all("div" in one["in"] for one in [*tables, *page.of("img")])


def test_a_figure_is_told_with_its_numbers(folder, simulated):
    page = Elements((folder / "index.html").read_text())
    told = [one["alt"] for one in page.of("img")]
    assert len(told) > 10 and all(re.search(r"\. .*\d", one) for one in told)
    assert max(map(len, told)) < 1500
    from quorate.analysis import compare

    groups = group(read_all([simulated[f"{s}-{i}"] for s in ("uncoded", "frc") for i in (1, 2)]))
    plot = compare.speedup_plot(groups)
    gain = f"{plot.numbers['speed-up per round'][1]:.3g}"
    words = f"frc: pairs 2, speed-up per round {gain}, low"
    first = "uncoded: pairs 2, speed-up per round 1, low 1"
    assert spoken(plot).startswith(f"Speed-up per round. {first}")
    assert words in spoken(plot)


@pytest.fixture(scope="module")
def window():
    if not shutil.which("chromedriver"):
        pytest.skip("there is no chromedriver: env/deps analysis-tests installs it")
    with browser() as started:
        yield started


@pytest.mark.parametrize("scheme", SHOWN)
@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_in_both_schemes(folder, window, name, width, scheme):
    window.show(folder / name, width, scheme)
    page = "document.documentElement"
    assert window.run(f"return {page}.scrollWidth <= {page}.clientWidth && innerWidth") == width
    colours = """
      const parts = (at, what) => getComputedStyle(at)[what].match(/\\d+/g).slice(0, 3).map(Number);
      return [[document.body, 'backgroundColor'],
        ...[...document.querySelectorAll('p, a, h1, h2, td, th, figcaption, caption')].map(
          at => [at, 'color'])].map(([at, what]) => parts(at, what).join());"""
    paper, *inks = [tuple(map(int, one.split(","))) for one in window.run(colours)]
    assert paper == SHOWN[scheme]
    assert min(contrast(ink, paper) for ink in set(inks)) >= 4.5  # WCAG 2, level AA
    cards = "return [...document.images].every(i => i.complete && i.naturalWidth > 0 &&"
    assert window.run(f"{cards} getComputedStyle(i).backgroundColor == 'rgb(255, 255, 255)')")


def test_what_is_wider_than_a_narrow_window_shows_that_it_scrolls(folder, window):
    window.show(folder / "index.html", 500)
    tables = """return [...document.querySelectorAll('.wide:has(table)')]
      .filter(at => at.scrollWidth > at.clientWidth).map(at => {
        at.scrollLeft = 1e6;
        const name = at.querySelector('tbody th').getBoundingClientRect();
        const box = at.getBoundingClientRect(), style = getComputedStyle(at);
        return [at.scrollLeft > 0, style.backgroundImage.includes('gradient'),
          at.offsetHeight - at.clientHeight >= 8, Math.abs(name.left - box.left) < 1,
          name.width < box.width / 2]; });"""
    found = window.run(tables)
    assert len(found) > 3 and all(all(one) for one in found)
    # Letters of figures of any width keep their size.
    scales = window.run("return [...document.images].map(i => i.clientWidth / i.naturalWidth)")
    assert min(scales) > 0.43


def contrast(one, other):
    """As WCAG 2 defines it."""

    def light(colour):
        parts = [value / 255 for value in colour]
        red, green, blue = [
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        ]
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_keyboard_goes_through_a_page(folder, window):
    window.show(folder / "index.html", 400)
    window.press(TAB)
    seen = """const at = document.activeElement, box = at.getBoundingClientRect();
      return [at.className, at.hash || '', box.left >= 0 && box.top >= 0,
        getComputedStyle(at).outlineStyle != 'none'];"""
    assert window.run(seen) == ["skip", "#main", True, True]
    for anchor in ("#s1", "#s2"):
        window.press(TAB)
        assert window.run(seen)[1:] == [anchor, True, True]
    window.run("document.querySelector('.skip').focus(); document.querySelector('.skip').click()")
    assert window.run("return document.activeElement.id") == "main"
    window.press(TAB)
    first = "return document.activeElement == document.querySelector('main .wide')"
    assert window.run(first)
    assert window.run(seen)[3]
    window.press("\ue014")  # the right arrow scrolls the table
    moved = """const [done] = arguments, at = document.activeElement, end = Date.now() + 20000;
      const look = () => at.scrollLeft > 0 || Date.now() > end ? done(at.scrollLeft > 0)
        : setTimeout(look, 20); look();"""
    assert window.post("/execute/async", {"script": moved, "args": []})
