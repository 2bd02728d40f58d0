# SPDX-License-Identifier: BSD-2-Clause
"""What a Task of quorate.torch refuses, in one line with the remedy."""

import pytest

torch = pytest.importorskip("torch")

from small_torch import images, network, sgd  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import TensorDataset  # noqa: E402

import quorate.torch as qt  # noqa: E402


def lazy():
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(3))


def all_frozen():
    return network().requires_grad_(False)


def mixed():
    module = network()
    module.register_buffer("scale", torch.ones(3, dtype=torch.cfloat))
    module.add_module("extra", nn.Linear(2, 2).to(torch.cfloat))
    return module


def mean(outputs, targets):
    return nn.functional.cross_entropy(outputs, targets)


OTHER = network()
CASES = {
    "reads no samples by number": (dict(dataset=iter([])), "has no length, but schemes find"),
    "nothing to read": (dict(dataset=[]), "the dataset list is empty"),
    "no module": (dict(module=len), "module is .*: give a torch.nn.Module"),
    "no numbers": (dict(module=nn.Linear(2, 2, device="meta")), "on the device meta"),
    "no shapes": (dict(module=lazy()), "parameters without a shape: call it on a batch"),
    "all frozen": (dict(module=all_frozen()), "no parameter to train"),
    "complex": (dict(module=mixed()), "the module has complex numbers"),
    "a mean over all batches": (
        dict(module=network(nn.BatchNorm2d(4, momentum=None))),
        r"the layer 1 \(BatchNorm2d\) has momentum=None.*such as momentum=0.1",
    ),
    "statistics of all workers": (
        dict(module=network(nn.SyncBatchNorm(4))),
        "the layer 1 is SyncBatchNorm.*use BatchNorm",
    ),
    "no device": (dict(device="abacus"), "device is 'abacus': use auto, cpu"),
    "no device of updates": (dict(update_device="abacus"), "device is 'abacus'"),
    "a precision of updates": (dict(update_precision="half"), "update_precision is 'half': use fl"),
    "a precision": (dict(precision="half"), "precision is 'half': use float32 or float64"),
    "a micro-batch": (dict(micro_batch=0), "micro_batch is 0"),
    "no threads": (dict(threads=0), "threads is 0: use auto, or a number from 1 to 1024"),
    "a reduction": (dict(reduction="none"), "reduction is 'none': use mean or sum"),
    "another reduction": (
        dict(loss=nn.CrossEntropyLoss(reduction="sum")),
        "CrossEntropyLoss has reduction='sum'.*give the Task reduction='sum'",
    ),
    "parameters of another module": (
        dict(optimizer=lambda p: torch.optim.SGD(OTHER.parameters(), 0.1)),
        "the optimiser has Parameter of 4 x 1 x 3 x 3, which is none of the parameters",
    ),
    "an optimiser that is none": (dict(optimizer=lambda p: None), "optimizer returned None"),
    "an optimiser that searches": (dict(optimizer=torch.optim.LBFGS), "LBFGS asks for the loss"),
    "a scheduler of a measure": (
        dict(scheduler=torch.optim.lr_scheduler.ReduceLROnPlateau),
        "ReduceLROnPlateau follows a measure",
    ),
    "a scheduler that is none": (dict(scheduler=lambda o: 3), "scheduler returned 3"),
    "a scheduler of another optimiser": (
        dict(scheduler=lambda o: torch.optim.lr_scheduler.StepLR(sgd(OTHER.parameters()), 1)),
        "the scheduler is of another optimiser",
    ),
    "a state without a module": (dict(state={"optimizer": {}}), "state is .* give what"),
    "a state of another module": (
        dict(state={"module": nn.Linear(2, 2).state_dict()}),
        "the state is of another module: .*Missing key",
    ),
    "a state of another optimiser": (
        dict(state={"module": OTHER.state_dict(), "optimizer": sgd([OTHER[0].bias]).state_dict()}),
        "the state is of another optimiser or scheduler",
    ),
}


def given(**options):
    parts = dict(module=network(), dataset=images(), loss=nn.CrossEntropyLoss(), optimizer=sgd)
    return qt.Task(**{**parts, **options})


@pytest.mark.parametrize("name", CASES)
def test_a_task_that_cannot_be_is_refused_when_it_is_made(q, name):
    options, text = CASES[name]
    with pytest.raises(q.BadInput, match=text) as raised:
        given(**options)
    assert "\n" not in str(raised.value)


def infinite():
    inputs, targets = images().tensors
    inputs[7] = float("nan")
    return TensorDataset(inputs, targets)


RUNS = {
    "a device that is not there": (dict(device="cuda:99"), "torch sees . GPUs: use auto or cpu"),
    "a sum that is called a mean": (
        dict(loss=lambda z, y: mean(z, y) * len(y)),
        "the loss is a sum over the batch, .* give the Task reduction='sum'",
    ),
    "a mean that is called a sum": (
        dict(loss=mean, reduction="sum"),
        "the loss is a mean over the batch, .* give the Task reduction='mean'",
    ),
    "a loss for each sample": (
        dict(loss=lambda z, y: nn.functional.cross_entropy(z, y, reduction="none")),
        "the loss returned Tensor of .* elements: return one number",
    ),
    "a number of Python": (
        dict(loss=lambda z, y: float(mean(z, y))),
        "the loss returned 1.*: return",
    ),
    "a loss that is cut off": (
        dict(loss=lambda z, y: mean(z.detach(), y)),
        "the loss does not depend on the parameters",
    ),
    "numbers that are none": (
        dict(dataset=infinite(), micro_batch=4),
        "the loss of the samples 4, 5, 6, ... is nan",
    ),
    "samples of three": (
        dict(dataset=TensorDataset(*images().tensors, torch.zeros(48))),
        r"a batch is .*: let samples be \(inputs, target\)",
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_shows_in_the_first_round_ends_the_run(q, name):
    options, text = RUNS[name]
    with pytest.raises(q.BadInput, match=text) as raised:
        q.simulate(given(**options), workers=3, rounds=1)
    assert "\n" not in str(raised.value)


def test_options_that_a_task_brings_are_refused(q):
    for name in ("model", "optimizer"):
        with pytest.raises(q.BadInput, match=f"{name} is given beside a Task"):
            q.simulate(given(), workers=2, rounds=1, **{name: "adam"})
    with pytest.raises(q.BadInput, match="threads is given beside a Task: give it to the Task"):
        q.simulate(given(), workers=2, rounds=1, threads=2)
    with pytest.raises(q.BadInput, match="weight_decay"):
        q.simulate(given(), workers=2, rounds=1, l2=0.1)


def test_what_is_no_run_of_a_task_has_no_state(q, data):
    for result in (q.simulate(workers=2, rounds=1), q.simulate(data, workers=2, rounds=1, step=1)):
        with pytest.raises(q.BadInput, match="has no state of PyTorch"):
            qt.state(result)


def test_predictions_are_the_modules_affair(q):
    result = q.simulate(given(), workers=2, rounds=1)
    with pytest.raises(q.BadInput, match="load the state into the module and call that"):
        q.predict(result)


def test_the_size_of_local_steps_is_asked_for(q):
    for scheme in ("local-average", q.scheme("anytime-sgd", compute_time=1)):
        with pytest.raises(q.BadInput, match="makes local steps of gradient descent: give step"):
            q.simulate(given(), scheme=scheme, workers=2, rounds=1)
