# SPDX-License-Identifier: BSD-2-Clause
"""quorate analysis claims: its options, and what it prints."""

import argparse
from typing import Any

from . import claim_tables, claims
from .refine import check_program, refine_option
from .tables import text
from .traces import BadInput


def run_claims(given: argparse.Namespace) -> int:
    """1: a verdict is not that of the page."""
    check_program(given.refine)
    page = claim_tables.verdicts_on(given.verdicts) if given.verdicts else {}
    for folder in given.folders if given.refine else []:
        claims.refine(folder, given.refine)
    again = claims.read_folders(given.again)
    found = claims.read_folders(given.folders)
    if again and (given.json or given.overview or given.papers):
        raise BadInput(
            "--again has no --json, --overview and --papers: leave them out, or say --markdown"
        )
    if given.verdicts:
        differ = claim_tables.changed(found, page)
        print("\n".join(differ) or f"all {len(found)} verdicts are those of {given.verdicts}")
        return 1 if differ else 0
    if again:
        words = claim_tables.again_as_markdown(found, again)
        print(words if given.markdown else text(claim_tables.again(found, again)))
    elif given.json:
        print(claim_tables.as_json(found))
    elif given.overview:
        print(claim_tables.as_overview(found))
    elif given.papers:
        print(claim_tables.as_papers(found))
    else:
        tables = claim_tables.as_markdown if given.markdown else claim_tables.as_text
        print(tables(found))
    return 0


def add_claims(commands: Any) -> None:
    new = commands.add_parser(
        "claims",
        help="what an experiment says of its schemes, and whether it is so",
        description="The claims of experiments (sections [claim NAME]), judged from their traces.",
    )
    new.set_defaults(run=run_claims)
    new.add_argument("folders", nargs="+", metavar="FOLDER", help="of a manifest and its traces")
    new.add_argument(
        "--again",
        nargs="+",
        default=[],
        metavar="FOLDER",
        help="the same with other seeds: verdicts",
    )
    refine_option(new)
    form = new.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="with the settings there and here")
    form.add_argument("--overview", action="store_true", help="those of papers in one table")
    form.add_argument("--papers", action="store_true", help="a line for each paper")
    form.add_argument(
        "--verdicts", metavar="PAGE", help="which verdicts are not those of docs/experiments.md"
    )
    form.add_argument("--json", action="store_true", help="all numbers")
