# SPDX-License-Identifier: BSD-2-Clause
"""docs/papers.md has what docs/experiments.md says of each paper."""

import subprocess
import sys

import pytest

from program import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "jobs"))

from papers_page import papers_page  # noqa: E402

EXPERIMENTS = """## Overview

| claim |
| --- |
| none |

## Claims

### one

| claim | paper says | setting here | paper | ours (interval) | verdict |
| --- | --- | --- | --- | --- | --- |
| fast: time | fast (and \\| cheap) (They, 2020) | 4 workers | 2.00 | 1.50 (1.40 to 1.60) | partly |
| own: time | our own | - | - | 1.00 | holds |
| slow: time | fast (and \\| cheap) (They, 2020) | - | - | 1.50 | reproduced; all pairs are alike |

## Other seeds
"""


def test_the_page_is_that_of_the_experiments():
    script = REPOSITORY / "jobs/papers_page.py"
    made = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    page = (REPOSITORY / "docs/papers.md").read_text()
    assert made.stdout == page, "jobs/papers_page.py > docs/papers.md"


def test_a_paper_has_the_lines_of_its_claims():
    page = papers_page("# Of one\n\n@paper They, 2020@\n\n@none of these@\n", EXPERIMENTS)
    assert page.splitlines()[2:] == [
        "*They, 2020*: 1 of 2 claims are reproduced.",
        '`make claims ARGS="one"` judges them again.',
        "",
        "| claim | they say | setting here | paper | ours (interval) | verdict |",
        "| --- | --- | --- | --- | --- | --- |",
        "| [one](experiments.md#one) fast | fast (and \\| cheap) | 4 workers | 2.00 "
        "| 1.50 (1.40 to 1.60) | partly |",
        "| [one](experiments.md#one) slow | likewise | - | - | 1.50 "
        "| reproduced; all pairs are alike |",
        "",
        "@none of these@",
    ]


def test_a_paper_and_its_section_go_together():
    with pytest.raises(ValueError, match="has no section of They, 2020"):
        papers_page("# Of none\n", EXPERIMENTS)
    with pytest.raises(ValueError, match="no claims of Others"):
        papers_page("@paper They, 2020@\n@paper Others@\n", EXPERIMENTS)
