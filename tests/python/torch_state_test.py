# SPDX-License-Identifier: BSD-2-Clause
"""What a Task has trained: as a file of PyTorch, in checkpoints, and as a beginning."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from program import TIMEOUT  # noqa: E402
from small_torch import adamw, halved, images, momentum, network, sgd  # noqa: E402
from torch import nn  # noqa: E402

import quorate.torch as qt  # noqa: E402


def task(make=adamw, scheduler=halved, module=None, **options):
    module = module or network(nn.BatchNorm2d(4), nn.Dropout(0.3))
    return qt.Task(module, images(), nn.CrossEntropyLoss(), make, scheduler=scheduler, **options)


def test_torch_reads_the_state_without_quorate(q, tmp_path):
    result = q.simulate(task(), workers=2, rounds=2)
    torch.save(qt.state(result), tmp_path / "trained.pt")
    code = (
        "import sys, torch; state = torch.load('trained.pt'); assert 'quorate' not in sys.modules;"
    )
    code += "print(*state, state['updates'], *state['module'])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    names = network(nn.BatchNorm2d(4), nn.Dropout()).state_dict()
    words = ["module", "optimizer", "scheduler", "updates", "2", *names]
    assert done.stdout.split() == words, done.stderr


@pytest.mark.parametrize("make", [adamw, momentum])
def test_a_run_from_a_state_goes_on_exactly(q, make, tmp_path):
    whole = q.simulate(task(make), workers=2, rounds=5)
    first = q.simulate(task(make), workers=2, rounds=3)
    torch.save(qt.state(first), tmp_path / "state.pt")
    rest = q.simulate(task(make, state=torch.load(tmp_path / "state.pt")), workers=2, rounds=2)
    assert np.array_equal(whole.model, rest.model)
    ends = [qt.state(run) for run in (whole, rest)]
    assert ends[0]["scheduler"] == ends[1]["scheduler"]
    steps = [end["optimizer"]["state"] for end in ends]
    assert all(
        torch.equal(torch.as_tensor(value), torch.as_tensor(steps[1][number][name]))
        for number, values in steps[0].items()
        for name, value in values.items()
    )


def test_a_state_may_have_the_module_alone(q):
    other = network(nn.BatchNorm2d(4), nn.Dropout(0.3))
    with torch.no_grad():
        other[0].bias.fill_(7)
    given = task(sgd, state={"module": other.state_dict()})
    result = q.simulate(given, workers=2, rounds=1, step=0)
    assert torch.equal(qt.state(result)["module"]["0.bias"], torch.full((4,), 7.0))


def test_a_resumed_run_is_the_unbroken_one_bit_for_bit(q, tmp_path):
    """The first one fails in its fourth update."""
    updates = []

    class Failing(torch.optim.SGD):
        def step(self):
            updates.append(1)
            if len(updates) == 4:
                raise RuntimeError("no more")
            return super().step()

    def failing(parameters):
        return Failing(parameters, lr=0.1, momentum=0.9)

    common = {"workers": 3, "batch": 24, "rounds": 6, "seed": 2}
    files = {"trace": tmp_path / "a.h5", "checkpoint": tmp_path / "a.ckp"}
    files |= {"checkpoint_every": "1r", "resume": True}
    broken = task(failing)
    with pytest.raises(Exception, match="no more"):
        q.simulate(broken, **common, **files)
    resumed = q.simulate(broken, **common, **files)
    assert len(updates) == 7  # 3 steps, one that fails, and 3 more
    whole = q.simulate(task(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)), **common)
    assert np.array_equal(resumed.model, whole.model)
    assert list(resumed.rounds["loss_estimate"]) == list(whole.rounds["loss_estimate"])
    ends = [qt.state(run) for run in (resumed, whole)]
    assert ends[0]["updates"] == 6 and ends[0]["scheduler"] == ends[1]["scheduler"]


LR = torch.optim.lr_scheduler


def warm(optimizer):
    parts = [LR.LinearLR(optimizer, 0.1, total_iters=3), LR.MultiStepLR(optimizer, [3, 8])]
    return LR.SequentialLR(optimizer, parts, [5])


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (dict(make=sgd, scheduler=None), "SGD(lr=0.1)"),
        (
            dict(),
            "AdamW(lr=0.01, weight_decay=0.1; lr=0.03, weight_decay=0),"
            " StepLR(gamma=0.5, step_size=2)",
        ),
        (
            dict(make=sgd, scheduler=warm),
            "SGD(lr=0.1), SequentialLR(LinearLR(end_factor=1.0, start_factor=0.1, total_iters=3),"
            " MultiStepLR(gamma=0.1, milestones={3: 1, 8: 1}))",
        ),
        (
            dict(make=momentum, scheduler=None, inner=sgd),
            "SGD(lr=0.1, momentum=0.9, nesterov=True); inner SGD(lr=0.1)",
        ),
    ],
    ids=["plain", "groups", "several schedulers", "inner"],
)
def test_a_trace_says_what_made_the_updates(q, given, text, tmp_path):
    trace = tmp_path / "run.h5"
    result = q.run(task(**given), workers=3, rounds=1, trace=trace)
    assert result.options["torch-optimizer"] == text
    assert q.simulate(task(**given), replay=trace).status == "completed"
    with pytest.raises(q.BadInput, match=r"--torch-optimizer is .*, but the Task has 'SGD\(lr=0.5"):
        q.simulate(task(lambda p: torch.optim.SGD(p, lr=0.5), None), replay=trace)


def test_a_result_keeps_its_state_when_it_is_pickled(q):
    result = q.simulate(task(), workers=2, rounds=1)
    again = pickle.loads(pickle.dumps(result))
    for name, value in qt.state(result)["module"].items():
        assert torch.equal(qt.state(again)["module"][name], value)
