# SPDX-License-Identifier: BSD-2-Clause
"""Badges of the README say what is so."""

import re

import pytest

from program import QUORATE, REPOSITORY, output


def schemes():
    """How many there are; one that is another name of one does not count."""
    listed = re.findall(r"^[a-z].*(?:\n .*)*", output(QUORATE, "list", "schemes"), re.M)
    return str(sum("another name of" not in " ".join(text.split()) for text in listed))


FACTS = {
    "version": lambda: (REPOSITORY / "VERSION").read_text().strip(),
    "licence": lambda: (REPOSITORY / "LICENSE").read_text().split("\n")[0].removesuffix(" License"),
    "schemes": schemes,
}


@pytest.mark.parametrize("name", FACTS)
def test_a_badge_says_what_is_so(name):
    said, value = (REPOSITORY / "docs" / "badges" / f"{name}.svg").read_text(), FACTS[name]()
    # To readers of screens, in a tooltip, and drawn.
    for text in (f'label="{name}: {value}"', f"<title>{name}: {value}<", f">{name}<", f">{value}<"):
        assert text in said, f"write {value} into docs/badges/{name}.svg"


def test_the_readme_shows_the_badges_that_are_there():
    shown = re.findall(r"docs/badges/([\w.]+)", (REPOSITORY / "README.md").read_text())
    there = [path.name for path in (REPOSITORY / "docs" / "badges").iterdir()]
    assert sorted(shown) == sorted(there) == sorted(f"{name}.svg" for name in FACTS)
