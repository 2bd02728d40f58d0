# SPDX-License-Identifier: BSD-2-Clause
"""What a worker computes on a GPU beside what it computes on the CPU."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_torch import SAMPLES, halved, images, momentum, network  # noqa: E402
from torch import nn  # noqa: E402

import quorate.torch as qt  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("error::UserWarning"),
]


def task(device, *middle):
    return qt.Task(
        network(*middle),
        images(),
        nn.CrossEntropyLoss(),
        momentum,
        scheduler=halved,
        device=device,
        evaluate=images(),
    )


def trained(given, rounds=4):
    """Losses of rounds by hand, with two workers, and the last point."""
    model, optimizer = given.new_model(chance=3), given.new_optimizer()
    point, losses = optimizer.begin(model.initial(0)).copy(), []
    for _ in range(rounds):
        total = np.zeros_like(point)
        parts = np.array_split(np.arange(SAMPLES), 2)
        losses.append(sum(model.add_gradient(part, point, 1.0, total) for part in parts))
        optimizer.update(total / SAMPLES, 1.0, point)
    return np.array(losses), point, model.score(np.arange(SAMPLES, 2 * SAMPLES), point)


def test_a_gpu_trains_as_the_cpu_does():
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        runs = [trained(task(device, nn.BatchNorm2d(4))) for device in ("cpu", "auto")]
    assert np.allclose(runs[0][0], runs[1][0], rtol=1e-3)
    assert np.allclose(runs[0][1], runs[1][1], atol=1e-3)
    assert runs[0][2] == pytest.approx(runs[1][2], rel=1e-2)


def test_chance_on_a_gpu_follows_from_the_key():
    given = task("cuda", nn.Dropout(0.5))
    model, other = given.new_model(chance=3), given.new_model(chance=4)
    point, gradients = model.initial(0), []
    for one in (model, other, model):
        gradients.append(np.zeros_like(point))
        one.add_gradient(np.arange(SAMPLES), point, 1.0, gradients[-1])
    assert np.allclose(gradients[0], gradients[2], atol=1e-4)
    assert not np.allclose(gradients[0], gradients[1], atol=1e-2)


def test_updates_on_a_gpu_are_those_of_the_cpu():
    ends = []
    for device in "cpu", "cuda":
        given = qt.Task(
            *(network(nn.BatchNorm2d(4)), images(), nn.CrossEntropyLoss(), momentum),
            device="cpu",
            update_device=device,
        )
        ends.append(trained(given)[1])
        assert given.new_optimizer().module.numbers.is_cuda == (device == "cuda")
    assert np.allclose(*ends, atol=1e-5)
