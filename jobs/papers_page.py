#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints docs/papers.md: jobs/papers.md.in with the verdicts of docs/experiments.md in place of its
lines @paper NAME@. make claims calls it when it has written that page.
"""

import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ["claim", "they say", "setting here", "paper", "ours (interval)", "verdict"]


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def claims_of(page):
    """By paper the claims of its sections "### EXPERIMENT", each as its experiment and the cells of
    its line by column."""
    found = {}
    sections = page.partition("\n## Claims\n")[2].partition("\n## ")[0]
    for section in sections.split("\n### ")[1:]:
        experiment = section.splitlines()[0]
        table = [line for line in section.splitlines() if line.startswith("| ")]
        columns = cells(table[0])
        for line in table[2:]:
            claim = dict(zip(columns, cells(line), strict=True))
            says, _, paper = claim["paper says"].rpartition(" (")
            if says:
                claim["they say"] = says
                found.setdefault(paper.removesuffix(")"), []).append((experiment, claim))
    return found


def verdicts(paper, claims):
    good = sum(claim["verdict"].startswith("reproduced") for _, claim in claims)
    experiments = " ".join(dict.fromkeys(experiment for experiment, _ in claims))
    lines = [
        f"*{paper}*: {good} of {len(claims)} claims are reproduced.",
        f'`make claims ARGS="{experiments}"` judges them again.',
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{' --- |' * len(COLUMNS)}",
    ]
    said = ""
    for experiment, claim in claims:
        name = claim["claim"].partition(":")[0]
        row = [f"[{experiment}](experiments.md#{experiment}) {name}"]
        row += [claim[one] for one in COLUMNS[1:]]
        if row[1] == said:
            row[1] = "likewise"
        else:
            said = row[1]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def papers_page(template, experiments):
    """Raises ValueError of papers without claims, and of those without a section."""
    claims = claims_of(experiments)
    place = re.compile("^@paper (.*)@$", re.M)
    if missing := set(place.findall(template)) - set(claims):
        raise ValueError(f"docs/experiments.md has no claims of {', '.join(sorted(missing))}")
    page = place.sub(lambda at: verdicts(at[1], claims.pop(at[1])), template)
    if claims:
        raise ValueError(f"jobs/papers.md.in has no section of {', '.join(claims)}")
    return page


if __name__ == "__main__":
    pages = [REPOSITORY / "jobs/papers.md.in", REPOSITORY / "docs/experiments.md"]
    try:
        sys.stdout.write(papers_page(*(page.read_text(encoding="utf-8") for page in pages)))
    except ValueError as error:
        sys.exit(f"jobs/papers_page.py: {error}")
