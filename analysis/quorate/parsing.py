# SPDX-License-Identifier: BSD-2-Clause
"""Command lines of the programs in Python: `quorate analysis` and `quorate hosts`."""

import argparse
import difflib
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    commands: Mapping[str, "Parser"]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def unknown_option(top: Parser, words: Sequence[str]) -> str:
    """What is wrong with an option that the command does not have: argparse would miss others.
    Empty if all are known."""
    name = words[0] if words else ""
    if name not in top.commands:
        return ""
    command = top.commands[name]
    known = list(command._option_string_actions)
    for word in words[1:]:
        option = word.partition("=")[0]
        if option.startswith("--") and option not in known:
            near = difflib.get_close_matches(option[2:], [one.lstrip("-") for one in known], 1)
            meant = f"did you mean --{near[0]}?" if near else f"see {command.prog} --help"
            return f"{name} has no option {option}; {meant}"
    return ""
