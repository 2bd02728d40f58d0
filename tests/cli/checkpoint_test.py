# SPDX-License-Identifier: BSD-2-Clause
"""Checkpoints under the virtual clock: a resumed run is the unbroken one, bit for bit."""

import os
import shutil

import h5py
import numpy
import pytest

from program import call, inspect, rounds_in
from traces import same

COMMON = {
    "--workers": 12,
    "--rounds": 30,
    "--step": 0.02,
    "--row-time": 0.01,
    "--seed": 3,
    "--delay": "exponential:0.1",
}


def words_of(data, scheme, options):
    """Options replace common ones of the same name."""
    words = ["simulate", "--quiet", "--data", data, "--scheme", scheme]
    given = {**COMMON, **dict(zip(options[::2], options[1::2]))}
    return words + [word for option in given.items() for word in option]


def killed_after_a_checkpoint(folder, words, every):
    """A run that was killed after its last checkpoint but one."""
    trace, checkpoint = folder / "b.h5", folder / "c.h5"
    words = [*words, "--trace", trace, "--checkpoint", checkpoint, "--checkpoint-every", every]
    done = call(*words)
    assert done.returncode == 0, done.stderr
    os.replace(f"{checkpoint}.1", checkpoint)
    with h5py.File(trace, "r+") as file:
        file.attrs["status"] = "running"
    return words


def test_a_resumed_run_is_the_unbroken_one(gaussians, tmp_path):
    words = words_of(gaussians, "dsag", ["--subpartitions", 3])
    done = call(*words, "--trace", tmp_path / "a.h5")
    assert done.returncode == 0, done.stderr
    words = killed_after_a_checkpoint(tmp_path, words, "7r")
    done = call(*words, "--resume")
    assert done.returncode == 0, done.stderr
    same(tmp_path / "a.h5", tmp_path / "b.h5")
    found = inspect(tmp_path / "b.h5")
    assert found["faults"] == []
    assert [found["rounds_lost"], found["lost"][0]["first_round"]] == [9, 22]
    assert found["lost"][0]["why"] == "killed"
    said = call("inspect", tmp_path / "b.h5").stdout
    assert " s: the run went back to round 21 (killed)\n" in said
    # The unbroken run has made them alike.
    with h5py.File(tmp_path / "b.h5", "r") as file:
        for table in ["round", "arrival"]:
            for name, column in file["lost/0"][table].items():
                last = file[table][name][-len(column) :]
                assert numpy.array_equal(column[:], last, equal_nan=last.dtype.kind == "f"), name
    done = call(*words, "--resume")
    assert done.returncode == 0
    assert "the run is complete" in done.stdout


@pytest.fixture(scope="module")
def killed(gaussians, tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    words = words_of(gaussians, "uncoded", [])
    return folder, killed_after_a_checkpoint(folder, words, "7r")


def copy(killed, tmp_path):
    """The killed run in a folder of its own, to be damaged."""
    folder, words = killed
    for file in folder.iterdir():
        shutil.copy(file, tmp_path)
    return [str(word).replace(str(folder), str(tmp_path)) for word in words]


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "missing"])
def test_a_damaged_checkpoint_is_noticed_and_the_one_before_is_used(damage, killed, tmp_path):
    words = copy(killed, tmp_path)
    path = tmp_path / "c.h5"
    shutil.copy(path, tmp_path / "c.h5.1")
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        path.write_bytes(content[:-100])
    elif damage == "flipped":
        content[len(content) // 2] ^= 4
        path.write_bytes(content)
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
    done = call(*words, "--resume")
    assert done.returncode == 0, done.stderr
    word = "missing" if damage == "missing" else "damaged"
    assert f"c.h5 is {word}: going on from" in done.stderr
    # Others have come since, and the damaged one has not taken the place of a whole one.
    path.unlink()
    with h5py.File(tmp_path / "b.h5", "r+") as file:
        file.attrs["status"] = "running"
    done = call(*words, "--resume")
    assert done.returncode == 0, done.stderr
    assert "c.h5 is missing: going on from" in done.stderr


@pytest.mark.parametrize(
    "change, message",
    [
        (["--step", 0.03], "--step was 0.02 and is 0.03"),
        (["--seed", 4], "--seed was 3 and is 4"),
        (["--rounds", 31], "--rounds was 30 and is 31"),
        (["--workers", 11], "is of a run with 12 workers, these are 11: give as many"),
        (["--scheme", "frc"], "--scheme was uncoded and is frc"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(change, message, killed, tmp_path):
    words = copy(killed, tmp_path)
    at = words.index(change[0])
    words[at : at + 2] = change
    before = (tmp_path / "b.h5").read_bytes()
    done = call(*words, "--resume")
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert (tmp_path / "b.h5").read_bytes() == before


def test_other_data_are_refused(killed, tmp_path):
    words = copy(killed, tmp_path)
    other = tmp_path / "gaussians.h5"
    size = ["--rows", 203, "--columns", 12, "--test-rows", 41, "--seed", 9]
    assert call("generate", *size, "--output", other, "--quiet").returncode == 0
    data = words[words.index("--data") + 1]
    shutil.copy(data, tmp_path / "kept.h5")
    try:
        shutil.copy(other, data)
        done = call(*words, "--resume")
    finally:
        shutil.copy(tmp_path / "kept.h5", data)
    assert done.returncode == 2
    assert "is of a run on other data" in done.stderr


def test_a_checkpoint_that_does_not_fit_its_trace_is_refused(killed, tmp_path):
    words = copy(killed, tmp_path)
    with h5py.File(tmp_path / "b.h5", "r+") as file:
        for column in file["round"].values():
            column.resize((3,))
    done = call(*words, "--resume")
    assert done.returncode == 2
    assert "table round of the trace is shorter than its checkpoint says" in done.stderr


def test_a_checkpoint_goes_on_with_its_trace_only(killed, tmp_path):
    words = copy(killed, tmp_path)
    with h5py.File(tmp_path / "b.h5", "r+") as file:
        file.attrs["format_version"] = 5.0
    done = call(*words, "--resume")
    assert done.returncode == 2
    assert "has trace format 5, this program reads format 7" in done.stderr
    (tmp_path / "b.h5").unlink()
    done = call(*words, "--resume")
    assert done.returncode == 2
    assert f"cannot open {tmp_path}/b.h5" in done.stderr


def test_a_run_that_stops_at_a_loss_goes_on_from_its_checkpoint(gaussians, tmp_path):
    words = [*words_of(gaussians, "uncoded", []), "--on-loss", "stop", "--events", "12r kill 3"]
    words += ["--trace", tmp_path / "t.h5", "--checkpoint", tmp_path / "c.h5"]
    done = call(*words, "--checkpoint-every", "7r")
    assert done.returncode == 1
    assert "gone: worker 3" in done.stderr
    done = call(*words, "--checkpoint-every", "7r", "--resume")
    assert done.returncode == 1 and "gone: worker 3" in done.stderr, "the plan has it again"
    assert rounds_in(tmp_path / "t.h5") == 12
    assert inspect(tmp_path / "t.h5")["faults"] == []


@pytest.mark.parametrize(
    "words, message",
    [
        (["--resume"], "--resume needs --checkpoint FILE"),
        (["--checkpoint", "c.h5", "--checkpoint-every", "often"], "write 30s, 5min or 1h, or 100r"),
        (["--checkpoint", "c.h5", "--checkpoint-every", "0r"], "write 100r for rounds"),
        (["--checkpoint", "c.h5", "--trace-arrivals", "none"], "must list all contributions"),
        (["--checkpoint", "nowhere/c.h5"], "which cannot be written"),
    ],
)
def test_bad_options_are_refused(words, message, gaussians, tmp_path):
    done = call(*words_of(gaussians, "uncoded", []), "--trace", tmp_path / "t.h5", *words)
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "t.h5").exists()


def test_a_first_run_with_resume_begins(gaussians, tmp_path):
    words = words_of(gaussians, "uncoded", [])
    words += ["--trace", tmp_path / "t.h5", "--checkpoint", tmp_path / "c.h5", "--resume"]
    done = call(*words)
    assert done.returncode == 0, done.stderr
