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
