# SPDX-License-Identifier: BSD-2-Clause
"""jobs/residual.py: the residual network of the experiment residual-cifar10, at a tiny size."""

import lzma
import subprocess
import sys

import numpy as np
import pytest

from program import PACKAGE, QUORATE, REPOSITORY, TIMEOUT, call, environment

pytestmark = pytest.mark.whole

JOBS = REPOSITORY / "jobs"


@pytest.fixture
def raw(tmp_path):
    """A folder of raw data: ten dark and ten bright images, which a few steps tell apart."""
    labels = np.arange(20) % 10
    pixels = np.random.default_rng(1).integers(0, 256, (20, 3072)) * (labels < 5)[:, None]
    records = np.column_stack([labels, pixels]).astype(np.uint8)
    (tmp_path / "cifar10").mkdir()
    with lzma.open(tmp_path / "cifar10" / "cifar10_train_first4000.bin.xz", "wb") as file:
        file.write(records.tobytes())
    return tmp_path


def test_the_experiment_is_scripted_and_a_run_of_it_trains(raw, tmp_path):
    pytest.importorskip("torch")
    numbers = tmp_path / "numbers.h5"
    made = ["--model", "samples", "--rows", 16, "--test-rows", 4]
    assert call("generate", *made, "--output", numbers).returncode == 0
    words = ["script", "--experiment", JOBS / "residual-cifar10.ini", "--command", "simulate"]
    words += ["--cluster", "local", "--data", numbers, "--data-folder", raw]
    words += ["--output", tmp_path / "out"]
    env = environment({"PYTHONPATH": PACKAGE, "QUORATE_DATA": str(raw)})

    def module(*words, cwd=None):
        return subprocess.run(
            [sys.executable, "-m", "quorate", *map(str, words)],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            env=env,
        )

    done = module(*words)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "claims.json").is_file()
    row = ["simulate", "--manifest", "manifest.tsv", "--row", 1, "--rounds", 4]
    more = ["--batch", 16, "--evaluate-every", 1, "--checkpoint", "", "--trace", tmp_path / "a.h5"]
    done = module(*row, *more, cwd=tmp_path / "out")
    assert done.returncode == 0, done.stderr
    import h5py

    with h5py.File(tmp_path / "a.h5") as file:
        losses = file["evaluation/train_loss"][:]
        assert len(file["model/final"]) == 9866 + 2 * 2 * (8 + 16) + 1
    assert losses[-1] < losses[0]


def test_what_is_missing_is_said_in_one_line(tmp_path):
    env = environment({"B": str(tmp_path), "PYTHON": sys.executable})
    words = [JOBS / "quorate-python", "--for", "residual-cifar10"]
    done = subprocess.run(words, capture_output=True, text=True, env=env | {"LANG": "C"})
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "the Python module (make python)" in done.stderr
    done = subprocess.run(
        [JOBS / "claims", "residual-cifar10"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        env=env | {"QUORATE": QUORATE},
    )
    assert (
        done.returncode == 2
        and "jobs/claims: left out: jobs/residual-cifar10.ini needs" in done.stderr
    )
