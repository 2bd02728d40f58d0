# SPDX-License-Identifier: BSD-2-Clause
"""What PETSc's own options show of a run: the matrices that hold its rows, and its work."""

import re

import pytest

from program import call

WORDS = ["--scheme", "uncoded", "--rounds", 3, "--quiet", "--overwrite"]


def shown(options, data, tmp_path, ranks=None):
    """What a simulation, or a run of some ranks, prints with these options of PETSc."""
    how = ["run"] if ranks else ["simulate", "--workers", 2]
    words = ["--data", data, "--trace", tmp_path / "t.h5", *WORDS]
    done = call(*how, *words, ranks=ranks, env={"PETSC_OPTIONS": options})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def rows(tmp_path):
    """Rows of each kind, by the type of their matrix."""
    files = {}
    for kind, text in {"ones": "1 1:1 3:1\n-1 2:1\n", "seqaij": "1 1:5 3:6\n-1 2:7\n"}.items():
        (tmp_path / "x").write_text(text)
        files[kind] = tmp_path / f"{kind}.h5"
        words = ["--input", tmp_path / "x", "--storage", "sparse", "--output", files[kind]]
        assert call("import", *words).returncode == 0
    (tmp_path / "x").write_text("y,a,b,c\n1,1,2,3\n-1,4,5,6\n")
    files["transpose"] = tmp_path / "dense.h5"
    words = ["--input", tmp_path / "x", "--label", "y", "--output", files["transpose"]]
    assert call("import", *words).returncode == 0
    return files


def test_mat_view_shows_the_rows(rows, tmp_path):
    for kind, entries in {
        "ones": ["(0, 1.)  (1, 1.)", "(0, 1.)"],
        "seqaij": ["(0, 5.)  (1, 6.)", "(0, 7.)"],
        "transpose": ["1.0000000000000000e+00 2.0000000000000000e+00 3.0000000000000000e+00"],
    }.items():
        printed = shown("-mat_view", rows[kind], tmp_path)
        assert f"type: {kind}" in printed
        for entry in entries:
            assert entry in printed
        short = shown("-mat_view ::ascii_info", rows[kind], tmp_path)
        assert re.search(r"rows=[12], cols=[123]", short) and entries[0] not in short


def test_log_view_counts_gradients_and_scores(rows, tmp_path):
    printed = shown("-log_view", rows["ones"], tmp_path)
    # A gradient of each worker and round.
    assert re.search(r"^QuorateGradient +6 ", printed, re.MULTILINE), printed
    assert re.search(r"^QuorateScore +\d", printed, re.MULTILINE)


def test_each_rank_shows_its_own(rows, tmp_path):
    log = tmp_path / "log"
    printed = shown(f"-log_view :{log}", rows["ones"], tmp_path, ranks=3)
    assert "Performance Summary" not in printed
    assert not log.exists()
    for rank in range(3):
        text = (tmp_path / f"log.{rank}").read_text()
        assert ("QuorateGradient" in text) == (rank > 0)
