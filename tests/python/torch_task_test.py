# SPDX-License-Identifier: BSD-2-Clause
"""A Task of quorate.torch beside a plain loop of PyTorch, under several schemes and fleets."""

import copy
import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_torch import SAMPLES, adamw, halved, images, momentum, network, sgd  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import Dataset, default_collate  # noqa: E402

import quorate.torch as qt  # noqa: E402

ROUNDS = 5

pytestmark = pytest.mark.filterwarnings("error::UserWarning")  # of torch


def task(make=adamw, module=None, **options):
    loss = options.pop("loss", nn.CrossEntropyLoss())
    data = options.pop("data", None) or images()
    return qt.Task(module or network(), data, loss, make, **options)


def plain_loop(make, scheduler=None):
    """Losses of steps over the whole batch in float32, and the module."""
    module, (inputs, targets) = network(), images().tensors
    optimizer = make(list(module.parameters()))
    schedule = scheduler(optimizer) if scheduler else None
    losses = []
    for _ in range(ROUNDS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(module(inputs), targets)
        loss.backward()
        optimizer.step()
        if schedule:
            schedule.step()
        losses.append(float(loss))
    return losses, module


@pytest.mark.parametrize(
    ("make", "scheduler"),
    [(sgd, None), (adamw, None), (momentum, halved)],
    ids=["SGD", "AdamW", "momentum with a scheduler"],
)
def test_rounds_are_the_steps_of_a_plain_loop(q, make, scheduler):
    result = q.simulate(task(make, scheduler=scheduler), workers=4, rounds=ROUNDS)
    losses, module = plain_loop(make, scheduler)
    assert np.allclose(result.rounds["loss_estimate"], losses, rtol=1e-5)
    for name, value in qt.state(result)["module"].items():
        assert torch.allclose(value, module.state_dict()[name], atol=1e-5), name


def test_a_sum_of_losses_and_double_precision(q):
    loss = nn.CrossEntropyLoss(reduction="sum")
    given = task(loss=loss, reduction="sum", precision="float64", micro_batch=5)
    result = q.simulate(given, workers=3, rounds=ROUNDS)
    assert np.allclose(result.rounds["loss_estimate"], plain_loop(adamw)[0], rtol=1e-5)
    assert all(v.dtype == torch.float64 for v in qt.state(result)["module"].values())


@pytest.mark.parametrize("scheme", ["frc", "cyclic"])
def test_exact_codes_without_a_straggler_are_exact(q, scheme):
    """The slowest worker is another one in each round."""
    given, common = task(), {"workers": 4, "rounds": ROUNDS}
    whole = q.simulate(given, **common)
    coded = q.simulate(given, scheme=scheme, stragglers=1, delay=q.exponential(1), **common)
    assert (coded.rounds["used"] < 4).any()
    estimates = [one.rounds["loss_estimate"] for one in (whole, coded)]
    assert np.allclose(*estimates, rtol=1e-5)


def test_an_approximate_code_and_an_anytime_scheme_train(q):
    for options in (
        {"scheme": "agc", "stragglers": 1, "collect": 3},
        {"scheme": "amb", "compute_time": 1, "row_time": 0.1},
        {"scheme": "k-batch-async"},
    ):
        result = q.simulate(
            task(evaluate=images(), micro_batch=8),
            workers=4,
            rounds=30,
            evaluate_every=10,
            batch=24,
            delay=q.exponential(0.3),
            **options,
        )
        losses = list(result.evaluations["train_loss"])
        assert losses[-1] < 0.9 * losses[0], options
        assert list(result.evaluations["test_loss"]) == pytest.approx(losses)
        assert result.evaluations["accuracy"].iloc[-1] > 0.6


def test_threads_and_the_virtual_clock_agree_bit_for_bit(q):
    given = task(module=network(nn.BatchNorm2d(4), nn.Dropout(0.2)))
    common = {"workers": 3, "rounds": ROUNDS, "batch": 24, "seed": 4}
    runs = [q.simulate(given, **common), q.run(given, **common)]
    assert np.array_equal(runs[0].model, runs[1].model)


def test_a_worker_in_a_long_micro_batch_is_not_soon_taken_for_dead(q):
    """Deaths that are simulated are noticed as soon as those of other models."""
    given, common = task(), {"workers": 2, "rounds": 1}
    asked = q.run(given, **common), q.run(given, timeout=7, **common), q.simulate(given, **common)
    assert [float(result.options["timeout"]) for result in asked] == [300, 7, 10]


def test_runs_of_a_sweep_share_a_task_and_stay_apart(q):
    given = task(module=network(nn.Dropout(0.5)))
    runs = q.sweep(
        given, over={"seed": [1, 2, 1, 2]}, threads=4, workers=2, rounds=ROUNDS, batch=24
    )
    models = [run.model for run in runs]
    assert np.array_equal(models[0], models[2]) and np.array_equal(models[1], models[3])
    assert not np.array_equal(models[0], models[1])
    for run in runs:
        state = qt.state(run)["module"]
        flat = np.concatenate([value.reshape(-1) for value in state.values()])
        assert np.array_equal(flat.astype(float), run.model[:-1])
    table = q.compare(["uncoded", "ignore"], given, seeds=1, workers=3, rounds=2).summary
    assert len(table) == 2


def test_step_is_a_factor_on_the_learning_rates(q):
    half = q.simulate(task(sgd), workers=2, rounds=ROUNDS, step=0.5)
    own = q.simulate(task(lambda p: torch.optim.SGD(p, lr=0.05)), workers=2, rounds=ROUNDS)
    assert np.allclose(half.model, own.model, atol=1e-7)
    rates = [group["lr"] for group in qt.state(half)["optimizer"]["param_groups"]]
    assert rates == [0.1]


def test_a_run_leaves_the_module_and_the_generators_alone(q):
    module = network(nn.BatchNorm2d(4), nn.Dropout(0.5))
    before = copy.deepcopy(module.state_dict())
    states = random.getstate(), np.random.get_state()[1].copy(), torch.get_rng_state()
    q.simulate(task(module=module), workers=2, rounds=2)
    assert all(torch.equal(v, before[n]) for n, v in module.state_dict().items())
    assert random.getstate() == states[0]
    assert np.array_equal(np.random.get_state()[1], states[1])
    assert torch.equal(torch.get_rng_state(), states[2])


class Words(Dataset):
    """Samples that are dicts, fetched several at a time."""

    def __init__(self):
        self.asked, self.images = [], images()

    def __len__(self):
        return SAMPLES

    def __getitems__(self, numbers):
        self.asked += numbers
        return [{"x": self.images[i][0].double(), "y": self.images[i][1]} for i in numbers]


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = network()

    def forward(self, batch):
        return self.inner(batch["x"])


def test_collate_makes_batches_of_what_a_dataset_gives(q):
    def collate(samples):
        batch = default_collate(samples)
        return batch, batch["y"]

    words = Words()
    given = task(module=Named(), data=words, collate=collate)
    result = q.simulate(given, workers=3, rounds=ROUNDS)
    assert np.allclose(result.rounds["loss_estimate"], plain_loop(adamw)[0], rtol=1e-5)
    assert sorted(words.asked) == sorted(list(range(SAMPLES)) * ROUNDS)


def test_cross_validation_and_advice_take_a_task(q):
    """With a step of 0 the folds have the loss of the module as it is."""
    tuning = q.tune(task(sgd), {"step": [0, 1]}, rounds=ROUNDS)
    assert tuning.best == {"step": 1}
    untrained = tuning.table[tuning.table["step"] == 0]["loss"]
    module, (inputs, targets) = network(), images().tensors
    losses = nn.functional.cross_entropy(module(inputs), targets, reduction="none")
    assert len(untrained) == 5 and untrained.between(float(losses.min()), float(losses.max())).all()
    advice = q.advise(task(sgd), workers=3, rounds=ROUNDS, delay=q.exponential(1))
    assert advice.best is not None and len(advice.table) > 3


def test_the_optimiser_is_the_outer_one_of_local_steps(q):
    """With one worker and one local step the displacement is a step of gradient descent."""
    module, options = network(), {"scheme": "local-average", "local_steps": 1, "step": 0.2}
    own = task(lambda p: torch.optim.SGD(p, lr=1.0), module=module)
    result = q.simulate(own, workers=1, rounds=3, **options)
    plain = q.simulate(task(lambda p: torch.optim.SGD(p, lr=0.2)), workers=1, rounds=3)
    assert np.allclose(result.model, plain.model, atol=1e-6)
    nesterov = task(lambda p: torch.optim.SGD(p, lr=0.7, momentum=0.9, nesterov=True))
    options |= {"local_steps": 4, "step": 0.05}
    result = q.simulate(nesterov, workers=3, rounds=20, batch=24, evaluate_every=10, **options)
    losses = list(result.evaluations["train_loss"])
    assert losses[-1] < losses[0] and qt.state(result)["updates"] == 20


def local_steps_by_hand(module, inner, worker_samples, states):
    """A round: the mean of where the steps of each worker lead. states: of their optimisers."""
    inputs, targets = images().tensors
    ends = []
    for worker, batches in enumerate(worker_samples):
        own = copy.deepcopy(module)
        optimizer = inner(list(own.parameters()))
        if worker in states:
            optimizer.load_state_dict(states[worker])
        for batch in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(own(inputs[batch]), targets[batch]).backward()
            optimizer.step()
        states[worker] = optimizer.state_dict()
        ends.append(nn.utils.parameters_to_vector(own.parameters()))
    nn.utils.vector_to_parameters(torch.stack(ends).mean(0), module.parameters())


def test_local_steps_of_an_optimiser_are_those_of_plain_loops(q):
    def inner(parameters):
        return torch.optim.AdamW(parameters, lr=0.01)

    half = SAMPLES // 2
    module, options = network(), {"scheme": "local-average", "local_steps": 3, "rounds": 2}
    own = task(lambda p: torch.optim.SGD(p, lr=1.0), module=module, inner=inner)
    for state in "kept", "reset":
        options["inner_state"] = state
        result = q.simulate(own, workers=2, **options)
        by_hand, states = copy.deepcopy(module), {}
        for _ in range(2):
            samples = [[range(half)] * 3, [range(half, SAMPLES)] * 3]
            local_steps_by_hand(by_hand, inner, samples, states if state == "kept" else {})
        vector = nn.utils.parameters_to_vector(by_hand.parameters()).detach().numpy()
        np.testing.assert_allclose(result.model[:-1], vector, atol=1e-5)
        assert np.array_equal(q.run(own, workers=2, **options).model, result.model)
    with pytest.raises(q.BadInput, match="inner_optimizer is given beside a Task with one"):
        q.simulate(own, workers=2, inner_optimizer="adam", **options)


def test_schemes_that_look_at_the_clock_do_so_between_whole_micro_batches(q):
    given = task(micro_batch=7)
    options = {"workers": 2, "compute_time": 1, "row_time": 0.05, "rounds": 2, "delay": "none"}
    result = q.simulate(given, scheme="amb", **options)
    assert (result.arrivals["samples"] % 7 == 0).all()
    result = q.simulate(given, scheme=q.scheme("amb", micro_batch=5), **options)
    assert (result.arrivals["samples"] % 5 == 0).all()
