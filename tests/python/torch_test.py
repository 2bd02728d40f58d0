# SPDX-License-Identifier: BSD-2-Clause
"""Modules of PyTorch as models."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def small():
    torch.manual_seed(3)

    class Residual(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lift = torch.nn.Conv2d(1, 3, 1)
            self.block = torch.nn.Conv2d(3, 3, 3, padding=1)
            self.norm = torch.nn.GroupNorm(1, 3)
            self.out = torch.nn.Linear(48, 3)

        def forward(self, x):
            x = self.lift(x)
            x = x + torch.relu(self.norm(self.block(x)))
            return self.out(x.flatten(1))

    return Residual()


@pytest.fixture(scope="module")
def images(q):
    draw = np.random.default_rng(1)
    return q.dataset(draw.normal(size=(60, 16)), np.arange(60) % 3, task="multiclass")


def loss(scores, labels):
    return torch.nn.functional.cross_entropy(scores, labels, reduction="sum")


def test_a_step_is_that_of_torch_on_the_whole_batch(q, images):
    module = small()
    model = q.torch(module, loss, image=(1, 4, 4), rows_at_once=7)
    result = q.simulate(images, model=model, workers=4, rounds=1, step=0.3, l2=0)

    own = small().double()
    X, y = images.arrays()
    value = loss(own(torch.from_numpy(X).reshape(-1, 1, 4, 4)), torch.from_numpy(y).long()) / 60
    value.backward()
    expected = torch.cat([(p - 0.3 * p.grad).reshape(-1) for p in own.parameters()])
    assert np.abs(result.model - expected.detach().numpy()).max() < 1e-5
    assert np.isclose(result.rounds["loss_estimate"][1], float(value))

    state = q.torch_state(result, module)
    assert np.allclose(np.concatenate([v.reshape(-1) for v in state.values()]), result.model)


@pytest.mark.parametrize("options", [{"scheme": "frc", "stragglers": 1}, {"scheme": "amb"}])
def test_it_trains_under_schemes(q, images, options):
    model = q.torch(small(), loss, image=(1, 4, 4))
    timed = {"compute_time": 1, "row_time": 0.05} if options["scheme"] == "amb" else {}
    result = q.simulate(
        images, model=model, workers=4, rounds=30, step=0.2, evaluate_every=10, **options, **timed
    )
    losses = list(result.evaluations["train_loss"])
    assert losses == sorted(losses, reverse=True) and losses[0] < 1.2


def test_layers_that_remember_batches_are_refused(q):
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
    with pytest.raises(q.BadInput, match="BatchNorm1d, whose result depends on the batch"):
        q.torch(module, loss)
    q.torch(module.eval(), loss, name="frozen")


def test_threads_that_share_a_module_compute_the_same(q, images):
    model = q.torch(small(), loss, image=(1, 4, 4), name="shared")
    runs = q.sweep(
        images, over={"seed": [1] * 4}, threads=4, model=model, workers=2, rounds=3, step=0.1
    )
    assert all(np.array_equal(run.model, runs[0].model) for run in runs)


def test_a_loss_that_is_a_mean_is_refused_with_the_remedy(q, images):
    with pytest.raises(q.BadInput, match='CrossEntropyLoss has reduction=.mean.*reduction="sum"'):
        q.torch(small(), torch.nn.CrossEntropyLoss(), image=(1, 4, 4))
    q.torch(small(), torch.nn.CrossEntropyLoss(reduction="sum"), image=(1, 4, 4), name="fine")
    functional = torch.nn.functional.cross_entropy  # a mean unless told otherwise
    mean = q.torch(small(), functional, image=(1, 4, 4), name="mean")
    with pytest.raises(q.BadInput, match='no means .of PyTorch: reduction="sum"'):
        q.simulate(images, model=mean, workers=2, rounds=1, step=0.1)
    none = torch.nn.CrossEntropyLoss(reduction="none")
    apart = q.torch(small(), lambda z, y: none(z, y), image=(1, 4, 4), name="apart")
    with pytest.raises(q.BadInput, match="the loss returned Tensor of 2 elements: return the sum"):
        q.simulate(images, model=apart, workers=2, rounds=1, step=0.1)


def frozen():
    module = small()
    module.register_buffer("steps", torch.arange(3.0))
    for one in module.lift.parameters():
        one.requires_grad = False
    module.block.bias.requires_grad = False
    return module


def test_frozen_parameters_stay_where_they_are(q, images):
    """The L2 term, which is there by default, shrank them."""
    module, before = frozen(), frozen().double().state_dict()
    model = q.torch(module, loss, image=(1, 4, 4), name="frozen-part")
    options = dict(model=model, workers=3, rounds=5, step=0.3, evaluate_every=5)
    result = q.simulate(images, **options)
    free = {n: p for n, p in module.named_parameters() if p.requires_grad}
    assert len(result.model) == sum(p.numel() for p in free.values())

    other = frozen().float()  # whose frozen parameters and buffers are put back too
    with torch.no_grad():
        other.lift.weight.fill_(7)
        other.steps.fill_(7)
    for target in (module, other):
        state = q.torch_state(result, target)
        for name, value in state.items():
            assert torch.allclose(value.double(), before[name]) == (name not in free), name
        flat = np.concatenate([state[name].reshape(-1) for name in free])
        assert np.allclose(flat, result.model, atol=1e-6)
    assert other.out.weight.dtype == torch.float32

    X, y = images.arrays()
    with torch.no_grad():
        value = float(
            loss(module(torch.from_numpy(X).reshape(-1, 1, 4, 4)), torch.tensor(y).long())
        )
    assert np.isclose(result.loss, value / len(y))

    with pytest.raises(q.BadInput, match="the module has 243 that are not frozen"):
        q.torch_state(result, small())
    for one in module.parameters():
        one.requires_grad = False
    with pytest.raises(q.BadInput, match="no parameter to train"):
        q.torch(module, loss, name="all-frozen")
