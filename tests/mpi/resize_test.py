# SPDX-License-Identifier: BSD-2-Clause
"""Runs over MPI that go on with another number of ranks."""

import os
import shutil

import h5py
import numpy
import pytest

from program import call, inspect, our_lines, schemes, whole

ROUNDS = 24
JOINED, LEFT, RECODED, RESUMED, APART = 1, 2, 4, 6, 8
COMMON = ["--rounds", ROUNDS, "--step", 0.02, "--seed", 3, "--quiet", "--checkpoint-every", "7r"]
COMMON += ["--delay", "exponential:0.001", "--optimizer", "gd"]
# Workers at first, then fewer, then more.
SIZES = {"bibd": (13, 8, 14), "margulis": (16, 16, 18), "graph": (9, 6, 12)}
EXACT = {"uncoded", "frc", "cyclic", "reed-solomon", "partial-frc", "partial-cyclic", "nested"}
EXACT |= {"draco-repetition", "draco-cyclic", "elastic"}


def words_of(folder, data, scheme, options):
    words = ["run", "--data", data, "--scheme", scheme, *options, *COMMON]
    return [*words, "--trace", folder / "t.h5", "--checkpoint", folder / "c.h5", "--resume"]


def go_on(words, workers):
    done = call(*words, ranks=workers + 1)
    assert done.returncode == 0, done.stderr + done.stdout
    return done


def take_back(folder):
    """Makes a run one that was killed after its last checkpoint but one."""
    os.replace(folder / "c.h5.1", folder / "c.h5")
    with h5py.File(folder / "t.h5", "r+") as trace:
        trace.attrs["status"] = "running"


def changes(path):
    """(kind, worker), after the start."""
    with h5py.File(path, "r") as trace:
        table = trace["membership"]
        later = (table["event"][:] > 0) & (table["kind"][:] != APART)
        return list(zip(table["kind"][:][later].tolist(), table["worker"][:][later].tolist()))


def resumptions(path):
    return [worker for kind, worker in changes(path) if kind == RESUMED]


def is_replayed(folder):
    again = folder / "r.h5"
    done = call("simulate", "--replay", folder / "t.h5", "--trace", again, "--quiet", "--overwrite")
    assert done.returncode == 0, done.stderr
    assert inspect(folder / "t.h5")["faults"] == [] and inspect(again)["faults"] == []
    with h5py.File(folder / "t.h5", "r") as ours, h5py.File(again, "r") as replayed:
        for table in ["round", "arrival", "membership"]:
            for column in set(ours[table]) - {"wait", "time", "bytes_sent", "bytes_received"}:
                a, b = ours[table][column][:], replayed[table][column][:]
                assert numpy.array_equal(a, b, equal_nan=a.dtype.kind == "f"), (table, column)
        assert numpy.array_equal(ours["iterate/model"][:], replayed["iterate/model"][:])


def model(path):
    with h5py.File(path, "r") as trace:
        return trace["model/final"][:]


# Those whose contributions outlive rounds, and whose workers hold parts of a code.
NEEDING = {"dsag", "cyclic"}
CASES = [case for case in schemes() if case[0] in NEEDING]
CASES += whole(*(case for case in schemes() if case[0] not in NEEDING))


@pytest.mark.parametrize("scheme, example", CASES)
def test_a_run_shrinks_and_grows(scheme, example, gaussians, tmp_path):
    first, fewer, more = SIZES.get(scheme, (8, 5, 12))
    options = [] if "--workers" in example else example
    words = words_of(tmp_path, gaussians, scheme, options)
    go_on(words, first)
    take_back(tmp_path)
    go_on(words, fewer)
    assert resumptions(tmp_path / "t.h5") == [fewer] * (fewer != first)
    is_replayed(tmp_path)
    take_back(tmp_path)
    go_on(words, more)
    assert resumptions(tmp_path / "t.h5") == [fewer] * (fewer != first) + [more]
    report = inspect(tmp_path / "t.h5")
    assert (report["status"], report["workers"]) == ("completed", more)
    with h5py.File(tmp_path / "t.h5", "r") as trace:
        assert len(trace["worker/rank"]) == more and len(trace["round/time"]) == ROUNDS
        assert (numpy.diff(trace["round/time"][:]) >= 0).all()
    is_replayed(tmp_path)
    if scheme in EXACT:
        plain = ["simulate", "--data", gaussians, "--workers", 8, "--rounds", ROUNDS]
        plain += ["--step", 0.02, "--seed", 3, "--trace", tmp_path / "p.h5", "--quiet"]
        plain += ["--optimizer", "gd"]
        assert call(*plain).returncode == 0
        apart = numpy.abs(model(tmp_path / "t.h5") - model(tmp_path / "p.h5")).max()
        assert apart < 1e-9


@pytest.fixture(scope="module")
def stopped(gaussians, tmp_path_factory):
    """A run of 8 workers that was killed after a checkpoint of round 14."""
    folder = tmp_path_factory.mktemp("stopped")
    words = words_of(folder, gaussians, "uncoded", [])
    go_on(words, 8)
    take_back(folder)
    return folder, words


def copy(stopped, tmp_path):
    folder, words = stopped
    for name in ["t.h5", "c.h5"]:
        shutil.copy(folder / name, tmp_path)
    return [str(word).replace(str(folder), str(tmp_path)) for word in words]


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--transport", "messages"],
        ["--on-loss", "stop"],
        pytest.param(["--standby", 1], marks=pytest.mark.launcher),
    ],
)
def test_the_bits_are_those_of_a_change_of_membership(more, gaussians, tmp_path):
    # --transport and --standby are options of the whole run, so this run begins anew.
    words = [*words_of(tmp_path, gaussians, "uncoded", []), *more]
    standby = 1 if "--standby" in more else 0
    go_on(words, 8 + standby)
    take_back(tmp_path)
    go_on(words, 5 + standby)
    left = [(LEFT, 5), (LEFT, 6), (LEFT, 7)]
    assert changes(tmp_path / "t.h5") == [(RESUMED, 5), *left, (RECODED, 5)]
    is_replayed(tmp_path)
    events = ["--events", "14r leave 5,6,7", "--trace", tmp_path / "p.h5", "--quiet"]
    words = ["simulate", "--data", gaussians, "--workers", 8, "--rounds", ROUNDS, "--seed", 3]
    done = call(*words, "--step", 0.02, "--optimizer", "gd", *events)
    assert done.returncode == 0, done.stderr
    assert numpy.array_equal(model(tmp_path / "t.h5"), model(tmp_path / "p.h5"))


@pytest.mark.launcher
def test_whoever_took_part_at_the_checkpoint_stays(gaussians, tmp_path):
    lost = ["--resilient", "--events", "5r kill 2; 9r leave 4", "--timeout", 5]
    words = [*words_of(tmp_path, gaussians, "uncoded", []), *lost]
    go_on(words, 8)
    take_back(tmp_path)
    before = changes(tmp_path / "t.h5")
    go_on(words, 6)
    assert changes(tmp_path / "t.h5") == before
    is_replayed(tmp_path)
    take_back(tmp_path)
    go_on(words, 7)
    more = changes(tmp_path / "t.h5")
    assert more == [*before, (RESUMED, 7), (JOINED, 2), (RECODED, 7)]
    is_replayed(tmp_path)


# They are of the shards of a code that the workers of the resumed run have yet to load.
@pytest.mark.parametrize("scheme, leave", [("m-sgc", "2"), ("pgc-cyclic", "2,3,4,5")])
def test_contributions_in_use_fit_the_code_that_was_made_anew(scheme, leave, sparse, tmp_path):
    words = [*words_of(tmp_path, sparse, scheme, []), "--events", f"4r leave {leave}"]
    go_on(words, 8)
    take_back(tmp_path)
    before = changes(tmp_path / "t.h5")
    left = before[-1][1]
    assert before[-1] == (RECODED, left)
    go_on(words, left)
    assert changes(tmp_path / "t.h5") == before
    is_replayed(tmp_path)


def test_a_second_run_from_an_older_checkpoint_forgets_who_came_after_it(stopped, tmp_path):
    words = copy(stopped, tmp_path)
    shutil.copy(tmp_path / "c.h5", tmp_path / "old.h5")
    go_on(words, 12)
    shutil.copy(tmp_path / "old.h5", tmp_path / "c.h5")
    with h5py.File(tmp_path / "t.h5", "r+") as trace:
        trace.attrs["status"] = "running"
    go_on(words, 9)
    assert inspect(tmp_path / "t.h5")["workers"] == 9
    with h5py.File(tmp_path / "t.h5", "r") as trace:
        assert len(trace["worker/rank"]) == 9
    is_replayed(tmp_path)


def test_workers_that_are_named_may_be_others_now(stopped, tmp_path):
    words = copy(stopped, tmp_path)
    done = call(*words, "--workers", 8, ranks=6)
    assert done.returncode == 2
    assert our_lines(done.stderr) == [
        "quorate: --workers is 8, but 6 ranks make a coordinator and 5 workers: start 9 ranks, or "
        "give fewer to go on with"
    ]
    assert call(*words, "--workers", 4, ranks=6).returncode == 0
    assert resumptions(tmp_path / "t.h5") == [4]
    is_replayed(tmp_path)


def test_a_complete_run_is_complete_for_any_ranks(gaussians, tmp_path):
    words = words_of(tmp_path, gaussians, "uncoded", [])
    go_on(words, 4)
    for workers in 2, 6:
        assert "the run is complete" in go_on(words, workers).stdout


def test_a_run_in_a_folder_goes_on_with_others(gaussians, tmp_path):
    words = ["run", "--data", gaussians, *COMMON, "--scheme", "frc", "--stragglers", 1]
    go_on([*words, "--folder", tmp_path / "runs"], 6)
    folder = tmp_path / "runs" / "0001"
    os.replace(folder / "checkpoint.h5.1", folder / "checkpoint.h5")
    with h5py.File(folder / "trace.h5", "r+") as trace:
        trace.attrs["status"] = "running"
    go_on(["run", "--folder", folder, "--resume"], 3)
    assert resumptions(folder / "trace.h5") == [3]
    assert changes(folder / "trace.h5")[-1] == (RECODED, 3)


def test_a_run_without_a_checkpoint_begins_with_those_who_are_there(gaussians, tmp_path):
    words = words_of(tmp_path, gaussians, "uncoded", [])
    go_on(words, 6)
    for name in ["c.h5", "c.h5.1"]:
        (tmp_path / name).unlink()
    with h5py.File(tmp_path / "t.h5", "r+") as trace:
        trace.attrs["status"] = "running"
    go_on(words, 3)
    assert inspect(tmp_path / "t.h5")["workers"] == 3


@pytest.mark.parametrize(
    "scheme, options, workers, message",
    [
        ("bibd", [], 2, "cannot go on with 2 workers"),
        ("elastic", ["--needed", 5], 3, "cannot go on with 3 workers"),
        ("uncoded", [], 9, "9"),
    ],
)
def test_what_cannot_go_on_is_refused(scheme, options, workers, message, gaussians, tmp_path):
    words = words_of(tmp_path, gaussians, scheme, options)
    if scheme == "uncoded":
        times = ["simulate", "--dry", "--workers", 7, "--rounds", ROUNDS, "--quiet"]
        times += ["--delay", "exponential:0.001", "--trace", tmp_path / "d.h5"]
        assert call(*times).returncode == 0
        words[words.index("exponential:0.001")] = f"trace:{tmp_path}/d.h5"
    go_on(words, 7)
    take_back(tmp_path)
    before = (tmp_path / "t.h5").read_bytes(), (tmp_path / "c.h5").read_bytes()
    done = call(*words, ranks=workers + 1)
    assert done.returncode == 2, done.stderr + done.stdout
    assert len(our_lines(done.stderr)) == 1 and message in done.stderr
    assert ((tmp_path / "t.h5").read_bytes(), (tmp_path / "c.h5").read_bytes()) == before


def test_other_data_are_refused_whoever_is_there(stopped, tmp_path):
    words = copy(stopped, tmp_path)
    other = tmp_path / "other.h5"
    size = ["--rows", 203, "--columns", 12, "--test-rows", 41, "--seed", 4]
    assert call("generate", *size, "--output", other, "--quiet").returncode == 0
    words[words.index("--data") + 1] = other
    done = call(*words, ranks=6)
    assert done.returncode == 2
    assert len(our_lines(done.stderr)) == 1 and "is of a run on other data" in done.stderr
