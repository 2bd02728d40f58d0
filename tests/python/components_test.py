# SPDX-License-Identifier: BSD-2-Clause
"""Schemes, codes, models, delays and optimisers that Python defines."""

import numpy as np
import pytest

WORKERS = {"workers": 8, "delay": "exponential:1", "seed": 2}


@pytest.fixture(scope="module")
def fastest():
    from fastest import Fastest

    return Fastest


@pytest.fixture(scope="module")
def events(q):
    """The same scheme in the language of events and actions."""

    class FastestByEvents(q.Scheme):
        def __init__(self, problem, responders: int = 1):
            super().__init__(problem)
            self.responders = responders
            self.plans = [q.Plan([[i]]) for i in range(problem.workers)]
            self.next = 0

        def dispatch(self, version):
            self.received = []
            first = self.next
            self.next += len(self.plans)
            return [
                q.Dispatch(first + i, i, plan, inputs=version, draw=version)
                for i, plan in enumerate(self.plans)
            ]

        def handle(self, event, now):
            if isinstance(event, q.Start):
                return self.dispatch(0)
            if isinstance(event, q.Stepped):
                closing = q.Close(self.next - len(self.plans), self.next - 1)
                return [closing, *self.dispatch(event.version)]
            if isinstance(event, q.Arrived) and len(self.received) < self.responders:
                self.received += event.contributions
                if len(self.received) == self.responders:
                    return [q.Step(self.received, sum(c.samples for c in self.received))]

    return FastestByEvents


def test_a_scheme_in_python_gives_the_iterates_of_the_one_in_cpp(q, data, fastest):
    options = dict(rounds=30, step=0.2, **WORKERS)
    mine = q.simulate(data, scheme=fastest, responders=6, **options)
    theirs = q.simulate(data, scheme="ignore", collect=6, **options)
    assert np.array_equal(mine.model, theirs.model)
    # `ignore` adds the terms of the error in another order.
    error = [one.rounds.pop("decode_error") for one in (mine, theirs)]
    assert mine.rounds.equals(theirs.rounds) and np.allclose(*error, rtol=1e-14)
    assert mine.options["scheme"] == "fastest" and mine.options["responders"] == "6"


def test_a_scheme_of_events_does_the_same(q, data, fastest, events):
    options = dict(rounds=30, step=0.2, responders=5, **WORKERS)
    one = q.simulate(data, scheme=fastest, **options)
    other = q.simulate(data, scheme=events, **options)
    assert np.array_equal(one.model, other.model)


def test_options_of_a_scheme_are_checked(q, fastest):
    with pytest.raises(q.BadInput, match="--responders is many"):
        q.simulate(scheme=fastest, responders="many", rounds=3, **WORKERS)
    assert q.scheme(fastest, responders=3).label == "fastest responders 3"
    assert "fastest" in list(q.components("scheme")["name"])


def test_a_class_of_the_same_name_takes_its_place(q):
    def made(count):
        class Again(q.SynchronousScheme):
            def begin(self, version):
                self.received = []

            def receive(self, contribution):
                self.received.append(contribution)
                return self.mean(self.received) if len(self.received) == count else None

        return Again

    for count in (2, 5):
        result = q.simulate(scheme=made(count), rounds=3, **WORKERS)
        assert (result.rounds["used"] == count).all()


def test_what_a_scheme_gets_wrong_is_said(q, fastest):
    class Nothing(fastest):
        name = "nothing"

        def receive(self, contribution):
            return 3

    with pytest.raises(TypeError, match="Nothing returned 3: return a Step"):
        q.simulate(scheme=Nothing, rounds=3, **WORKERS)

    class Fails(fastest):
        name = "fails"

        def receive(self, contribution):
            raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        q.simulate(scheme=Fails, rounds=3, **WORKERS)

    class Lost(fastest):
        name = "lost"

        def needs(self):
            return q.Needs(self.problem.partitions(), [[0]])

    with pytest.raises(q.BadInput, match="lists what 1 workers store, but there are 8"):
        q.simulate(scheme=Lost, rounds=3, **WORKERS)


def test_check_finds_broken_promises(q, fastest, events):
    assert "no promise broken" in q.check(fastest, responders=3)
    assert "no promise broken" in q.check(events, responders=3)

    class Twice(fastest):
        name = "twice"

        def receive(self, contribution):
            self.received.append(contribution)
            if len(self.received) == self.responders:
                return q.Step([contribution, contribution], 1)

    with pytest.raises(q.BadInput, match="named twice"):
        q.check(Twice, responders=3)


def cyclic(workers, stragglers):
    """B of a cyclic code whose rows span the ones."""
    draw = np.random.default_rng(0)
    H = draw.normal(size=(stragglers, workers))
    H[:, -1] = -H[:, :-1].sum(axis=1)
    B = np.zeros((workers, workers))
    for i in range(workers):
        at = [(i + j) % workers for j in range(stragglers + 1)]
        B[i, i] = 1
        B[i, at[1:]] = np.linalg.solve(H[:, at[1:]], -H[:, i])
    return B


def test_a_cyclic_matrix_has_the_times_of_the_built_in_code(q, data):
    mine = q.code(cyclic(8, 2))
    options = dict(rounds=25, step=0.2, **WORKERS)
    one = q.simulate(data, scheme=mine, **options)
    other = q.simulate(data, scheme="cyclic", stragglers=2, **options)
    assert np.array_equal(one.rounds["time"], other.rounds["time"])
    assert (one.rounds["decode_error"] < 1e-12).all()
    assert np.allclose(one.model, other.model, rtol=1e-9)


def test_a_code_may_have_a_decoder_of_its_own(q):
    B = cyclic(8, 2)
    called = []

    def decode(received):
        called.append(received)
        weights = np.linalg.lstsq(B[received].T, np.ones(8), rcond=None)[0]
        return weights if np.allclose(B[received].T @ weights, 1) else None

    mine = q.simulate(scheme=q.code(B, decode), rounds=20, **WORKERS)
    assert np.array_equal(
        mine.rounds["time"], q.simulate(scheme=q.code(B), rounds=20, **WORKERS).rounds["time"]
    )
    assert all(one == sorted(one) for one in called)


def test_an_approximate_code_says_its_error(q):
    B = np.eye(8)
    result = q.simulate(scheme=q.code(B, collect=6), rounds=5, **WORKERS)
    assert np.allclose(result.rounds["decode_error"], 2) and (result.rounds["used"] == 6).all()


@pytest.mark.parametrize(
    "weights, sentence",
    [
        (lambda received: np.ones(len(received)), r"\|B'a - 1\|\^2"),
        (lambda received: [1.0], "returned 1 weights for the answers of 2"),
        (lambda received: np.full(len(received), np.nan), "return None until they are"),
    ],
)
def test_a_decoder_that_returns_nonsense_is_refused(q, weights, sentence):
    with pytest.raises(q.BadInput, match=sentence):
        q.simulate(
            scheme=q.code(np.eye(8), lambda r: None if len(r) < 2 else weights(r)),
            rounds=3,
            **WORKERS,
        )


def test_a_matrix_that_is_no_code_is_refused(q):
    with pytest.raises(q.BadInput, match="column 3"):
        q.simulate(scheme=q.code(np.diag([1.0, 1, 0, 1, 1, 1, 1, 1])), rounds=2, **WORKERS)
    with pytest.raises(q.BadInput, match="there are 8 workers"):
        q.simulate(scheme=q.code(np.eye(5)), rounds=2, **WORKERS)
    with pytest.raises(q.BadInput, match="finite coefficients"):
        q.code([[1, np.nan]])


def test_a_model_in_numpy_follows_the_built_in_one(q, data, logistic):
    options = dict(optimizer="agd", step=0.3, rounds=40, evaluate_every=10, l2=1e-3, **WORKERS)
    one = q.simulate(data, model=logistic, **options)
    other = q.simulate(data, model="logistic", **options)
    assert np.abs(one.model - other.model).max() < 1e-10
    assert np.allclose(one.evaluations["auc"], other.evaluations["auc"])
    again = q.simulate(data, model=logistic, **options)
    assert np.array_equal(one.model, again.model)


def test_a_model_meets_sparse_rows_as_csr(q, logistic):
    sparse = pytest.importorskip("scipy.sparse")
    rows = sparse.random(120, 40, density=0.1, format="csr", random_state=3)
    data = q.dataset(rows, np.where(np.arange(120) % 3, 1, -1))
    options = dict(optimizer="agd", step=0.3, rounds=20, **WORKERS)
    one = q.simulate(data, model=logistic, **options)
    other = q.simulate(data, model="logistic", **options)
    assert np.abs(one.model - other.model).max() < 1e-10


def test_a_model_may_bring_its_loss_and_its_first_parameters(q, data):
    class Absolute(q.Model):
        def parameters(self, columns):
            return columns + 1

        def initial(self, columns, seed):
            return np.full(columns + 1, 0.5)

        def loss_and_gradient(self, X, y, w):
            rest = self.scores(X, w) - y
            slopes = np.sign(rest)
            return np.abs(rest).sum(), np.append(X.T @ slopes, slopes.sum())

        def scores(self, X, w):
            return X @ w[:-1] + w[-1]

        def loss(self, scores, y):
            return np.abs(scores - y).sum()

    result = q.simulate(data, model=Absolute, step=0.0, rounds=2, evaluate_every=1, **WORKERS)
    assert np.array_equal(result.model, np.full(7, 0.5))
    X, y = data.arrays()
    expected = np.abs(X @ np.full(6, 0.5) + 0.5 - y).mean()
    assert np.isclose(result.loss, expected)


def test_what_a_model_gets_wrong_is_said(q, data, logistic):
    class Short(logistic):
        name = "short"

        def loss_and_gradient(self, X, y, w):
            return 0.0, w[:-1]

    with pytest.raises(
        q.BadInput, match=r"Short.loss_and_gradient\(\) returned 5 numbers where there are 6"
    ):
        q.simulate(data, model=Short, rounds=2, step=0.1, **WORKERS)

    class Spoilt(logistic):
        name = "spoilt"

        def loss_and_gradient(self, X, y, w):
            return super().loss_and_gradient(X, y, w)[0], np.full_like(w, np.nan)

    with pytest.raises(q.Failure, match="finite"):
        q.simulate(data, model=Spoilt, rounds=2, step=0.1, **WORKERS)

    class Half(q.Model):
        def parameters(self, columns):
            return columns

    with pytest.raises(q.BadInput, match="Half has no loss_and_gradient"):
        q.simulate(data, model=Half, rounds=2, step=0.1, **WORKERS)


def test_an_optimiser_in_python(q, data):
    class HeavyBall(q.Optimizer):
        memory = 1

        def __init__(self, friction: float = 0.9):
            self.friction = friction

        def update(self, w, gradient, step, v):
            v[:] = self.friction * v + gradient
            return w - step * v

    options = dict(rounds=30, step=0.1, l2=1e-2, l1=1e-3, **WORKERS)
    one = q.simulate(data, optimizer=HeavyBall, friction=0.8, **options)
    other = q.simulate(data, optimizer="momentum", momentum=0.8, **options)
    assert np.allclose(one.model, other.model, rtol=1e-12, atol=1e-14)


def test_a_limit_of_seconds_over_several_items_takes_whole_ones(q):
    class Prefix(q.Scheme):
        """Workers compute all blocks in descending order, for as long as `seconds` says."""

        seen = []

        def __init__(self, problem, seconds: float = 1.0, samples: int = 0):
            super().__init__(problem)
            self.seconds, self.samples, self.next = seconds, samples, 0

        def needs(self):
            blocks = self.problem.partitions()
            everything = list(range(len(blocks)))
            return q.Needs(blocks, [everything] * len(blocks), limits_time=True)

        def dispatch(self, version):
            n, first = self.problem.workers, self.next
            self.next += n
            self.received = []
            plan = q.Plan([list(reversed(range(n)))])
            limits = {"seconds": self.seconds, "samples": self.samples}
            return [q.Dispatch(first + i, i, plan, version, version, **limits) for i in range(n)]

        def handle(self, event, now):
            if isinstance(event, q.Start):
                return self.dispatch(0)
            if isinstance(event, q.Stepped):
                n = self.problem.workers
                return [q.Close(self.next - n, self.next - 1), *self.dispatch(event.version)]
            if isinstance(event, q.Arrived):
                self.received += event.contributions
                self.seen += [(c.items, c.samples) for c in event.contributions]
                if len(self.received) == self.problem.workers:
                    return [q.Step(self.received, sum(c.samples for c in self.received))]

    options = dict(workers=4, rows=400, rounds=2, row_time=0.01, slowdown="fixed:2,3")
    q.simulate(scheme=Prefix, seconds=3.0, **options)
    assert Prefix.seen == [(3, 300), (3, 300), (3, 300), (1, 100)] * 2
    with pytest.raises(q.BadInput, match="limits task 0, which has more than one part"):
        q.simulate(scheme=Prefix, samples=5, **options)


def test_a_scheme_in_python_folds_gradients(q, data):
    class Halves(q.SynchronousScheme):
        """Both workers compute all rows; each sends one half of the gradient."""

        def needs(self):
            return q.Needs(self.problem.partitions(), [[0, 1]] * 2, exact=True, places=True)

        def plan(self, worker):
            return q.Plan([q.Part([0, 1], [1.0 - worker, worker] * 2)])

        def begin(self, version):
            self.received = {}

        def receive(self, contribution):
            self.received[contribution.worker] = contribution
            if len(self.received) == 2:
                length = (self.problem.parameters + 1) // 2
                placed = [
                    q.Placed(one, 1.0, (0, length), worker * length)
                    for worker, one in self.received.items()
                ]
                return q.Step([], self.problem.rows, placed=placed)

    options = dict(rounds=30, step=0.2, workers=2)
    mine = q.simulate(data, scheme=Halves, **options)
    theirs = q.simulate(data, scheme="uncoded", **options)
    assert np.allclose(mine.model, theirs.model, rtol=0, atol=1e-12)
    with pytest.raises(q.BadInput, match="fold of 3 coefficients for 2 items"):
        Halves.plan = lambda self, worker: q.Plan([q.Part([0, 1], [1.0] * 3)])
        q.simulate(data, scheme=Halves, **options)


def test_a_scheme_in_python_has_workers_hold_gradients(q, data):
    class Asked(q.Scheme):
        """Workers say that they are done, and are then asked for half of their gradients."""

        next = 0
        too_early = False

        def needs(self):
            return q.Needs(self.problem.partitions(), [[0], [1]], exact=True)

        def dispatch(self, version, parts):
            first, self.next = self.next, self.next + 2
            self.came = []
            plans = [q.Plan([part]) for part in parts]
            return [q.Dispatch(first + i, i, plans[i], version, version) for i in range(2)]

        def handle(self, event, now):
            if isinstance(event, (q.Start, q.Stepped)):
                self.asked, self.version = False, getattr(event, "version", 0)
                self.begun = self.next
                return self.dispatch(self.version, [q.Part([i], held=True) for i in range(2)])
            if isinstance(event, q.Arrived):
                self.came += event.contributions
                if len(self.came) < 2:
                    return []
                if self.asked or self.too_early:
                    rows = self.problem.rows
                    terms = [(one, 2.0) for one in self.came]
                    return [q.Step(terms, rows), q.Close(self.begun, self.next - 1)]
                self.asked = True
                items = [q.Item(i, 0.5, operation="held") for i in range(2)]
                return self.dispatch(self.version, [q.Part([item]) for item in items])

    options = dict(rounds=30, step=0.2, workers=2)
    mine = q.simulate(data, scheme=Asked, **options)
    theirs = q.simulate(data, scheme="uncoded", **options)
    assert np.allclose(mine.model, theirs.model, rtol=0, atol=1e-12)
    Asked.too_early = True
    with pytest.raises(q.BadInput, match="contribution 0, whose part is held"):
        q.simulate(data, scheme=Asked, **options)


def test_a_scheme_that_ends_rounds_otherwise_does_not_go_on(q, data, events, tmp_path):
    class First(events):
        """The first answers of a round."""

        answers, breaks_at = 3, 5

        def __init__(self, problem):
            super().__init__(problem, responders=self.answers)

        def dispatch(self, version):
            if version == self.breaks_at:
                raise RuntimeError("that was all")
            return super().dispatch(version)

    q.add(First)
    run = {"scheme": First, "workers": 5, "rounds": 9, "step": 0.1, "delay": q.exponential(1)}
    run |= {"trace": tmp_path / "a.h5", "checkpoint": tmp_path / "a.ckp", "checkpoint_every": "1r"}
    with pytest.raises(Exception, match="that was all"):
        q.simulate(data, **run)
    First.answers, First.breaks_at = 4, None
    with pytest.raises(q.Failure, match="ends rounds by another rule .* of what was"):
        q.simulate(data, **run, resume=True)
    First.answers = 3
    assert q.simulate(data, **run, resume=True).status == "completed"
