# SPDX-License-Identifier: BSD-2-Clause
"""Job scripts for every profile of slurm/, as they were when somebody last looked at them.

After a change that is wanted: UPDATE_GOLDEN=1 pytest tests/cli/golden_test.py, and read git diff.
"""

import os
import shutil
import subprocess

import pytest

from program import KEEP_GOING, LAUNCHER, OPEN_MPI, QUORATE, REPOSITORY, call

GOLDEN = REPOSITORY / "tests" / "golden"
PROFILES = sorted(path.stem for path in (REPOSITORY / "slurm").glob("*.ini"))
PARTS = ["prepare", "run", "analyse"]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The folder of one profile's scripts, by its name."""
    folder = tmp_path_factory.mktemp("golden").resolve()
    (folder / "machines").write_text("node1\nnode2\n")
    for profile in PROFILES:
        words = ["--experiment", GOLDEN / "experiment.ini", "--cluster", profile]
        words += ["--output", folder / profile, "--time", "3h"]
        if profile == "hosts":
            words += ["--hostfile", folder / "machines"]
        else:
            words += ["--account", "def-someone", "--mail", "someone@example.org"]
        if profile == "niagara":
            words.append("--retired")
        if profile == "trillium-gpu":
            words += ["--gpus-per-task", "1"]
        env = {"SCRATCH": str(folder), "HOME": "/nowhere", "SBATCH_ACCOUNT": ""}
        done = call("script", *words, env=env)
        assert done.returncode == 0, done.stderr
    return folder


def without_places(text, folder):
    """A script without what differs between machines and between MPIs."""
    hostfile = "--hostfile" if OPEN_MPI else "-f"
    bind = "--bind-to core:overload-allowed --map-by slot:pe=" if OPEN_MPI else "-bind-to core:"
    for place, name in [
        (f"{folder}/machines {bind}2", f"{folder}/machines BIND_2_CORES"),
        (f" {hostfile} {folder}/machines", " HOSTFILE_OPTION"),
        (f"{' '.join(LAUNCHER)} {' '.join(KEEP_GOING)}", "LAUNCHER KEEP_GOING"),
        (f"{' '.join(LAUNCHER)} -n", "LAUNCHER -n"),
        (str(folder), "FOLDER"),
        (os.path.realpath(QUORATE), "QUORATE"),
        (str(REPOSITORY), "REPOSITORY"),
    ]:
        text = text.replace(place, name)
    return text


@pytest.mark.parametrize("profile", PROFILES)
def test_the_script_of_a_profile_is_the_one_that_was_looked_at(scripts, profile):
    text = without_places((scripts / profile / "run.sh").read_text(), scripts)
    golden = GOLDEN / f"{profile}.sh"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text)
    assert golden.read_text() == text


def test_each_golden_file_is_of_a_profile():
    assert sorted(path.stem for path in GOLDEN.glob("*.sh")) == PROFILES


def all_scripts(folder):
    return [folder / profile / f"{part}.sh" for profile in PROFILES for part in PARTS]


def test_bash_can_read_all_scripts(scripts):
    for path in all_scripts(scripts):
        subprocess.run(["bash", "-n", path], check=True, timeout=20)
        assert os.access(path, os.X_OK)


def test_shellcheck_finds_nothing_in_any_script(scripts):
    if not shutil.which("shellcheck"):
        pytest.skip("there is no shellcheck: env/deps cluster installs it")
    # What a module system or a preload brings is not there to be read.
    command = ["shellcheck", "--exclude=SC1091", *all_scripts(scripts)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
