# SPDX-License-Identifier: BSD-2-Clause
"""Small traces for the tests of the analysis: made, changed and read."""

import shutil

import h5py

from program import call


def quorate(*arguments, ranks=None):
    done = call(*arguments, ranks=ranks)
    assert done.returncode == 0, done.stderr


def train(folder, name, *options):
    """A run of 4 workers; its trace."""
    path = folder / f"{name}.h5"
    words = ("--quiet", "--data", folder / "data.h5", "--trace", path, "--step", 0.3)
    quorate("run", *words, *options, ranks=5)
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
