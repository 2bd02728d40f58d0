# SPDX-License-Identifier: BSD-2-Clause
"""The problem of the code of Ringmaster ASGD, smaller: a plugin of `python3 -m quorate`.

Model `tridiagonal`: f(w) = w'Aw / 2 - b'w in 100 variables (the code has 1,729), with
A = tridiag(-1, 2, -1) / 4 and b = -e_1 / 4, from sqrt(100) e_1, less its least value. The
gradient of a row x has 0.01 x more in each variable, the same one as in the code.
Delay `square-root-times`: a task of worker i takes 1 + sqrt(i) + |N(0, i + 1)| s. The normal
numbers of a worker repeat after 64 tasks.
"""

import numpy as np

import quorate as q

WIDTH = 100
LEAST = WIDTH / (8 * (WIDTH + 1))
DRAWS = 64
normal = np.abs(np.random.default_rng(1).standard_normal((8192, DRAWS)))


def product(w):
    """A w."""
    y = w / 2
    y[1:] -= w[:-1] / 4
    y[:-1] -= w[1:] / 4
    return y


class Tridiagonal(q.Model):
    """a quadratic in 100 variables, with one normal number as the noise of all"""

    rows_at_once = 4096

    def parameters(self, columns):
        return WIDTH

    def initial(self, columns, seed):
        w = np.zeros(WIDTH)
        w[0] = WIDTH**0.5
        return w

    def scores(self, X, w):
        return (w @ product(w) + w[0] / 2) / 2 + LEAST + 0.01 * X[:, 0] * w.sum()

    def loss(self, scores, y):
        return scores.sum()

    def loss_and_gradient(self, X, y, w):
        gradient = product(w)
        value = (w @ gradient + w[0] / 2) / 2 + LEAST
        gradient[0] += 0.25
        noise = 0.01 * X[:, 0].sum()
        return len(X) * value + noise * w.sum(), len(X) * gradient + noise


def square_root_times(worker, draw, load):
    """worker i takes 1 + sqrt(i) + |N(0, i + 1)| seconds"""
    return 1 + worker**0.5 + (worker + 1) ** 0.5 * normal[worker, draw % DRAWS]


q.add(square_root_times)
