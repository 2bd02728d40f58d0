# SPDX-License-Identifier: BSD-2-Clause
"""Badges say what is so: they are what env/badges draws from this tree and this program."""

import re

from program import QUORATE, REPOSITORY, output

BADGES = REPOSITORY / "docs" / "badges"


def test_badges_are_what_their_command_draws(tmp_path):
    output(REPOSITORY / "env/badges", QUORATE, tmp_path)
    drawn = {path.name: path.read_text() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text() for path in BADGES.iterdir()}
    assert kept == drawn, "draw them again: env/badges build/quorate"
    assert (REPOSITORY / "VERSION").read_text().strip() in kept["version.svg"]
    shown = re.findall(r"docs/badges/([\w.]+)", (REPOSITORY / "README.md").read_text())
    assert sorted(shown) == sorted(kept)
