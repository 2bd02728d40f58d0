# SPDX-License-Identifier: BSD-2-Clause
"""The module, as PYTHONPATH=build/python finds it."""

import os
import sys

import pytest


LEFT_OUT = pytest.StashKey[int]()


def pytest_ignore_collect(collection_path):
    """PyTorch is not built for the sanitizers of C++, and takes minutes to load beside them."""
    if "SANITIZERS" in os.environ and collection_path.name.startswith("torch_"):
        return True
    return None


def pytest_collection_modifyitems(config, items):
    """Leaves out what needs a GPU where there is none. It is no skipped test: those fail in CI,
    which has none."""
    if "torch" in sys.modules and sys.modules["torch"].cuda.is_available():
        return
    left_out = [item for item in items if item.get_closest_marker("gpu")]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)
        config.stash[LEFT_OUT] = len(left_out)


def pytest_terminal_summary(terminalreporter, config):
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{count} tests were left out, because torch sees no GPU here")


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
