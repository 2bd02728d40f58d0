# SPDX-License-Identifier: BSD-2-Clause
"""Components of Python that would compute something else than meant, and say nothing: refused."""

import itertools
import threading

import numpy as np
import pytest

RUN = {"workers": 4, "rounds": 4, "step": 0.1, "l2": 0}


@pytest.fixture(scope="module")
def squares(q):
    """Half the squared error, whose loss no usual one is."""

    class Squares(q.Model):
        rows_at_once = 8

        def parameters(self, columns):
            return columns

        def scores(self, X, w):
            return X @ w

        def loss_and_gradient(self, X, y, w):
            rest = X @ w - y
            return (rest**2).sum() / 2, X.T @ rest

    return Squares


def test_a_model_is_scored_with_the_loss_that_it_trains(q, data, squares):
    sentence = "the logistic loss of their scores, with which models are scored"
    with pytest.raises(q.BadInput, match=f"returns a loss of 1 for some rows, but {sentence}"):
        q.simulate(data, model=squares, evaluate_every=1, **RUN)

    class Said(squares):
        def loss(self, scores, y):
            return ((scores - y) ** 2).sum() / 2

    result = q.simulate(data, model=Said, evaluate_every=1, **RUN)
    X, y = data.arrays()
    assert np.isclose(result.loss, ((X @ result.model - y) ** 2).mean() / 2)

    class Other(squares):
        def loss(self, scores, y):
            return ((scores - y) ** 2).sum()

    with pytest.raises(q.BadInput, match="but what loss.. returns for their scores"):
        q.simulate(data, model=Other, **RUN)

    class Named(squares):
        loss_name = "hinge"

    assert q.simulate(data, model=Named, evaluate_every=1, **RUN).status == "completed"


def test_the_loss_is_compared_where_it_tells_losses_apart(q, data, logistic):
    """At parameters of zero both losses are log 2 for each row."""

    class Steeper(logistic):
        def loss_and_gradient(self, X, y, w):
            loss, gradient = super().loss_and_gradient(X, y, 3 * w)
            return loss, 3 * gradient

    with pytest.raises(q.BadInput, match="the logistic loss of their scores"):
        q.simulate(data, model=Steeper, workers=1, rounds=3, step=1.0)


@pytest.mark.parametrize("what", ["both", "loss", "gradient"])
def test_means_are_refused(q, data, logistic, what):
    class Mean(logistic):
        name = f"mean-{what}"

        def loss_and_gradient(self, X, y, w):
            loss, gradient = super().loss_and_gradient(X, y, w)
            return (
                loss if what == "gradient" else loss / len(y),
                gradient if what == "loss" else gradient / len(y),
            )

    with pytest.raises(q.BadInput, match="return sums over the rows, no means .*reduction") as said:
        q.simulate(data, model=Mean, **RUN)
    assert "\n" not in str(said.value)


def test_a_model_that_remembers_is_refused(q, data, logistic):
    class Warm(logistic):
        calls = 0

        def loss_and_gradient(self, X, y, w):
            Warm.calls += 1
            loss, gradient = super().loss_and_gradient(X, y, w)
            return loss, gradient * (1 + 1 / Warm.calls)

    with pytest.raises(q.BadInput, match="gradient"):
        q.simulate(data, model=Warm, **RUN)


def test_a_model_that_draws_for_itself_is_refused(q, data, logistic):
    draw = np.random.default_rng(1)

    class Anywhere(logistic):
        def initial(self, columns, seed):
            return draw.normal(size=columns)

    with pytest.raises(q.BadInput, match="initial.. returned two answers for the seed 7"):
        q.simulate(data, model=Anywhere, seed=7, **RUN)

    class BySeed(logistic):
        def initial(self, columns, seed):
            return np.random.default_rng(seed).normal(size=columns)

    assert q.simulate(data, model=BySeed, seed=7, **RUN).status == "completed"

    class Dropping(logistic):
        def scores(self, X, w):
            return X @ (w * draw.integers(0, 2, len(w)))

    with pytest.raises(q.BadInput, match="scores.. returned two answers"):
        q.simulate(data, model=Dropping, **RUN)


def momentum(q, **attributes):
    class Momentum(q.Optimizer):
        memory = attributes.pop("memory", 0)

        def __init__(self):
            for name, value in attributes.items():
                setattr(self, name, value)

        def update(self, w, gradient, step, *memory):
            return self.moved(w, gradient, step, *memory)

    return Momentum


def test_an_optimiser_keeps_what_it_remembers_in_its_memory(q, data):
    class Heavy(momentum(q)):
        def moved(self, w, gradient, step):
            self.v = gradient + 0.9 * getattr(self, "v", 0)
            return w - step * self.v

    with pytest.raises(q.BadInput, match=r"changes self.v, which no checkpoint keeps: .*memory"):
        q.simulate(data, optimizer=Heavy, **RUN)

    class InPlace(momentum(q, past=[np.zeros(6)])):
        def moved(self, w, gradient, step):
            self.past[0] += gradient
            return w - step * self.past[0]

    with pytest.raises(q.BadInput, match="changes self.past"):
        q.simulate(data, optimizer=InPlace, **RUN)

    class Drawing(momentum(q, draw=np.random.default_rng(1))):
        def moved(self, w, gradient, step):
            return w - step * (gradient + self.draw.normal(size=len(w)))

    with pytest.raises(q.BadInput, match="changes self.draw"):
        q.simulate(data, optimizer=Drawing, **RUN)

    class OfTheClass(momentum(q)):
        count = itertools.count()

        def moved(self, w, gradient, step):
            return w - step / (1 + next(self.count)) * gradient

    with pytest.raises(q.BadInput, match="changes OfTheClass.count"):
        q.simulate(data, optimizer=OfTheClass, **RUN)


def test_what_changes_late_is_found_at_the_next_look(q, data):
    class Late(momentum(q, restarted=False)):
        memory = 1

        def moved(self, w, gradient, step, count):
            count += 1
            self.restarted = self.restarted or count[0] == 3
            return w - step * gradient

    with pytest.raises(q.BadInput, match="changes self.restarted"):
        q.simulate(data, optimizer=Late, **RUN)


def test_an_optimiser_may_have_attributes_that_stay(q, data):
    attributes = {"a": np.ones(6), "b": {"c": [1, {2}]}, "lock": threading.Lock(), "f": len}

    class Constant(momentum(q, **attributes, memory=1)):
        def moved(self, w, gradient, step, v):
            with self.lock:
                v += self.a * gradient
            return w - step * v

    assert q.simulate(data, optimizer=Constant, **RUN).status == "completed"


def test_delays_and_decoders_that_draw_for_themselves_are_refused(q):
    draw = np.random.default_rng(1)
    with pytest.raises(q.BadInput, match="delay function returned .* and then .* for worker 0"):
        q.simulate(workers=3, rounds=2, delay=lambda *_: draw.exponential())
    fine = q.simulate(
        workers=3, rounds=2, delay=lambda *at: np.random.default_rng((1, *at[:2])).exponential()
    )
    assert fine.time > 0

    def decode(received):
        return np.ones(3) + draw.normal(size=3) if len(received) == 3 else None

    with pytest.raises(q.BadInput, match="two answers for the same workers"):
        q.simulate(workers=3, rounds=2, scheme=q.code(np.eye(3), decode, collect=3))


def test_messages_show_no_arrays(q, data, logistic):
    """But say what was given in a few words."""
    many = np.arange(1e5)

    class Scheme(q.Scheme):
        def handle(self, event, now):
            return many

    class Model(logistic):
        def loss_and_gradient(self, X, y, w):
            return many

    for call, error in [
        (lambda: q.simulate(many, workers=2), q.BadInput),
        (lambda: q.simulate(workers=2, rounds=many), q.BadInput),
        (lambda: q.simulate(workers=2, delay=lambda *_: many), q.BadInput),
        (lambda: q.simulate(workers=2, scheme=Scheme), TypeError),
        (lambda: q.simulate(data, model=Model, **RUN), q.BadInput),
        (lambda: q.dataset(many[:, None], "regression"), q.BadInput),
        (lambda: q.Step([(1, many)], 1), TypeError),
        (lambda: q.Needs([], [], other=many), TypeError),
    ]:
        with pytest.raises(error) as said:
            call()
        assert len(str(said.value)) < 200 and "\n" not in str(said.value), said.value
        assert "0., " not in str(said.value)
    with pytest.raises(q.BadInput, match="data is ndarray of 100000 elements: give a data set"):
        q.simulate(many, workers=2)
