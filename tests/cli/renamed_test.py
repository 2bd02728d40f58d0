# SPDX-License-Identifier: BSD-2-Clause
"""Words of earlier versions: refused where typed, translated where recorded."""

import h5py
import numpy
import pytest

from program import attributes_of, call

WORDS = ["--workers", 6, "--rounds", 6, "--step", 0.1, "--scheme", "draco-repetition"]
WORDS += ["--tolerate", 1, "--stragglers", 0]


@pytest.fixture
def trace(gaussians, tmp_path):
    path = tmp_path / "t.h5"
    words = [*WORDS, "--data", gaussians, "--byzantine", "sign-flip:2", "--on-loss", "reencode"]
    done = call("simulate", *words, "--delay", "exponential:1", "--trace", path, "--quiet")
    assert done.returncode == 0, done.stderr
    return path


def record(path, replace, by):
    with h5py.File(path, "r+") as file:
        config = attributes_of(file)["config"]
        config = config.decode() if isinstance(config, bytes) else config
        assert replace in config
        file.attrs["config"] = config.replace(replace, by)


def replay(path):
    return call("simulate", "--replay", path, "--trace", path.with_name("again.h5"), "--quiet")


def final_model(path):
    with h5py.File(path) as file:
        return file["model/final"][:]


def test_an_old_name_that_is_typed_is_refused_with_the_new_one(tmp_path):
    done = call("simulate", "--dry", *WORDS, "--liars", "nan:1", "--trace", tmp_path / "t.h5")
    assert done.returncode == 2
    assert (
        done.stderr
        == "quorate: quorate simulate has no option --liars any more: it is --byzantine now\n"
    )


def test_a_replay_translates_old_words(trace):
    record(trace, "byzantine = sign-flip:2", "liars = sign-flip:2")
    record(trace, "on-loss = reencode", "on-loss = recode")
    done = replay(trace)
    assert done.returncode == 0, done.stderr
    again = trace.with_name("again.h5")
    assert numpy.array_equal(final_model(trace), final_model(again))
    with h5py.File(again) as file:
        config = str(attributes_of(file)["config"])
    assert "byzantine = sign-flip:2" in config and "liars" not in config
    assert "on-loss = reencode" in config


def test_a_replay_does_not_skip_what_it_does_not_know(trace):
    record(trace, "tolerate = 1", "tolerate = 1\nfuture-option = 7")
    done = replay(trace)
    assert done.returncode == 2
    assert "records --future-option 7, which this version of quorate does not have" in done.stderr


def test_a_manifest_is_translated(gaussians, tmp_path):
    manifest = tmp_path / "manifest.tsv"
    names = ["run", "trace", "data", "scheme", "tolerate", "stragglers", "workers", "rounds"]
    values = [1, "t.h5", gaussians, "draco-repetition", 1, 0, 6, 4]
    rows = [[*names, "liars"], [*values, "sign-flip:2"]]
    manifest.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    done = call("simulate", "--manifest", manifest, "--row", 1, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "t.h5") as file:
        assert "byzantine = sign-flip:2" in str(attributes_of(file)["config"])
