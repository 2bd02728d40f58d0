# SPDX-License-Identifier: BSD-2-Clause
"""Small traces for the tests of the analysis: made, changed and read."""

import shutil
import subprocess

import h5py

from program import LAUNCHER, QUORATE


def quorate(*arguments):
    subprocess.run([QUORATE, *map(str, arguments)], check=True, timeout=60)


def train(folder, name, *options):
    """A run of 4 workers; its trace."""
    path = folder / f"{name}.h5"
    subprocess.run(
        [*LAUNCHER, "-n", "5", QUORATE, "run", "--quiet"]
        + ["--data", str(folder / "data.h5"), "--trace", str(path), "--step", "0.3"]
        + [str(option) for option in options],
        check=True,
        timeout=60,
    )
    return path


def simulate(folder, name, *options):
    """A simulated run; its trace."""
    path = folder / f"{name}.h5"
    quorate("simulate", "--quiet", "--trace", path, *options)
    return path


def edited(path, folder, edit, name="edited"):
    """A copy of a trace, changed by edit(file)."""
    copy = folder / f"{name}.h5"
    shutil.copy(path, copy)
    with h5py.File(copy, "r+") as file:
        edit(file)
    return copy


def column(path, name):
    with h5py.File(path, "r") as file:
        return file[name][:]
