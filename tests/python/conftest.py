# SPDX-License-Identifier: BSD-2-Clause
"""The module, as PYTHONPATH=build/python finds it."""

import pytest


@pytest.fixture(scope="session")
def q():
    import quorate

    return quorate


@pytest.fixture(scope="session")
def arrays():
    """A small problem with two classes: X, y, X_test, y_test."""
    import numpy as np

    draw = np.random.default_rng(5)
    truth = draw.normal(size=6)
    X = draw.normal(size=(240, 6))
    y = np.where(X @ truth + 0.5 * draw.normal(size=240) > 0, 1, -1)
    return X[:200], y[:200], X[200:], y[200:]


@pytest.fixture(scope="session")
def data(q, arrays):
    return q.dataset(*arrays)


@pytest.fixture(scope="session")
def logistic(q):
    from numpy_logistic import NumpyLogistic

    return NumpyLogistic
