# SPDX-License-Identifier: BSD-2-Clause
"""env/prose-lint finds what readers stumble over, and nothing in code and tables."""

import os
import subprocess
import sys

import pytest

from program import REPOSITORY

if not os.environ.get("CI"):  # which installs it
    pytest.importorskip("markdown_it")

CLEAN = """<!-- SPDX-License-Identifier: BSD-2-Clause -->
# A heading is no sentence, anew

A round waits only for as many answers as its code needs. See [a page](https://example.org/a/b) for
`quorate run --data visits.h5 --scheme agc --stragglers 1 --collect 4 --delay exponential:0.02`, and
`a b c d e f g h i j k l m n o p q r s t u v w x y z`, which counts as one word each.

    code = "whatever is one word too many belongs in a file, anew"

```sh
echo whatever is one word too many belongs in a file, anew
```

| a table | whose cells are whatever is one word too many, anew |
|---|---|

<!-- not run: a comment anew -->
"""

BAD = {
    "A " + " ".join(["word"] * 35) + ".": "has 36 words",
    " ".join(["longer"] * 18) + ".": "columns: at most 120",
    "A round never waits longer than the chosen code requires.": "waits only for",
    "An import that is worth repeating belongs in a file.": "save ... in a file",
    "Options on the command line go first.": "overrides",
    "X is one word too many.": "unexpected",
    "Slow is who is among the last S of a round.": "a worker is",
    "A run that was slowed on purpose: measure without, and give them here.": "what is wrong",
    "Who never gets to a target takes infinitely long.": "the subject: a worker",
    "That nothing more can come is seen when all have answered.": "the program sees",
    "Of several files those that are no traces are left out.": "subject first",
    "Shown is the median.": "the table shows",
    "The code is made anew.": "'anew': write again",
}


def lint(folder, text):
    page = folder / "page.md"
    page.write_text(text)
    command = [sys.executable, REPOSITORY / "env/prose-lint", page]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_clean_page_is_clean(tmp_path):
    done = lint(tmp_path, CLEAN)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(("sentence", "says"), BAD.items())
def test_a_bad_sentence_is_found_in_text_and_lists(sentence, says, tmp_path):
    for text in (f"Good. {sentence}\n", f"* {sentence}\n", f"Lead:\n\n1. {sentence}\n"):
        done = lint(tmp_path, text)
        assert done.returncode == 1
        assert says in done.stdout and "page.md:" in done.stdout


def test_a_sentence_may_go_over_lines(tmp_path):
    done = lint(tmp_path, "# A\n\n" + "\n".join(["one two three four"] * 10) + ".\n")
    assert "page.md:3: 'one two three four one two ...' has 40 words" in done.stdout


def test_a_page_that_is_not_there_is_named(tmp_path):
    command = [sys.executable, REPOSITORY / "env/prose-lint", tmp_path / "none.md"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "none.md" in done.stderr


def test_a_line_break_parts_words(tmp_path):
    done = lint(tmp_path, "# A\n\n" + "one two three four\\\n" * 10 + "five.\n")
    assert "page.md:3: 'one two three four one two ...' has 41 words" in done.stdout


def test_a_python_without_markdown_it_says_what_to_install(tmp_path):
    command = [sys.executable, "-I", "-S", REPOSITORY / "env/prose-lint", tmp_path / "none.md"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.endswith("install python3-markdown-it\n")
