# SPDX-License-Identifier: BSD-2-Clause
"""Rivals of codes: bcc, clones, svrg."""

import h5py
import numpy as np
import pytest
from program import call, our_lines
from traces import quorate


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("baselines") / "data.h5"
    words = "--rows 600 --columns 20 --test-rows 0 --seed 1".split()
    quorate("generate", *words, "--output", path)
    return path


def simulate(data, folder, scheme, *words):
    path = folder / f"{scheme}-{len(list(folder.iterdir()))}.h5"
    setting = "--workers 6 --optimizer gd --step 1 --quiet --evaluate-every 1".split()
    quorate(
        "simulate", "--data", data, "--scheme", scheme, *setting, *map(str, words), "--trace", path
    )
    with h5py.File(path) as file:
        return {
            "model": file["model/final"][:],
            "objective": file["evaluation/objective"][:],
            "used": file["round/used"][:],
            "error": file["round/decode_error"][:],
            "samples": file["round/samples"][:],
        }


def test_bcc_and_clones_are_exact(data, tmp_path):
    plain = simulate(data, tmp_path, "uncoded", "--rounds", 20)
    delay = ("--delay", "exponential:1", "--row-time", 0.001, "--rounds", 20)
    for seed in range(3):
        bcc = simulate(data, tmp_path, "bcc", "--degree", 2, *delay, "--seed", seed)
        assert np.allclose(bcc["model"], plain["model"], rtol=1e-10, atol=1e-12)
        assert (bcc["used"] == 3).all() and (bcc["error"] == 0).all()
    clones = simulate(data, tmp_path, "clones", "--degree", 3, "--after", 2, *delay)
    assert np.allclose(clones["model"], plain["model"], rtol=1e-10, atol=1e-12)
    assert (clones["error"] == 0).all()


def test_svrg_on_all_rows_is_descent(data, tmp_path):
    plain = simulate(data, tmp_path, "uncoded", "--rounds", 12)
    words = ("--batch", 600, "--inner-rounds", 4, "--collect", 6, "--rounds", 12)
    svrg = simulate(data, tmp_path, "svrg", *words)
    assert np.allclose(svrg["model"], plain["model"], rtol=1e-10, atol=1e-12)
    # A full gradient takes each row once, a difference both points.
    assert list(svrg["samples"][:6]) == [600, 1800, 1800, 1800, 1800, 600]


def test_svrg_reaches_the_optimum_where_batches_do_not(data, tmp_path):
    words = ("--batch", 60, "--rounds", 600, "--delay", "exponential:1", "--seed", 3)
    svrg = simulate(data, tmp_path, "svrg", *words, "--inner-rounds", 20)
    plain = simulate(data, tmp_path, "fmb", *words)
    best = min(svrg["objective"])
    assert svrg["objective"][-1] - best < 1e-10
    assert np.median(plain["objective"][-100:]) - best > 1e-5


def test_svrg_without_batches_says_so(tmp_path):
    words = "simulate --dry --rounds 2 --workers 3 --scheme svrg --trace".split()
    done = call(*words, tmp_path / "t.h5")
    assert done.returncode == 0 and "give --batch N" in done.stderr


@pytest.mark.parametrize(
    "said, words",
    [
        ("--degree 5 or more", "--workers 1000 --scheme bcc --degree 2"),
        ("--after is 7", "--workers 6 --scheme clones --after 7"),
        ("--degree is 7", "--workers 6 --scheme clones --degree 7"),
    ],
)
def test_what_they_cannot_do_is_refused(said, words, tmp_path):
    done = call(*"simulate --dry --rounds 2 --trace".split(), tmp_path / "t.h5", *words.split())
    (line,) = our_lines(done.stderr)
    assert done.returncode == 2 and said in line, line
    assert not list(tmp_path.iterdir())
