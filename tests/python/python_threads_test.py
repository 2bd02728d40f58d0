# SPDX-License-Identifier: BSD-2-Clause
"""quorate.run without a launcher: its workers are threads of this process."""

import numpy as np
import pytest

OPTIONS = {"workers": 8, "optimizer": "agd", "step": 0.3, "rounds": 25, "seed": 1}


def test_a_run_on_threads_is_its_simulation_and_its_replay(q, data, tmp_path):
    run = q.run(data, delay=q.exponential(0.002), **OPTIONS)
    simulated = q.simulate(data, delay=q.exponential(0.002), **OPTIONS)
    assert np.array_equal(run.model, simulated.model)
    run.save(tmp_path / "run.h5")
    assert np.array_equal(q.simulate(replay=tmp_path / "run.h5").model, run.model)


def test_components_of_python_run_on_threads(q, data, logistic):
    run = q.run(data, model=logistic, scheme="frc", stragglers=1, **OPTIONS)
    built_in = q.run(data, scheme="frc", stragglers=1, **OPTIONS)
    assert np.abs(run.model - built_in.model).max() < 1e-10


def test_what_a_worker_raises_is_raised(q, data):
    class Broken(q.Model):
        def parameters(self, columns):
            return columns

        def loss_and_gradient(self, X, y, w):
            raise ZeroDivisionError("no gradient today")

        def scores(self, X, w):
            return X @ w

    with pytest.raises(ZeroDivisionError, match="no gradient today"):
        q.run(data, model=Broken, **OPTIONS)
    assert q.run(data, **OPTIONS).rounds is not None  # and the next run works


def test_the_number_of_workers_is_asked_for(q, data):
    with pytest.raises(q.BadInput, match="--workers is missing"):
        q.run(data)
