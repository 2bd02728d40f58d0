# SPDX-License-Identifier: BSD-2-Clause
"""The page of what came from where names commands, options, schemes and targets that there are."""

import re
import shlex
from functools import cache

import pytest
from program import REPOSITORY, call

PAGE = (REPOSITORY / "docs" / "origins.md").read_text()
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "| what they" not in line]
COMMANDS = sorted({span for row in ROWS for span in re.findall(r"`((?:quorate|make) [^`]*)`", row)})
KINDS = {"scheme": "schemes", "optimizer": "optimizers", "delay": "delays", "model": "models"}


def told(*words):
    done = call(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def names(kind):
    return set(re.findall(r"^([a-z][a-z0-9-]*)", told("list", kind), re.MULTILINE))


def options_of(words):
    """What a command takes: of a scheme also what that has."""
    if words[0] in ("analysis", "hosts"):
        return told(*words[:2], "--help")
    text = told(words[0], "--help=all")
    if "--scheme" in words:
        text += told(words[0], "--scheme", words[words.index("--scheme") + 1], "--help")
    return text


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_is_there(command):
    program, *words = shlex.split(command)
    if program == "make":
        target, *arguments = words
        makefile = (REPOSITORY / "Makefile").read_text()
        verb, _, experiment = target.partition("-")
        if verb in ("run", "simulate"):
            assert (REPOSITORY / "jobs" / f"{experiment}.ini").is_file()
        else:
            assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), target
        for word in arguments:
            assert (REPOSITORY / "jobs" / f"{word.removeprefix('ARGS=')}.ini").is_file(), word
        return
    known = options_of(words)
    for at, word in enumerate(words):
        if not word.startswith("--"):
            continue
        assert re.search(rf"^\s+{re.escape(word)}\b", known, re.MULTILINE), word
        if kind := KINDS.get(word.removeprefix("--")):
            assert words[at + 1].split(":")[0] in names(kind), words[at + 1]
    for option in ("--delay", "--downlink-delay"):
        if option in words:
            assert words[words.index(option) + 1].split(":")[0] in names("delays")


def test_each_row_says_what_came_of_it():
    assert len(ROWS) > 40
    for row in ROWS:
        *_, verdict, _ = row.split(" |") if row.endswith("|") else row.split("|")
        assert re.match(r" ?(yes|in part|no|PyTorch)", verdict), row
