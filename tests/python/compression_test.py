# SPDX-License-Identifier: BSD-2-Clause
"""Compressed contributions with error feedback, against a computation in NumPy."""

import numpy as np
import pytest

from program import schemes

WORKERS, REPLICAS, ROUNDS, STEP = 6, 2, 6, 0.5


def top(v, k):
    """v without all but its k largest numbers."""
    found = np.zeros_like(v)
    largest = np.argsort(-np.abs(v), kind="stable")[:k]
    found[largest] = v[largest]
    return found


def gradient(X, y, w):
    """The sum of the gradients of logistic losses."""
    return -(X * (y / (1 + np.exp(y * (X @ w))))[:, None]).sum(axis=0)


def used_in(run):
    """The contributions of each round's estimate: (worker, weight), in the order of the rounds."""
    worker_of = dict(zip(run.array("arrival", "event"), run.array("arrival", "worker")))
    rounds = [[] for _ in range(ROUNDS)]
    columns = [run.array("weight", name) for name in ("round", "event", "weight")]
    for number, event, weight in zip(*columns):
        rounds[number - 1].append((worker_of[event], weight))
    return rounds


def recomputed(X, y, used, k, feedback):
    """The models of a run, and by how much what was used of what was sent, with what the workers
    keep, differs from what they computed of it (agc: worker i holds the rows of group i // 2)."""
    cuts = [len(y) * i // WORKERS for i in range(0, WORKERS + 1, REPLICAS)]
    rows = [slice(*ends) for ends in zip(cuts, cuts[1:])]
    w, models = np.zeros(X.shape[1]), []
    kept, sums = np.zeros((WORKERS, len(w))), np.zeros((2, WORKERS, len(w)))
    for terms in used:
        estimate = np.zeros_like(w)
        for worker, weight in terms:
            own = rows[worker // REPLICAS]
            computed = gradient(X[own], y[own], w)
            sent = top(kept[worker] + computed, k)
            sums[:, worker] += computed, sent
            if feedback:
                kept[worker] += computed - sent
            estimate += weight * sent
        w = w - STEP * estimate
        models.append(w)
    return np.array(models), np.abs(sums[1] + kept - sums[0]).max()


@pytest.mark.parametrize("feedback", [True, False])
def test_what_is_sent_and_used_and_the_memory_are_what_was_computed(q, arrays, feedback):
    X, y, *_ = arrays
    data, orders = q.dataset(X, y), set()
    for seed in range(1000 if feedback else 20):
        run = q.simulate(
            data,
            scheme="agc",
            stragglers=REPLICAS - 1,
            collect=3,
            workers=WORKERS,
            rounds=ROUNDS,
            step=STEP,
            optimizer="gd",
            l2=0,
            delay=q.exponential(1),
            compressor="topk:0.3",
            error_feedback=feedback,
            trace_weights=True,
            evaluate_every=0,
            seed=seed,
        )
        used = used_in(run)
        orders.add(str(used))
        models, missing = recomputed(X, y, used, 2, feedback)
        assert np.abs(run.model - models[-1]).max() < 1e-12 * np.abs(models[-1]).max()
        assert (missing < 1e-11) == feedback
    assert len(orders) > 0.9 * (seed + 1)


# Why each scheme that refuses error feedback does; all others train with it.
REFUSE = {
    "decodes or compares the very numbers": "draco-cyclic draco-repetition elastic",
    "has workers send several contributions": "m-sgc partial partial-cyclic partial-frc"
    " reed-solomon",
    "has workers repeat tasks": "amb-dg",
    "has workers keep gradients": "pgc-cyclic pgc-frc",
    "before it knows whether the last one is used": "clones dsag ia2sgd k-batch-async"
    " k-batch-sync local-sgd malenia mindflayer rennala ringleader svrg",
}


def test_each_scheme_trains_with_error_feedback_or_says_why_not(q, data):
    refused = {}
    for name, example in schemes():
        names = [word[2:].replace("-", "_") for word in example[::2]]
        options = {"workers": 7, "rounds": 5, "step": 0.1, "row_time": 1e-5}
        options |= dict(zip(names, example[1::2]))
        try:
            run = q.simulate(
                data, scheme=name, **options, compressor="topk:0.5", error_feedback=True
            )
            assert run.status == "completed" and np.isfinite(run.model).all(), name
        except q.BadInput as error:
            refused[name] = str(error)
    for why, names in REFUSE.items():
        assert sorted(name for name, text in refused.items() if why in text) == names.split()
    assert len(refused) == sum(len(names.split()) for names in REFUSE.values())
