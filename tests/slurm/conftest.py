# SPDX-License-Identifier: BSD-2-Clause
"""What the tests under SLURM need."""

import os
import re
import shutil

import pytest

from cluster import OPEN_MPI_LAUNCHER, RUN, model_of
from program import OPEN_MPI, REPOSITORY, call


@pytest.fixture(scope="module")
def programs():
    """A skip unless SLURM is installed."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    for program in ("munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(program, path=path):
            pytest.skip(f"there is no {program}: env/deps cluster installs it")


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """The profile of local-cluster for the MPI of this build."""
    if not OPEN_MPI:
        return "local"
    text = (REPOSITORY / "slurm" / "local.ini").read_text()
    text = text.replace("mpi = mpich", "mpi = openmpi").replace(
        "srun --mpi=pmi2", OPEN_MPI_LAUNCHER
    )
    text = re.sub("^binding.*$", "", text, flags=re.M)
    keep = "keep-going = --mca orte_allowed_exit_without_sync 1"
    path = tmp_path_factory.mktemp("profile") / "local.ini"
    path.write_text(re.sub("^keep-going.*$", keep, text, flags=re.M))
    return str(path)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The model that RUN and DATA give with a number of rounds when nothing happens on the way."""

    def model(rounds):
        folder = tmp_path_factory.mktemp("unbroken")
        words = ["--rows", 400, "--columns", 12, "--test-rows", 40, "--seed", 3]
        assert call("generate", *words, "--output", folder / "data.h5").returncode == 0
        words = [word.strip() for line in RUN.splitlines() for word in f"--{line}".split("=")]
        words += ["--data", folder / "data.h5", "--trace", folder / "x.h5", "--rounds", rounds]
        done = call("run", *words, ranks=5)
        assert done.returncode == 0, done.stderr
        return model_of(folder / "x.h5")

    return model
