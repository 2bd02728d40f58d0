# SPDX-License-Identifier: BSD-2-Clause
"""A module in float32 under all schemes: a run, its simulation from its trace, and its numbers."""

import numpy as np
import pytest

pytest.importorskip("torch")

import quorate.torch as qt  # noqa: E402
from program import schemes  # noqa: E402
from small_torch import images, network, nn, sgd  # noqa: E402

# They place machines on rows, or compare sums to more digits.
NOT_FOR_MODULES = {"draco-cyclic", "elastic"}


def options_of(words):
    found = {"step": 0.5}  # of local steps, else a factor
    for word, value in zip(words, [*words[1:], "--"]):
        if word.startswith("--"):
            found[word[2:].replace("-", "_")] = True if value.startswith("--") else value
    if "batch" in found:
        found["batch"] = 21
    return found


@pytest.mark.parametrize(("scheme", "words"), schemes(), ids=lambda one: str(one))
def test_a_run_on_threads_is_replayed_bit_for_bit(q, scheme, words, tmp_path):
    task = qt.Task(network(nn.BatchNorm2d(4)), images(), nn.CrossEntropyLoss(), sgd)
    trace = tmp_path / "run.h5"
    given = {"workers": 7, "rounds": 4, "delay": "exponential:0.001", **options_of(words)}
    if scheme in NOT_FOR_MODULES:
        with pytest.raises(q.BadInput):
            q.run(task, scheme=scheme, trace=trace, **given)
        return
    run = q.run(task, scheme=scheme, trace=trace, **given)
    replayed = q.simulate(task, replay=trace)
    assert np.array_equal(run.model, replayed.model)
    assert np.array_equal(run.model, run.model.astype(np.float32))
    assert np.isfinite(run.model).all()
