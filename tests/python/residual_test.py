# SPDX-License-Identifier: BSD-2-Clause
"""jobs/residual.py: the residual network of the experiment residual-cifar10, at a tiny size."""

import subprocess
import sys

import numpy as np
import pytest

from program import PACKAGE, QUORATE, REPOSITORY, TIMEOUT, call, environment

pytestmark = pytest.mark.whole

JOBS = REPOSITORY / "jobs"


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Ten dark and ten bright images, which differ so much that a few steps tell."""
    folder = tmp_path_factory.mktemp("images")
    noise = np.random.default_rng(1).random((20, 3, 32, 32))
    labels = np.arange(20) % 10
    np.savez(folder / "tiny.npz", X=noise * (labels < 5)[:, None, None, None], y=labels)
    done = call(
        *("import", "--input", folder / "tiny.npz", "--task", "multiclass"),
        *("--output", folder / "tiny.h5"),
    )
    assert done.returncode == 0, done.stderr
    return folder / "tiny.h5"


def test_the_experiment_is_scripted_and_a_run_of_it_trains(images, tmp_path):
    pytest.importorskip("torch")
    words = ["script", "--experiment", JOBS / "residual-cifar10.ini", "--command", "simulate"]
    words += ["--cluster", "local", "--data", images, "--data-folder", tmp_path]
    words += ["--output", tmp_path / "out"]
    env = environment({"PYTHONPATH": PACKAGE})

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
        assert len(file["model/final"]) == 9866
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
