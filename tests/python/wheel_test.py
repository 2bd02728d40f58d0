# SPDX-License-Identifier: BSD-2-Clause
"""The package as make builds it for pip, and pip installs it, without a network."""

import os
import subprocess
import sys

import pytest

from program import REPOSITORY, environment, output

pytestmark = pytest.mark.whole


def test_pip_installs_the_wheel_with_the_module_and_its_library(tmp_path):
    folder = os.environ.get("B", "build")
    wheel = output(
        "make", "-C", REPOSITORY, "--no-print-directory", f"B={folder}", "wheel"
    ).split()[-1]
    home = tmp_path / "home"
    output(sys.executable, "-m", "venv", "--system-site-packages", home)
    python = home / "bin" / "python"
    output(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", REPOSITORY / wheel)
    code = """
import quorate as q
print(q.__file__, q.simulate(workers=3, rounds=4).status)
print(*{line.split()[-1] for line in open("/proc/self/maps") if "libpetsc" in line})
"""
    done = subprocess.run(
        [python, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment({"PYTHONPATH": ""}),
    )
    assert done.returncode == 0, done.stderr
    file, status, petsc = done.stdout.split()
    assert file.startswith(str(home)) and status == "completed"
    # Quorate's own PETSc comes along; another one stays where it is.
    own = [one.name for one in (REPOSITORY / folder).glob("libpetsc.so.*")]
    assert petsc.startswith(str(home)) == bool(own)
    assert (home / "bin" / "quorate-analysis").exists()
