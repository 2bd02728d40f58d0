#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's rival of SciPy: X w and X'r on one worker's shard of a sparse data set.

    python3 tests/bench/rival_scipy.py amazon.h5

Needs python3-scipy, which nothing else here does. Compare with `make bench
ARGS=--benchmark_filter=shard` in the same minute.
"""

import sys
import timeit

import h5py
import numpy as np
import scipy.sparse

with h5py.File(sys.argv[1], "r", locking=False) as file:
    rows = file["train/label"].shape[0] // 30
    start = file["train/row_start"][: rows + 1]
    column = file["train/column"][: start[-1]]
used, column = np.unique(column, return_inverse=True)
shape = (rows, len(used))
x = scipy.sparse.csr_matrix((np.ones(start[-1]), column, start), shape=shape)
w, r = np.full(shape[1], 0.01), np.full(rows, 0.5)
times = timeit.repeat(lambda: x.T @ (r * (x @ w)), number=20, repeat=20)
print(f"{rows} x {shape[1]}, {len(column)} entries: {min(times) / 20 * 1e6:.1f} us")
