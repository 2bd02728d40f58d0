# SPDX-License-Identifier: BSD-2-Clause
"""Mistakes in a user's Python: each is named, and none ends the process or changes a number."""

import os
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest

from program import PACKAGE, call, environment

RUN = {"workers": 4, "rounds": 4, "delay": "exponential:1"}


@pytest.fixture(scope="module")
def base(q):
    """A scheme that waits for all, to be spoilt."""

    class Whole(q.SynchronousScheme):
        def begin(self, version):
            self.received = []

        def receive(self, contribution):
            self.received.append(contribution)
            if len(self.received) == self.problem.workers:
                return self.step()

        def step(self):
            return self.mean(self.received)

    return Whole


def spoilt(q, base, **methods):
    return type("Spoilt", (base,), methods)


@pytest.mark.parametrize(
    "methods, sentence",
    [
        (lambda q: {"plan": lambda self, worker: None}, r"plan\(\) returned None"),
        (lambda q: {"plan": lambda self, worker: [[0]]}, "return quorate.Plan"),
        (lambda q: {"plan": lambda self, worker: q.Plan([[99999999]])}, "does not store"),
        (lambda q: {"plan": lambda self, worker: q.Plan([[-1]])}, "does not store"),
        (lambda q: {"plan": lambda self, worker: q.Plan([])}, "without a part"),
        (lambda q: {"plan": lambda self, worker: q.Plan([[]])}, "empty part"),
        (lambda q: {"plan": lambda self, w: q.Plan([[q.Item(w, input=9)]])}, "input 9"),
        (lambda q: {"plan": lambda self, w: q.Plan([[q.Item(w, input=-5)]])}, "input -5"),
        (lambda q: {"plan": lambda self, w: q.Plan([[w], [w]])}, "one block each"),
        (
            lambda q: {"plan": lambda self, w: q.Plan([[q.Item(w, operation="product")]])},
            "products",
        ),
        (lambda q: {"order": lambda self, active: [10**6]}, "worker 1000000"),
        (lambda q: {"order": lambda self, active: [-1]}, "worker -1"),
        (lambda q: {"limit": lambda self: float("nan")}, "limit.. is nan"),
        (lambda q: {"limit": lambda self: None}, r"limit\(\) returned None: return seconds"),
        (lambda q: {"needs": lambda self: None}, r"needs\(\) returned None"),
        (
            lambda q: {"needs": lambda self: q.Needs(self.problem.partitions(), [[]] * 4)},
            "stores nothing",
        ),
        (
            lambda q: {
                "needs": lambda self: q.Needs(
                    self.problem.partitions(), [[0], [1], [2], [3]], models=0
                )
            },
            "0 models",
        ),
        (
            lambda q: {"needs": lambda self: q.Needs([(1, 2**63 - 1)], [[0]] * 4)},
            "9223372036854775807 rows",
        ),
        (lambda q: {"step": lambda self: q.Step(self.received, 0)}, "divides by 0"),
        (lambda q: {"step": lambda self: q.Step(self.received, float("nan"))}, "divides by nan"),
        (lambda q: {"step": lambda self: q.Step([], 1)}, "without contributions"),
        (lambda q: {"step": lambda self: q.Step(self.received, 1, model=900000)}, "model 900000"),
    ],
)
def test_what_a_scheme_gets_wrong_is_named(q, base, methods, sentence):
    with pytest.raises(q.BadInput, match=sentence):
        q.simulate(scheme=spoilt(q, base, **methods(q)), **RUN)


def test_actions_are_checked(q):
    def by_events(*actions):
        return type("Events", (q.Scheme,), {"handle": lambda self, event, now: list(actions)})

    plan = q.Plan([[0]])
    for action, sentence in [
        (q.Dispatch(0, 7, plan, 0), "worker 7, but there are 4"),
        (q.Dispatch(0, 0, plan, 3), "version 3, but the newest is 0"),
        (q.Close(3, 1), "closes tasks 3 to 1"),
        (q.SetTimer(0, float("nan")), "timer 0"),
        (q.Combine([]), "coded storage"),
    ]:
        with pytest.raises(q.BadInput, match=sentence):
            q.simulate(scheme=by_events(action), **RUN)
    with pytest.raises(q.BadInput, match="must ascend"):
        q.simulate(scheme=by_events(q.Dispatch(0, 0, plan, 0), q.Dispatch(0, 0, plan, 0)), **RUN)
    with pytest.raises(TypeError, match="return a list of actions"):
        q.simulate(
            scheme=type("One", (q.Scheme,), {"handle": lambda s, e, n: q.Close(0, 1)}), **RUN
        )
    with pytest.raises(q.BadInput, match="it gives up|no timer"):
        q.check(by_events(q.Close(0, 2**62)))


def test_what_has_one_name_is_told_apart(q, base):
    one, five = (q.delay(lambda w, d, load, s=s: s) for s in (1.0, 5.0))
    assert q.simulate(workers=2, rounds=1, delay=one).time == 1
    assert q.simulate(workers=2, rounds=1, delay=five).time == 5

    def waits(count):
        class Same(base):
            def receive(self, contribution):
                self.received.append(contribution)
                return self.mean(self.received) if len(self.received) == count else None

        return Same

    runs = q.compare([q.scheme(waits(1)), q.scheme(waits(3))], seeds=1, **RUN)
    assert [set(run.rounds["used"]) for run in runs] == [{1}, {3}]
    many = q.sweep(
        over={"delay": [lambda w, d, load, s=s: s for s in range(20)]}, workers=2, rounds=1
    )
    assert [run.time for run in many] == list(range(20))


def test_decoders_of_one_factory_are_told_apart(q):
    def after(count):
        return lambda received: None if len(received) < count else np.ones(4)[: len(received)]

    codes = [q.code(np.eye(4), after(count)) for count in (4, 5)]
    assert q.simulate(scheme=codes[0], **RUN).status == "completed"
    with pytest.raises(q.Failure):
        q.simulate(scheme=codes[1], **RUN)
    assert len({code.label for code in codes}) == 2


def test_an_invertible_matrix_is_a_code_that_needs_all(q):
    B = np.random.default_rng(1).normal(size=(4, 4))
    assert (q.simulate(scheme=q.code(B), **RUN).rounds["used"] == 4).all()


def test_arrays_that_a_callback_keeps_stay_as_they_were(q, data):
    kept = []

    class Keeping(q.Model):
        def parameters(self, columns):
            return columns

        def loss_and_gradient(self, X, y, w):
            kept.append((X, y, w, X.copy(), y.copy(), w.copy()))
            return len(y), len(y) * np.ones(len(w))

        def scores(self, X, w):
            return X @ w

        def loss(self, scores, y):
            return len(y)

    q.simulate(data, model=Keeping, workers=2, rounds=5, step=0.1)
    for arrays in kept:
        assert all(np.array_equal(a, b) for a, b in zip(arrays[:3], arrays[3:]))
    with pytest.raises(ValueError, match="read-only"):
        kept[0][2][0] = 1


def test_an_optimiser_that_diverges_is_named(q, data):
    class Away(q.Optimizer):
        def update(self, w, gradient, step):
            return w * np.nan

    with pytest.raises(q.Failure, match="returned nan for parameter 0"):
        q.simulate(data, optimizer=Away, workers=2, rounds=1, step=0.1)


def test_options_of_a_class_are_checked(q, base):
    class On(base):
        def __init__(self, problem, flag: bool = True):
            super().__init__(problem)

    class Rounds(base):
        def __init__(self, problem, rounds: int = 3):
            super().__init__(problem)

    class Untyped(base):
        def __init__(self, problem, what=None):
            super().__init__(problem)

    for made, sentence in [(On, "turn it round"), (Rounds, "rename it"), (Untyped, "annotate")]:
        with pytest.raises(q.BadInput, match=sentence):
            q.scheme(made)


@pytest.mark.parametrize(
    "X, y, sentence",
    [
        (np.zeros((5, 0)), [0, 1, 0, 1, 0], "no columns"),
        (np.zeros((3, 2)), [0, 0, 0], "two different labels"),
        (np.zeros(4), [0, 1, 0, 1], "rows x columns"),
        (np.zeros((3, 2)), [4, 4, 4], "two different labels"),
        (np.zeros((3, 2)), ["a", None, "b"], "label 1 is missing"),
        (np.zeros((3, 2)), ["a", "a", "a"], "two different labels"),
    ],
)
def test_data_that_are_none_are_refused(q, X, y, sentence):
    with pytest.raises(q.BadInput, match=sentence):
        q.dataset(X, y)


def test_sparse_data_are_checked_and_left_as_they_are(q):
    sparse = pytest.importorskip("scipy.sparse")
    twice = sparse.csr_matrix(([1.0, 2.0, 3.0], [1, 1, 0], [0, 2, 3]), shape=(2, 3))
    q.dataset(twice, [0, 1])
    assert twice.nnz == 3
    broken = sparse.csr_matrix(np.eye(3))
    broken.has_canonical_format = True
    broken.indptr = np.array([0, 900, 2, 3])
    with pytest.raises(q.BadInput, match="contradict"):
        q.dataset(broken, [0, 1, 0])


def test_labels_of_lists_and_of_two_numbers_are_binary(q):
    data = q.dataset([[1.0, 2], [3, 4]], [1, 2])
    assert data.attributes["task"] == "binary" and list(data.arrays()[1]) == [-1, 1]


def test_words_are_classes_by_the_alphabet_as_import_takes_them(q, tmp_path):
    words = ["yes", "no", "maybe", "no", "yes"]
    X = np.arange(10.0).reshape(5, 2)
    rows = "".join(f"{a},{b},{word}\n" for (a, b), word in zip(X, words))
    (tmp_path / "x.csv").write_text("a,b,y\n" + rows)
    for count, labels in [(3, [2, 1, 0, 1, 2]), (2, [1, -1])]:
        if count == 2:
            (tmp_path / "x.csv").write_text("".join(("a,b,y\n" + rows).splitlines(True)[:3]))
        path = tmp_path / f"imported-{count}.h5"
        words_of_import = ["--input", tmp_path / "x.csv", "--label", "y", "--output", path]
        assert call("import", *words_of_import).returncode == 0
        some = words[: len(labels)]
        data = q.dataset(X[: len(labels)], some, path=tmp_path / f"made-{count}.h5")
        assert list(data.arrays()[1]) == list(q.open(path).arrays()[1]) == labels
        assert data.attributes["task"] == q.open(path).attributes["task"]
        names = []
        for one in (path, data.path):
            with h5py.File(one) as file:
                names.append(list(file["class/name"].asstr()))
        assert names[0] == names[1] == sorted(set(some))
    # Words that are numbers are numbers.
    numbers = q.dataset(X, np.array([0.5, "2", 3, 4, 5], dtype=object))
    assert list(numbers.arrays()[1]) == [0.5, 2, 3, 4, 5]
    both = q.dataset(X, words, X[:2], ["no", "maybe"])
    assert list(both.arrays("test")[1]) == [1, 0]


@pytest.mark.parametrize(
    "keyword, meant",
    [
        ("lr", "step"),
        ("learning_rate", "step"),
        ("batch_size", "batch"),
        ("epochs", "rounds"),
        ("Delay", "delay"),
    ],
)
def test_keywords_of_other_libraries_find_their_option(q, data, keyword, meant):
    for command in (q.simulate, q.run, q.advise):
        with pytest.raises(q.BadInput, match=f"did you mean {meant}\\?"):
            command(data, workers=2, **{keyword: 1})
    with pytest.raises(q.BadInput, match="did you mean agc"):
        q.simulate(data, workers=2, scheme="acg")


def test_what_commands_log_is_raised(q, data):
    with pytest.raises(q.BadInput, match="metric"):
        q.tune(data, {"l2": [0.1]}, metric="nonsense")
    with pytest.raises(q.BadInput, match="mlp|linear"):
        q.optimum(data, model="mlp")


@pytest.mark.parametrize("files", [{}, {"trace": "resilient.h5"}], ids=["memory", "trace"])
def test_a_run_that_would_end_the_process_is_refused(q, data, tmp_path, monkeypatch, files):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(q.BadInput, match="resilient is on, which ends the process"):
        q.run(data, workers=2, rounds=1, step=1, resilient=True, **files)
    assert not list(tmp_path.iterdir())


def test_threads_that_inspect_leave_stdout_alone(q, data):
    before = os.readlink("/proc/self/fd/1")
    threads = [threading.Thread(target=lambda: q.inspect(data)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.readlink("/proc/self/fd/1") == before


def test_a_loaded_result_predicts(q, data, tmp_path):
    result = q.simulate(data, workers=2, rounds=5, step=0.1)
    loaded = q.load(result.save(tmp_path / "trace.h5"))
    assert np.array_equal(q.predict(loaded), q.predict(result))


@pytest.mark.parametrize(
    "code",
    [
        # The interpreter ends while a daemon simulates.
        """
import threading, time
class Slow(q.SynchronousScheme):
    def begin(self, version): self.received = []
    def receive(self, contribution):
        self.received.append(contribution)
        return self.mean(self.received) if len(self.received) == 3 else None
run = lambda: q.simulate(scheme=Slow, workers=3, rounds=10**7, trace_arrivals='none')
threading.Thread(target=run, daemon=True).start()
time.sleep(0.5)
""",
        # Advice uses threads, which a forked process does not have.
        """
import os
ask = lambda: q.advise(workers=4, delay=q.exponential(1), rounds=5, repeat=1).best
ask()
if os.fork() == 0:
    ask()
    os._exit(0)
assert os.wait()[1] == 0
""",
    ],
)
def test_processes_end(code):
    done = subprocess.run(
        [sys.executable, "-c", "import quorate as q\n" + code],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment({"PYTHONPATH": PACKAGE}),
    )
    assert done.returncode == 0, done.stderr


def test_a_python_without_numpy_is_told_which_one_to_use():
    code = "import sys; sys.modules['numpy'] = None; import quorate"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment({"PYTHONPATH": PACKAGE}),
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert f"{sys.executable} has no numpy" in last and "'make info' names it" in last
