# SPDX-License-Identifier: BSD-2-Clause
"""docs/experiments.md has what the files of jobs/ say now: each experiment and each claim."""

import re

import pytest

from program import REPOSITORY

PAGE = (REPOSITORY / "docs" / "experiments.md").read_text()
FILES = sorted((REPOSITORY / "jobs").glob("*.ini"))
REMEDY = "make claims writes docs/experiments.md anew"


def lines_of(section):
    return dict(re.findall(r"^([a-z-]+) *= *(.*?) *$", section, re.M))


def claims_of(path):
    """Names and lines of an experiment's claims, as far as simulations judge them."""
    text = path.read_text()
    if re.search(r"^commands *= *run *$", text, re.M):
        return []
    parts = re.split(r"^\[(.*?)\] *$", text, flags=re.M)
    sections = zip(parts[1::2], parts[2::2], strict=True)
    return [(name[6:], lines_of(text)) for name, text in sections if name.startswith("claim ")]


CLAIMS = [(path.stem, name, lines) for path in FILES for name, lines in claims_of(path)]


def section_of(experiment):
    found = re.search(rf"^### {experiment}$(.*?)(?=^##|\Z)", PAGE, re.M | re.S)
    return found[1] if found else ""


def escaped(words):
    """As a cell of a table has them."""
    return words.replace("|", r"\|")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_page_has_every_experiment_with_its_summary(path):
    summary = re.search(r"^summary *= *(.*?) *$", path.read_text(), re.M)[1]
    listed = " ".join(PAGE.split("```")[1].split())
    assert f"{path.stem} {summary} [" in listed, REMEDY
    if claims_of(path):
        assert f"\n\n{summary}\n\n" in section_of(path.stem), REMEDY


@pytest.mark.parametrize("experiment, name, lines", CLAIMS, ids=lambda word: str(word)[:30])
def test_the_page_has_every_claim_as_it_is_now(experiment, name, lines):
    rows = [row for row in section_of(experiment).splitlines() if row.startswith(f"| {name}: ")]
    assert len(rows) == 1, REMEDY
    for line in ("measure", "where", "says", "source", "there", "here"):
        assert escaped(lines.get(line, "")) in rows[0], f"{line}: {REMEDY}"
    if "source" in lines:
        assert f"| [{experiment}](#{experiment}) | {name} | " in PAGE, f"overview: {REMEDY}"


def test_the_page_has_no_claim_that_is_no_more():
    shown = re.findall(r"^### (.*?)$(.*?)(?=^##|\Z)", PAGE, re.M | re.S)
    rows = {(title, row) for title, text in shown for row in re.findall(r"^\| (\S+): ", text, re.M)}
    assert rows == {(experiment, name) for experiment, name, _ in CLAIMS}, REMEDY
