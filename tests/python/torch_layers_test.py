# SPDX-License-Identifier: BSD-2-Clause
"""Layers with memory or chance, frozen and tied parameters, in a Task of quorate.torch."""

import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_torch import SAMPLES, images, network, sgd  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import Dataset  # noqa: E402

import quorate.torch as qt  # noqa: E402


def task(module, make=sgd, data=None, **options):
    return qt.Task(module, data or images(), nn.CrossEntropyLoss(), make, **options)


def one_of(result, name):
    return qt.state(result)["module"][name]


def test_running_statistics_move_by_the_mean_over_micro_batches(q):
    """Of 48 samples two workers have 24 each, in micro-batches of 16 and 8."""
    module = network(nn.BatchNorm2d(4, momentum=0.3))
    with torch.no_grad():
        module[1].running_mean.fill_(0.5)
    result = q.simulate(task(module, micro_batch=16), workers=2, rounds=1)
    inputs = images().tensors[0]
    mean, var = torch.zeros(4), torch.zeros(4)
    for first, end in ((0, 16), (16, 24), (24, 40), (40, 48)):
        own = network(nn.BatchNorm2d(4, momentum=0.3))
        with torch.no_grad():
            own[1].running_mean.fill_(0.5)
            own(inputs[first:end])
        mean += (end - first) / SAMPLES * own[1].running_mean
        var += (end - first) / SAMPLES * own[1].running_var
    assert torch.allclose(one_of(result, "1.running_mean"), mean, atol=1e-6)
    assert torch.allclose(one_of(result, "1.running_var"), var, atol=1e-6)
    assert int(one_of(result, "1.num_batches_tracked")) == 1


def test_layers_that_the_user_has_set_to_evaluate_keep_their_statistics(q):
    module = network(nn.BatchNorm2d(4), nn.Dropout(0.5))
    module[1].eval()
    result = q.simulate(task(module), workers=2, rounds=3, evaluate_every=1)
    assert torch.equal(one_of(result, "1.running_mean"), torch.zeros(4))
    first = [task(module).new_model().add_gradient(*_call(result)) for _ in range(2)]
    whole = task(module.eval()).new_model().add_gradient(*_call(result))
    assert first[0] == first[1] != whole  # dropout draws still


def _call(result):
    return np.arange(SAMPLES), result.model, 1.0, np.zeros(len(result.model))


class Noisy(Dataset):
    """Images with noise from all generators, as augmentation has it."""

    def __init__(self):
        self.images = images()

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        x, y = self.images[i]
        return x + random.random() + np.random.rand() + torch.rand(()), y


def late(worker):
    """Times of four workers, of which one is late."""
    times = np.ones((4, 1))
    times[worker] = 100
    return times


@pytest.mark.parametrize("layer", [nn.BatchNorm2d(4), nn.Dropout(0.5)])
def test_replicas_agree_bit_for_bit(q, layer):
    """Workers 0 and 1, or 2 and 3, hold the same blocks: which of them is late changes nothing."""
    given = task(network(layer), data=Noisy())
    common = {"scheme": "frc", "stragglers": 1, "workers": 4, "rounds": 3, "batch": 24}
    runs = [q.simulate(given, delay=q.delay(late(i)), **common) for i in range(4)]
    assert all(np.array_equal(run.model, runs[0].model) for run in runs)
    for worker, run in enumerate(runs):
        assert run.arrivals.groupby("worker")["used"].max().get(worker, 0) == 0
    other = q.simulate(given, seed=1, delay=q.delay(late(0)), **common)
    assert not np.array_equal(other.model, runs[0].model)


def test_chance_is_another_one_in_each_round_and_block(q):
    model = task(network(nn.Dropout(0.5))).new_model(chance=5)
    point = model.initial(0)

    def gradient(samples, updates, seed=5):
        at, total = point.copy(), np.zeros_like(point)
        at[-1] = updates
        own = task(network(nn.Dropout(0.5))).new_model(chance=seed)
        own.add_gradient(np.array(samples), at, 1.0, total)
        return total

    same = gradient([1, 2], 3)
    assert np.array_equal(same, gradient([1, 2], 3))
    for other in (gradient([2, 1], 3), gradient([1, 2], 4), gradient([1, 2], 3, seed=6)):
        assert not np.array_equal(same, other)


def test_frozen_parameters_stay_and_are_not_sent(q):
    module = network()
    module[0].weight.requires_grad = False
    result = q.simulate(
        task(module, lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.1)), workers=3, rounds=3
    )
    assert torch.equal(one_of(result, "0.weight"), module[0].weight)
    free = {n: p for n, p in module.named_parameters() if p.requires_grad}
    assert len(result.model) == sum(p.numel() for p in free.values()) + 1
    assert not any(torch.equal(one_of(result, name), free[name]) for name in free)


class Tied(nn.Module):
    """A linear layer that is used twice."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.again = nn.Linear(16, 16), nn.Linear(16, 16)
        self.again.weight = self.first.weight
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        return self.out(torch.tanh(self.again(torch.tanh(self.first(x.flatten(1))))))


def test_tied_parameters_are_one(q):
    result = q.simulate(task(Tied()), workers=3, rounds=2)
    assert torch.equal(one_of(result, "first.weight"), one_of(result, "again.weight"))
    own, (inputs, targets) = Tied(), images().tensors
    optimizer = sgd(list(own.parameters()))
    for _ in range(2):
        optimizer.zero_grad()
        nn.functional.cross_entropy(own(inputs), targets).backward()
        optimizer.step()
    assert torch.allclose(one_of(result, "first.weight"), own.first.weight, atol=1e-5)


class Centred(nn.Module):
    """Puts a new tensor in the place of its buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("centre", torch.zeros(()))

    def forward(self, x):
        if self.training:
            self.centre = 0.9 * self.centre + 0.1 * x.detach().mean()
        return x - self.centre


def test_a_buffer_that_is_replaced_travels_too(q):
    result = q.simulate(task(nn.Sequential(Centred(), *network())), workers=2, rounds=2)
    mean = images().tensors[0].mean()
    assert torch.allclose(one_of(result, "0.centre"), 0.19 * mean, atol=1e-6)
