# SPDX-License-Identifier: BSD-2-Clause
"""What is meant is understood, or named: times with units, several values, options that other
programs call otherwise."""

import h5py
import pytest

from program import attributes_of, call

DRY = ["simulate", "--dry", "--workers", 4, "--rounds", 4, "--rows", 400]


def refused(folder, *words):
    before = sorted(folder.iterdir())
    done = call(*words)
    assert done.returncode == 2 and done.stdout == "", done
    assert sorted(folder.iterdir()) == before, "something was written"
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr.removeprefix("quorate: ").strip()


def times(path, *words):
    done = call(*DRY, *words, "--trace", path, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(path) as file:
        return list(file["round/time"][:]), attributes_of(file)


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, meant",
    [
        ("--lr", "--step"),
        ("--learning-rate", "--step"),
        ("--learning_rate", "--step"),
        ("--batch-size", "--batch"),
        ("--epochs", "--rounds"),
        ("--LR", "--step"),
        ("--Rounds", "--rounds"),
        ("--DELAY", "--delay"),
    ],
)
def test_names_of_other_programs_find_their_option(tmp_path, given, meant):
    said = refused(tmp_path, "simulate", "--dry", "--workers", 4, given, 1)
    assert said == f"quorate simulate has no option {given}; did you mean {meant}?"
    (tmp_path / "x.ini").write_text(f"{given.removeprefix('--')} = 1\n")
    said = refused(tmp_path, "simulate", "--dry", "--config", tmp_path / "x.ini")
    assert said.endswith(f":1: quorate simulate has no option {given}; did you mean {meant}?")


def test_values_in_other_letters_and_order_find_theirs(tmp_path):
    for given in ("acg", "AGC", "Agc"):
        said = refused(tmp_path, *DRY, "--scheme", given, "--trace", tmp_path / "t.h5")
        assert said == f"--scheme is {given}; did you mean agc?"
    assert call("simulate", "-h").stdout == call("simulate", "--help").stdout
    assert call("-h").stdout == call("help").stdout
