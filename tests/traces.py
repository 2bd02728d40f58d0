# SPDX-License-Identifier: BSD-2-Clause
"""Small traces for the tests of the analysis: made, changed and read."""

import shutil

import h5py
import numpy

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


def same(one, other):
    """That two runs did the same, bit for bit."""
    with h5py.File(one, "r") as first, h5py.File(other, "r") as second:
        for table in ["round", "arrival", "item", "timer", "membership", "evaluation", "measure"]:
            for name in first[table]:
                a, b = first[table][name][:], second[table][name][:]
                assert numpy.array_equal(a, b, equal_nan=a.dtype.kind == "f"), (table, name)
        for name in ["iterate/model", "iterate/round", "model/final"]:
            assert numpy.array_equal(first[name][:], second[name][:]), name


def column(path, name):
    with h5py.File(path, "r") as file:
        return file[name][:]
