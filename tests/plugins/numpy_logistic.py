# SPDX-License-Identifier: BSD-2-Clause
"""Logistic regression in NumPy, as a user's model."""

import numpy as np
import quorate as q


class NumpyLogistic(q.Model):
    def parameters(self, columns):
        return columns

    def loss_and_gradient(self, X, y, w):
        margins = y * (X @ w)
        return np.logaddexp(0, -margins).sum(), -X.T @ (y / (1 + np.exp(margins)))

    def scores(self, X, w):
        return X @ w
