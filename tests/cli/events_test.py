# SPDX-License-Identifier: BSD-2-Clause
"""Workers that leave, die and join under the virtual clock."""

import h5py
import numpy
import pytest

from program import call, inspect, our_lines

JOINED, LEFT, DIED, RECODED, LOADING, APART = 1, 2, 3, 4, 5, 8
DRY = ["simulate", "--dry", "--workers", 6, "--rows", 600, "--row-time", 0.01, "--quiet"]


def simulate(path, *words):
    done = call(*DRY, "--trace", path, *words)
    assert done.returncode == 0, done.stderr
    assert inspect(path)["faults"] == []
    with h5py.File(path, "r") as trace:
        table = trace["membership"]
        rows = zip(table["time"][:], table["kind"][:], table["worker"][:], table["event"][:])
        changes = [(round(t, 9), int(k), int(w)) for t, k, w, e in rows if e > 0 and k != APART]
        return changes, trace["round/time"][:]


def test_a_loss_is_reencoded_when_those_who_are_left_have_answered(tmp_path):
    changes, times = simulate(tmp_path / "t.h5", "--rounds", 6, "--events", "2.5 leave 4")
    # 100 rows a worker take 1 s; then 120 rows.
    assert changes == [(2.5, LEFT, 4), (3.0, RECODED, 5)]
    assert numpy.allclose(numpy.diff(times, prepend=0), [1, 1, 2.2, 1.2, 1.2, 1.2])


def test_one_who_comes_back_is_coded_for_in_the_next_round(tmp_path):
    events = "2.5 leave 4; 5 join 4"
    changes, times = simulate(tmp_path / "t.h5", "--rounds", 6, "--events", events)
    assert changes == [(2.5, LEFT, 4), (3.0, RECODED, 5), (5.0, JOINED, 4), (5.4, RECODED, 6)]
    assert numpy.allclose(numpy.diff(times, prepend=0), [1, 1, 2.2, 1.2, 1, 1])


def test_a_death_is_noticed_after_the_timeout_and_loading_takes_time(tmp_path):
    words = ["--events", "2r kill 0", "--timeout", 3, "--load-time", 0.001]
    changes, times = simulate(tmp_path / "t.h5", "--rounds", 5, *words)
    assert changes == [(5.0, DIED, 0), (5.0, RECODED, 5)]
    assert numpy.allclose(numpy.diff(times, prepend=0), [1, 1, 3 + 0.12 + 1.2, 1.2, 1.2])


def test_a_standby_machine_takes_over(tmp_path):
    words = ["--events", "2r kill 0; 4r kill 0", "--timeout", 3, "--load-time", 0.002]
    words += ["--standby", 1]
    changes, times = simulate(tmp_path / "t.h5", "--rounds", 5, *words)
    assert changes == [
        (5.0, DIED, 0),
        (5.0, LOADING, 0),
        (5.2, JOINED, 0),
        (10.2, DIED, 0),
        (10.2, RECODED, 5),
    ]
    assert numpy.allclose(numpy.diff(times, prepend=0), [1, 1, 4.2, 1, 3 + 0.24 + 1.2])


def test_a_code_shrinks_with_its_workers(tmp_path):
    path = tmp_path / "t.h5"
    words = ["--rounds", 4, "--scheme", "frc", "--stragglers", 1, "--events", "1.5 leave 4,5"]
    changes, _ = simulate(path, *words)
    assert (RECODED, 4) in [(kind, worker) for _, kind, worker in changes]
    words = [
        "--rounds",
        4,
        "--scheme",
        "cyclic",
        "--stragglers",
        3,
        "--events",
        "0.5 leave 2,3,4,5",
    ]
    loud = [word for word in DRY if word != "--quiet"]
    done = call(*loud, "--trace", path, "--overwrite", *words, "--delay", "exponential:0.1")
    assert done.returncode == 0, done.stderr
    assert "--stragglers 1" in done.stderr, "of two workers one may straggle"


def test_a_round_with_a_deadline_ends_with_what_has_come(tmp_path):
    words = ["--scheme", "ignore", "--stragglers", 0, "--deadline", 1.5, "--rounds", 3]
    changes, times = simulate(tmp_path / "t.h5", *words, "--events", "1.2 leave 4")
    assert changes == [(1.2, LEFT, 4)]
    # The deadline runs although all who are left have answered.
    assert numpy.allclose(numpy.diff(times, prepend=0), [1, 1.5, 1.5])


def test_waiting_is_another_way(tmp_path):
    words = ["--on-loss", "wait", "--events", "2.5 leave 4; 5 join 4"]
    changes, times = simulate(tmp_path / "t.h5", "--rounds", 5, *words)
    assert [kind for _, kind, _ in changes] == [LEFT, JOINED]
    assert numpy.allclose(numpy.diff(times, prepend=0), [1, 1, 4, 1, 1])


def test_a_code_that_tolerates_the_loss_goes_on(tmp_path):
    words = ["--scheme", "frc", "--events", "2.5 kill 4", "--timeout", 0]
    changes, times = simulate(tmp_path / "t.h5", "--rounds", 6, *words)
    assert changes == [(2.5, DIED, 4)]
    assert numpy.allclose(numpy.diff(times, prepend=0), 2)


@pytest.mark.parametrize("back", ["2.5", "2.6", "2.501"])
def test_machines_that_are_needed_may_come_back_at_once(back, gaussians, tmp_path):
    # In the first case at the same time as they leave.
    run, again = tmp_path / "run.h5", tmp_path / "again.h5"
    words = ["simulate", "--data", gaussians, "--scheme", "elastic", "--needed", 5, "--workers", 6]
    words += ["--row-time", 0.01, "--rounds", 12, "--step", 0.1, "--quiet", "--on-loss", "wait"]
    events = f"2.5 leave 4,1; {back} join 1; 4 leave 2; 4.001 join 2,4"
    done = call(*words, "--events", events, "--trace", run)
    assert done.returncode == 0, done.stderr
    done = call("simulate", "--replay", run, "--trace", again, "--quiet")
    assert done.returncode == 0, done.stderr
    with h5py.File(run, "r") as first, h5py.File(again, "r") as second:
        for name in ["iterate/model", "arrival/event", "membership/event", "membership/kind"]:
            assert numpy.array_equal(first[name][:], second[name][:]), name


def test_random_membership_is_reproducible_and_keeps_the_least(tmp_path):
    words = ["--rounds", 300, "--events", "random:leave=0.3,join=0.2,least=2"]
    changes, times = simulate(tmp_path / "a.h5", *words)
    again, _ = simulate(tmp_path / "b.h5", *words)
    assert changes == again
    here, fewest = 6, 6
    for _, kind, _ in changes:
        here += {JOINED: 1, LEFT: -1}.get(kind, 0)
        fewest = min(fewest, here)
    assert fewest == 2
    assert len(changes) > 300


def test_a_random_number_of_workers_is_one_of_those_given(tmp_path):
    words = ["--rounds", 400, "--events", "random:change=0.5,numbers=2+4*3+6"]
    changes, _ = simulate(tmp_path / "a.h5", *words)
    assert changes == simulate(tmp_path / "b.h5", *words)[0]
    assert changes != simulate(tmp_path / "c.h5", *words, "--seed", 2)[0]
    here, numbers = 6, {}
    for time, kind, _ in changes:
        here += {JOINED: 1, LEFT: -1}.get(kind, 0)
        numbers[time] = here
    times = [list(numbers.values()).count(number) for number in (2, 4, 6)]
    assert sum(times) == len(numbers) and min(times) > 10  # those alone, and each of them
    assert times[1] > max(times[0], times[2])


def test_at_most_so_many_workers_are_away(tmp_path):
    changes, _ = simulate(tmp_path / "a.h5", "--rounds", 200, "--events", "max-away=2")
    here, away = 6, {}
    for time, kind, _ in changes:
        here += {JOINED: 1, LEFT: -1}.get(kind, 0)
        away[time] = 6 - here
    times = [list(away.values()).count(number) for number in range(3)]
    assert sum(times) == len(away) and min(times) > 20


def test_events_come_from_a_file(tmp_path):
    path = tmp_path / "events.txt"
    path.write_text("# a comment\n2.5 leave 4  # and one more\n\n5s join 4\n")
    changes, _ = simulate(tmp_path / "t.h5", "--rounds", 6, "--events", path)
    assert (2.5, LEFT, 4) in changes and (5.0, JOINED, 4) in changes


@pytest.mark.parametrize(
    "words, message",
    [
        (["--events", "3 leave 6"], "where '3 leave 6' names no worker: there are workers 0 to 5"),
        (["--events", "3 leave -1"], "names no worker"),
        (["--events", "1 kill 2; 3 join 2"], "where worker 2 joins, which is dead by then"),
        (["--events", "3 go 2"], "is no event: write TIME leave|join|kill WORKER"),
        (["--events", "x leave 2"], "is no event"),
        (["--events", "1.5r leave 2"], "is no event"),
        (["--events", "-1 leave 2"], "is no event"),
        (["--events", "3 leave"], "is no event"),
        (["--events", "3 leave 2 4"], "is no event"),
        (["--events", "random:leave=2"], "where 'leave=2' is wrong: write random:leave=P"),
        (["--events", "random:stay=0.5"], "where 'stay=0.5' is wrong"),
        (["--events", "random:least=7"], "and N from 1 to 6"),
        (["--events", "random:change=0.1,numbers=2+7"], "where 'numbers=2+7' is wrong"),
        (["--events", "random:change=0.1,numbers=2*x"], "where 'numbers=2*x' is wrong"),
        (["--events", "random:change=0.1"], "where change and numbers stand alone or for nothing"),
        (["--events", "random:change=1,numbers=2,leave=0.1"], "stand alone or for nothing"),
        (["--events", "max-away=6"], "of 6 workers 1 to 5 may be away: write max-away=N"),
        (["--events", "max-away=two"], "write max-away=N"),
        (["--on-loss", "panic"], "--on-loss is panic; known: reencode, wait or stop"),
        (["--standby", "-1"], "--standby is -1"),
        (["--timeout", "soon"], "--timeout is soon"),
    ],
)
def test_impossible_events_are_refused(words, message, tmp_path):
    done = call(*DRY, "--trace", tmp_path / "t.h5", *words)
    assert done.returncode == 2, done
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "t.h5").exists()


def test_losses_that_leave_nobody_end_the_run(tmp_path):
    done = call(*DRY, "--trace", tmp_path / "t.h5", "--events", "2.5 leave 0,1,2,3,4,5")
    assert done.returncode == 1
    assert "no estimate is possible any more" in done.stderr
    assert "gone: worker 0, 1, 2, 3, 4, 5" in done.stderr


def test_each_change_is_a_line(tmp_path):
    words = [word for word in DRY if word != "--quiet"]
    words += ["--rounds", 9, "--standby", 1, "--timeout", 1, "--trace", tmp_path / "t.h5"]
    events = "1.5 leave 4; 3.8 join 4; 5.9 kill 2; 9.1 kill 0"
    done = call(*words, "--events", events)
    assert done.returncode == 0, done.stderr
    assert our_lines(done.stderr) == [
        "quorate: worker 4 has left in round 2",
        "quorate: re-encoded for 5 workers after round 1",
        "quorate: worker 4 has joined in round 3",
        "quorate: re-encoded for 6 workers after round 3",
        "quorate: worker 2 has died in round 5",
        "quorate: a standby rank takes the place of worker 2 in round 5",
        "quorate: worker 2 has joined in round 5",
        "quorate: worker 0 has died in round 7",
        "quorate: re-encoded for 5 workers after round 6",
    ]
    assert call(*words, "--events", events, "--quiet", "--overwrite").stderr.count("has") == 0
