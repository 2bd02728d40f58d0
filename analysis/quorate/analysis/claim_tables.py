# SPDX-License-Identifier: BSD-2-Clause
"""Claims as tables: for a terminal, for docs/experiments.md, and beside what stands there."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from .claims import HOLDS, NOT, NOT_COMPARABLE, NOT_KNOWN, NOT_RUN, PARTLY, REPRODUCED, TOO_FEW
from .claims import Claim, Side
from .tables import markdown, text
from .traces import BadInput

VERDICTS = (REPRODUCED, HOLDS, PARTLY, NOT, NOT_COMPARABLE, NOT_KNOWN, TOO_FEW, NOT_RUN)


def by_experiment(claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        found.setdefault(claim.experiment, []).append(claim)
    return found


def as_text(claims: Sequence[Claim]) -> str:
    """A table for each experiment, and below it what is measured, and why the verdict is so."""
    parts = []
    for experiment, some in by_experiment(claims).items():
        lines = [text(pd.DataFrame([{experiment: one.name, **one.result()} for one in some]))]
        for one in some:
            lines += [f"  {one.name}: {one.question}", f"    {one.paper_words}; {one.reason}"]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def as_markdown(claims: Sequence[Claim]) -> str:
    """A section for each experiment, with the settings there and here."""
    parts = []
    for experiment, some in by_experiment(claims).items():
        rows = [
            {
                "claim": f"{one.name}: {one.question}",
                "paper says": one.paper_words,
                "setting there": one.words["there"] or "-",
                "setting here": one.setting or "-",
                **one.result(),
                "reason": one.reason,
            }
            for one in some
        ]
        parts.append(f"### {experiment}\n\n{some[0].summary}\n\n{markdown(pd.DataFrame(rows))}")
    return "\n\n".join(parts)


def counted(claims: Sequence[Claim], title: str) -> str:
    """How many there are, and of each verdict how many."""
    verdicts = [one.verdict[0] for one in claims]
    some = ", ".join(f"{one} {verdicts.count(one)}" for one in VERDICTS if one in verdicts)
    return f"{title}: {len(claims)}; {some}."


def as_overview(claims: Sequence[Claim]) -> str:
    """What papers say and what came of it, in one table, with links to the sections of as_markdown;
    of our own claims the number."""
    theirs = [one for one in claims if one.words["source"]]
    own = [one for one in claims if not one.words["source"]]
    rows = [
        {
            "experiment": linked(one.experiment),
            "claim": one.name,
            "paper says": one.paper_words,
            "paper": one.paper_number,
            "ours (interval)": one.ours,
            "verdict": "; ".join(filter(None, [one.verdict[0], one.alike])),
        }
        for one in theirs
    ]
    parts = [counted(theirs, "Claims of papers"), markdown(pd.DataFrame(rows))] if theirs else []
    return "\n\n".join(parts + ([counted(own, "Claims of our own")] if own else []))


def linked(experiment: str) -> str:
    return f"[{experiment}](#{experiment})"


def as_papers(claims: Sequence[Claim]) -> str:
    """A line for each paper: how many of its claims have which verdict, and which are not
    reproduced."""
    by_paper: dict[str, list[Claim]] = {}
    for one in claims:
        if one.words["source"]:
            by_paper.setdefault(one.words["source"], []).append(one)
    rows = []
    for paper in sorted(by_paper):
        some = by_paper[paper]
        verdicts = [one.verdict[0] for one in some]
        others = [f"{one.name} ({one.verdict[0]})" for one in some if one.verdict[0] != REPRODUCED]
        rows.append(
            {
                "paper": paper,
                "experiments": ", ".join(map(linked, by_experiment(some))),
                "claims": str(len(some)),
                "reproduced": str(verdicts.count(REPRODUCED)),
                "the others": ", ".join(others) or "-",
            }
        )
    return markdown(pd.DataFrame(rows))


def verdicts_on(page: str) -> dict[tuple[str, str], str]:
    """The verdicts that a page has in the sections of as_markdown, by experiment and claim. Raises
    BadInput if there are none."""
    try:
        lines = Path(page).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInput(
            f"{page} cannot be read: {error.strerror}; give a page that 'make claims' wrote"
        ) from error
    found: dict[tuple[str, str], str] = {}
    experiment, columns = "", [""]
    for line in lines:
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if line.startswith("## "):  # a table below it is of several experiments
            experiment, columns = "", [""]
        elif line.startswith("### "):
            experiment, columns = line[4:].strip(), [""]
        elif line.startswith("| claim |") and experiment:
            columns = cells
        elif line.startswith("| ") and "verdict" in columns and len(cells) == len(columns):
            name = cells[columns.index("claim")].partition(":")[0]
            if name.strip("- "):
                found[experiment, name] = cells[columns.index("verdict")]
    if not found:
        raise BadInput(f"{page} has no claims: give a page that 'make claims' wrote")
    return found


def changed(claims: Sequence[Claim], known: Mapping[tuple[str, str], str]) -> list[str]:
    """A line for each claim that is run and whose verdict is not the one known, of verdicts_on(),
    or that is not known."""
    return [
        f"{one.experiment} {one.name}: {one.verdict[0]}, the page says "
        f"{known.get((one.experiment, one.name), 'nothing of it')}"
        for one in claims
        if one.verdict[0] not in (NOT_RUN, known.get((one.experiment, one.name)))
    ]


def as_json(claims: Sequence[Claim]) -> str:
    """All numbers; those that are infinite or none are null."""

    def finite(value: float) -> float | None:
        return value if isfinite(value) else None

    def side(one: Side) -> dict[str, Any]:
        costs = {pair: finite(cost) for pair, cost in one.costs.items()}
        return {"options": one.options, "best": one.best, "measured": costs}

    found = []
    for claim in claims:
        median, low, high = map(finite, claim.interval)
        kept = ("paper", "says", "source", "there", "here", "measure", "where")
        found.append(
            {
                "experiment": claim.experiment,
                "claim": claim.name,
                **{name: claim.words[name] for name in kept},
                "of": side(claim.of),
                "beside": side(claim.beside),
                "ratio": {"median": median, "low": low, "high": high, "pairs": len(claim.ratios)},
                "verdict": claim.verdict[0],
                "reason": claim.reason,
            }
        )
    return json.dumps(found, indent=2)


def twice(claims: Sequence[Claim], others: Sequence[Claim]) -> list[tuple[Claim, Claim]]:
    """Claims that are judged from two sets of runs. Raises BadInput if there are none."""
    theirs = {(claim.experiment, claim.name): claim for claim in others}
    found = [(one, theirs.get((one.experiment, one.name))) for one in claims]
    pairs = [(one, other) for one, other in found if other is not None]
    if not pairs:
        raise BadInput(
            "--again: the folders have no claims in common: give those of the same experiments"
        )
    return pairs


def again(claims: Sequence[Claim], others: Sequence[Claim]) -> pd.DataFrame:
    """The verdicts beside those of the same claims with other runs."""
    rows = [
        {
            "claim": f"{one.experiment} {one.name}",
            "ours": one.ours,
            "verdict": one.verdict[0],
            "others": other.ours,
            "their verdict": other.verdict[0],
            "": "same" if one.verdict[0] == other.verdict[0] else "DIFFERS",
        }
        for one, other in twice(claims, others)
    ]
    return pd.DataFrame(rows)


def again_as_markdown(claims: Sequence[Claim], others: Sequence[Claim]) -> str:
    """How many verdicts are the same with other runs, and which are not. Claims whose other runs
    are not complete are left out.
    """
    pairs = [pair for pair in twice(claims, others) if pair[1].verdict[0] != NOT_RUN]
    changed = [pair for pair in pairs if pair[0].verdict[0] != pair[1].verdict[0]]
    same = f"Of {len(pairs)} claims {len(pairs) - len(changed)} have the same verdict"
    if not changed:
        return f"{same}."
    rows = [
        {
            "claim": f"{linked(one.experiment)} {one.name}",
            "ours (interval)": one.ours,
            "verdict": one.verdict[0],
            "with other seeds": other.ours,
            "verdict then": other.verdict[0],
        }
        for one, other in changed
    ]
    return f"{same}. These differ:\n\n{markdown(pd.DataFrame(rows))}"
