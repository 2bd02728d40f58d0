# SPDX-License-Identifier: BSD-2-Clause
"""Memory that tensors free stays with the process."""

import resource

import pytest

torch = pytest.importorskip("torch")


def faults():
    """Pages that this process has been given."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def test_a_tensor_gets_the_memory_that_another_has_freed():
    import quorate.torch as qt

    data = torch.utils.data.TensorDataset(torch.zeros(4, 2), torch.zeros(4, 1))
    qt.Task(torch.nn.Linear(2, 1), data, torch.nn.MSELoss(), lambda p: torch.optim.SGD(p, lr=0.1))
    count = 12_000_000  # 48 MB, which glibc maps and unmaps by default, whatever went before
    torch.ones(count)
    before = faults()
    for _ in range(5):
        torch.ones(count)
    # The pages of one or two of them: something small may come to lie in the first hole.
    assert faults() - before < 2.5 * 4 * count / resource.getpagesize()
