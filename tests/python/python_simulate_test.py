# SPDX-License-Identifier: BSD-2-Clause
"""quorate.simulate and what it returns."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from program import PACKAGE, call, environment, inspect

DRY = {"scheme": "agc", "stragglers": 2, "collect": 6, "workers": 9, "rounds": 20}


def test_a_simulation_is_that_of_the_program(q, tmp_path):
    result = q.simulate(**DRY, delay=q.exponential(1), seed=3)
    path = tmp_path / "a.h5"
    words = [word for name, value in DRY.items() for word in (f"--{name}", str(value))]
    done = call(
        "simulate", "--dry", *words, "--delay", "exponential:1", "--seed", "3", "--trace", path
    )
    assert done.returncode == 0, done.stderr
    from quorate.analysis import read_trace

    trace = read_trace(path)
    for column in trace.round:
        assert np.array_equal(trace.round[column], result.rounds[column], equal_nan=True), column
    assert list(result.rounds.index) == list(range(1, 21))
    assert result.rounds.attrs["units"]["time"] == "s"


def test_a_saved_result_is_a_sound_trace(q, data, tmp_path):
    result = q.simulate(data, workers=4, optimizer="agd", step=0.05, rounds=15, evaluate_every=5)
    path = result.save(tmp_path / "saved.h5")
    facts = inspect(path)
    assert facts["status"] == "completed" and int(facts["rounds"]) == 15
    again = q.load(path)
    assert again == result and again.rounds.equals(result.rounds)
    assert again.evaluations.equals(result.evaluations)
    with pytest.raises(q.BadInput, match="is there already"):
        result.save(path)


def test_training_goes_down_and_scores_are_there(q, data):
    result = q.simulate(data, workers=4, optimizer="agd", step=0.5, rounds=60, evaluate_every=20)
    assert result.loss < 0.4 and len(result.model) == 6
    assert (result.evaluations["accuracy"] > 0.7).all()
    assert "training loss" in result._repr_html_() and "rounds: 60" in repr(result)


def test_arrays_look_into_the_result(q):
    result = q.simulate(**DRY)
    times = result.array("round", "time")
    assert not times.flags.owndata and times.shape == (20,)
    del result
    assert np.isfinite(times).all()


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"workers": 0}, "--workers is 0"),
        ({"optimizer": "gdd"}, "did you mean gd"),
        ({"colect": 3}, "collect"),
        ({"delay": "exponential"}, "exponential"),
        ({"delay": np.ones(3)}, "a row for each worker"),
        ({"delay": np.full((9, 4), np.nan)}, "finite seconds"),
        ({"delay": np.ones((4, 4))}, "times of 4 workers, but there are 9"),
        ({"delay": object()}, "give a name, a function or an array"),
        ({"rounds": [1, 2]}, "--rounds is 1,2"),
        ({"checkpoint": "x.ckp"}, "kept in memory"),
    ],
)
def test_what_the_command_line_refuses_raises_the_same_sentence(q, options, sentence):
    with pytest.raises(q.BadInput, match=sentence):
        q.simulate(**{**DRY, **options})


def test_bad_data_are_refused(q, arrays):
    X, y, *_ = arrays
    with pytest.raises(q.BadInput, match="200 labels|3 labels"):
        q.dataset(X, y[:3])
    spoilt = X.copy()
    spoilt[3, 2] = np.nan
    with pytest.raises(q.BadInput, match="the training rows hold nan at element 20"):
        q.dataset(spoilt, y)
    with pytest.raises(q.BadInput, match="give both"):
        q.dataset(X, y, X)
    with pytest.raises(q.BadInput, match="rows x columns"):
        q.dataset(X[0], y)


def test_data_come_back_as_they_went(q, arrays):
    X, y, X_test, y_test = arrays
    data = q.dataset(X, y, X_test, y_test)
    back, labels = data.arrays("test")
    assert np.array_equal(back, X_test) and np.array_equal(labels, y_test)
    sparse = pytest.importorskip("scipy.sparse")
    rows = sparse.random(50, 30, density=0.2, format="csr", random_state=1)
    one = q.dataset(rows, np.arange(50) % 3)
    back, labels = one.arrays()
    assert (back != rows).nnz == 0 and one.attributes["task"] == "multiclass"


def test_pandas_frames_are_data(q, arrays):
    import pandas as pd

    X, y, *_ = arrays
    frame = pd.DataFrame(X)
    assert np.array_equal(q.dataset(frame, pd.Series(y)).arrays()[0], X)


def test_seeds_run_in_threads_like_one_after_the_other(q, data):
    options = dict(workers=5, rounds=8, step=0.1, delay=q.exponential(1))
    many = q.sweep(data, over={"seed": range(6)}, threads=4, **options)
    for seed, one in enumerate(many):
        alone = q.simulate(data, seed=seed, **options)
        assert np.array_equal(alone.model, one.model) and alone.rounds.equals(one.rounds)


def test_an_array_is_a_delay(q):
    times = np.random.default_rng(1).exponential(size=(6, 10))
    result = q.simulate(scheme="uncoded", workers=6, rounds=10, delay=times)
    assert np.allclose(np.diff(result.rounds["time"], prepend=0), times.max(axis=0))


def test_a_function_is_a_delay(q):
    def by_number(worker, draw, load):
        """The higher the number, the slower."""
        return worker + 0.1 * draw

    result = q.simulate(scheme="uncoded", workers=4, rounds=3, delay=by_number)
    assert np.allclose(np.diff(result.rounds["time"], prepend=0), [3, 3.1, 3.2])
    with pytest.raises(q.BadInput, match="return seconds"):
        q.simulate(scheme="uncoded", workers=4, rounds=3, delay=lambda w, d, load: -1.0)


def test_compare_draws_and_sums_up(q):
    runs = q.compare(
        ["uncoded", q.scheme("frc", stragglers=2)],
        workers=6,
        seeds=3,
        rounds=30,
        delay=q.exponential(1),
    )
    assert list(runs.summary.index) == ["frc stragglers 2", "uncoded"]
    import matplotlib

    matplotlib.use("Agg")
    axes = runs.plot()
    assert axes.get_xlabel() == "duration of a round [s]"
    assert [line.get_label() for line in axes.get_legend().get_lines()] == [
        "uncoded",
        "frc stragglers 2",
    ]


def test_an_interrupt_ends_a_simulation_and_leaves_the_handler(q):
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        q.simulate(workers=50, rounds=100_000_000, delay=q.exponential(1), trace_arrivals="none")
    assert signal.getsignal(signal.SIGINT) is before
    q.simulate(**DRY)


@pytest.mark.parametrize("stopped_by", ["interrupt", "end of a job"])
def test_what_stops_a_run_with_a_trace_stops_that_run_only(q, stopped_by, tmp_path):
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    run = {"workers": 50, "rounds": 100_000_000, "trace_arrivals": "none"}
    if stopped_by == "interrupt":
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            q.simulate(**run, trace=tmp_path / "a.h5")
    else:
        with pytest.raises(q.Failure, match="interrupted after round"):
            q.simulate(**run, trace=tmp_path / "a.h5", walltime="1.3", stop_before="1")
    assert [
        signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    ] == before
    result = q.simulate(**DRY, trace=tmp_path / "b.h5")
    assert result.status == "completed" and len(result.rounds) == DRY["rounds"]
    test_an_interrupt_ends_a_simulation_and_leaves_the_handler(q)


def python(code, **more):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=100,
        env=environment({"PYTHONPATH": PACKAGE, **more}),
    )


def test_a_fork_after_mpi_began_is_refused(q, data):
    code = f"""
import os, quorate as q
data = q.open({str(data.path)!r})
q.simulate(data, workers=2, rounds=2, step=0.1)
if os.fork() == 0:
    try:
        q.simulate(data, workers=2, rounds=2, step=0.1)
    except q.BadInput as error:
        print("refused", error, flush=True)
    os._exit(0)
os.wait()
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert "refused this process was forked after MPI began" in done.stdout


def test_importing_is_quick_and_starts_nothing(q):
    code = """
import sys, time
import numpy
begin = time.perf_counter()
import quorate
quorate.simulate
print(time.perf_counter() - begin, 'pandas' in sys.modules, 'matplotlib' in sys.modules)
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1:] == ["False", "False"]


def test_messages_go_to_logging(q, caplog):
    with caplog.at_level("DEBUG", logger="quorate"):
        q.simulate(scheme="amb", workers=4, rounds=3, row_time=0.001, compute_time=0.5)
    assert all(record.name == "quorate" for record in caplog.records)


def test_products_take_one_thread_in_a_run(q, monkeypatch):
    from quorate import _threads

    threads, seen = [7], []
    controls = [(lambda count: threads.__setitem__(0, count), lambda: threads[0])]
    monkeypatch.setattr(_threads, "_controls", lambda: controls)

    def watching(worker, draw, load):
        seen.append(threads[0])
        return 0.0

    q.simulate(workers=2, rounds=2, delay=watching)
    assert set(seen) == {1} and threads == [7]


def test_runs_are_reported(q, tmp_path):
    runs = q.compare(["uncoded", q.scheme("frc", stragglers=1)], workers=4, rounds=10, seeds=1)
    page = runs.report(tmp_path / "report")
    assert "frc" in page.read_text() and len(list(page.parent.glob("*.h5"))) == 2


def test_progress_is_shown_of_what_takes_long(q, monkeypatch):
    from quorate import _progress

    shown = []
    monkeypatch.setattr(_progress.Progress, "at", lambda self, done: shown.append(done))
    q.simulate(**DRY)
    assert not shown

    def slowly(worker, draw, load):
        time.sleep(0.01)
        return 1.0

    q.simulate(workers=4, rounds=40, delay=slowly)
    assert shown and shown == sorted(shown)


def test_a_trace_in_a_file_is_the_one_in_memory(q, data, tmp_path):
    for which in (None, data):
        options = dict(workers=4, rounds=5, delay=q.exponential(1))
        kept = q.simulate(which, **options)
        written = q.simulate(which, trace=tmp_path / f"{which is None}.h5", **options)
        assert written.path is not None and written.label == kept.label
        assert written.rounds.equals(kept.rounds)
