# SPDX-License-Identifier: BSD-2-Clause
"""The types of numbers of a Task: in memory, on the wire, and where they do not fit."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import quorate.torch as qt  # noqa: E402
from small_torch import images, momentum, network, nn  # noqa: E402

RUN = {"workers": 3, "rounds": 4, "batch": 12, "seed": 5}


def task(precision="float32"):
    made = network(nn.BatchNorm2d(4))
    return qt.Task(made, images(), nn.CrossEntropyLoss(), momentum, precision=precision)


def test_a_run_in_float32_holds_floats(q):
    result = q.simulate(task(), **RUN)
    assert np.array_equal(result.model, result.model.astype(np.float32))
    exact = q.simulate(task("float64"), **RUN)
    assert not np.array_equal(exact.model, exact.model.astype(np.float32))
    np.testing.assert_allclose(result.model, exact.model, atol=1e-4)


def test_floats_take_half_the_bytes_without_being_asked(q):
    received = {
        precision: q.run(task(precision), **RUN).rounds["bytes_received"].sum()
        for precision in ("float32", "float64")
    }
    numbers = RUN["rounds"] * RUN["workers"] * len(task().initial)
    assert received["float64"] - received["float32"] == pytest.approx(4 * numbers, rel=0.01)


def test_a_shorter_wire_gives_the_same_bits_everywhere(q):
    common = {**RUN, "wire": "bfloat16"}
    made = task()
    run, simulated = q.run(made, **common), q.simulate(made, **common)
    assert np.array_equal(run.model, simulated.model)
    assert not np.array_equal(run.model, q.simulate(made, **RUN).model)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"wire": "double"}, "--wire is double, but the numbers of this model are floats"),
        ({"scheme": "draco-cyclic", "tolerate": 1, "workers": 6}, "a model of doubles"),
    ],
)
def test_what_needs_doubles_is_refused(q, options, told):
    with pytest.raises(q.BadInput, match=told):
        q.simulate(task(), **{**RUN, "batch": None, **options})


def test_an_update_rule_of_doubles_does_not_get_floats(q):
    made = task()
    with pytest.raises(q.BadInput, match="--optimizer is gd, which is not for the floats"):
        q.simulate(made.numbers, model=made.name, optimizer="gd", step=0.1, l2=0, **RUN)


class Sum(nn.Module):
    """Whose gradient is the sample."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, inputs):
        return self.weight * inputs


def test_updates_in_double_keep_what_floats_lose(q, tmp_path):
    """Also those of a run that fails in its eighth update, and is resumed."""
    ones, updates = torch.utils.data.TensorDataset(torch.ones(6), torch.zeros(6)), []

    class SGD(torch.optim.SGD):
        def step(self):
            updates.append(1)
            if len(updates) == fails_at:
                raise RuntimeError("no more")
            super().step()

    def task(precision):
        return qt.Task(
            *(Sum(), ones, lambda outputs, _: outputs.mean(), lambda p: SGD(p, lr=1e-8)),
            update_precision=precision,
        )

    fails_at, run = 0, {"workers": 2, "rounds": 20}
    ends = [q.simulate(task(one), **run).model[0] for one in (None, "float64")]
    assert ends == [1, np.float32(1 - 2e-7)]
    run |= {"trace": tmp_path / "a.h5", "checkpoint": tmp_path / "a.ckp", "resume": True}
    run["checkpoint_every"], fails_at, made = "1r", len(updates) + 8, task("float64")
    with pytest.raises(Exception, match="no more"):
        q.simulate(made, **run)
    result = q.simulate(made, **run)
    assert len(updates) == 40 + 8 + 13 and result.model[0] == ends[1]
    assert qt.state(result)["module"]["weight"].item() == pytest.approx(1 - 2e-7, abs=1e-12)
    with pytest.raises(q.BadInput, match=r"--torch-optimizer is 'SGD\(lr=1e-08\); in float64'"):
        q.simulate(task(None), replay=run["trace"])
