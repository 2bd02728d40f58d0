# SPDX-License-Identifier: BSD-2-Clause
"""Lines `name = value` as Quorate writes them (src/base/ini.hpp)."""

import re

_ESCAPES = {"n": "\n", "r": "\r", '"': '"', "\\": "\\"}
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\nr]|\\(?!["\\nr]))*)"')


def unquoted(value: str) -> str:
    """What stands between the quotes around a value; a value without them as it is."""
    found = _QUOTED.fullmatch(value)
    if found is None:
        return value
    return re.sub(r'\\(["\\nr])', lambda escape: _ESCAPES[escape[1]], found[1])


def ini_text(value: str) -> str:
    """A value as a line holds it: in quotes where blanks, line breaks or quotes would be lost."""
    if value == value.strip(" \t\r\n") == unquoted(value) and not re.search(r"[\n\r]", value):
        return value
    escaped = re.sub(r'(["\\])', r"\\\1", value)
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r") + '"'


def options_in(config: str) -> dict[str, str]:
    """The options by name that a run has recorded."""
    pairs = (line.partition(" = ") for line in config.split("\n"))
    return {name.strip(): unquoted(value) for name, found, value in pairs if found}
