# SPDX-License-Identifier: BSD-2-Clause
"""An IterableDataset, which gives each sample once and in its own order."""

import copy
from itertools import islice

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_torch import SAMPLES, images, network, sgd  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import IterableDataset  # noqa: E402

import quorate.torch as qt  # noqa: E402
from torch_join_test import mpi  # noqa: E402

RUN = {"workers": 1, "batch": 10, "rounds": 12}  # more samples than it has


class Stream(IterableDataset):
    """Images by turns; how many were given is counted."""

    def __init__(self, count=SAMPLES):
        self.count, self.given = count, 0

    def __iter__(self):
        for one in islice(images(), self.count):
            self.given += 1
            yield one


def task(stream=None, module=None, **more):
    more = {"length": 20, **more}
    module = module or network()
    return qt.Task(module, stream or Stream(), nn.CrossEntropyLoss(), sgd, **more)


def test_a_worker_takes_what_comes_next_and_begins_again_at_the_end(q):
    stream, module = Stream(), network()
    result = q.run(task(stream, module), **RUN)
    assert stream.given == 120
    assert "20 + 0 samples of a stream" in str(task(stream))
    by_hand = copy.deepcopy(module)
    optimizer, (inputs, targets) = sgd(by_hand.parameters()), images().tensors
    for first in range(0, 120, 10):
        rows = np.arange(first, first + 10) % SAMPLES
        optimizer.zero_grad()
        nn.functional.cross_entropy(by_hand(inputs[rows]), targets[rows]).backward()
        optimizer.step()
    vector = nn.utils.parameters_to_vector(by_hand.parameters()).detach().numpy()
    np.testing.assert_allclose(result.model[:-1], vector, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"scheme": "uncoded"},
        {"scheme": "ignore", "stragglers": 1},
        {"scheme": "async"},
        {"scheme": "amb", "compute_time": 0.01, "micro_batch": 2},
        {"scheme": "local-average", "local_steps": 2, "step": 0.1},
    ],
    ids=lambda options: options["scheme"],
)
def test_schemes_of_one_partition_a_worker_take_it(q, options):
    assert q.run(task(), **RUN | {"workers": 3, **options}).status == "completed"


@pytest.mark.parametrize(
    "options",
    [
        {"scheme": "frc", "stragglers": 1, "workers": 4},
        {"scheme": "agc", "stragglers": 1, "collect": 2, "workers": 4},
        {"scheme": "dsag", "subpartitions": 3, "workers": 2},
    ],
    ids=lambda options: options["scheme"],
)
def test_schemes_of_several_are_refused(q, options):
    with pytest.raises(q.BadInput, match="an IterableDataset gives a sample once: use uncoded"):
        q.run(task(), **RUN | {"batch": None, **options})


def test_nothing_computes_it_again(q, tmp_path):
    with pytest.raises(q.BadInput, match="a simulation or replay computes what other workers have"):
        q.simulate(task(), **RUN)
    q.run(task(), **RUN, trace=tmp_path / "a.h5")
    with pytest.raises(q.BadInput, match="a simulation or replay"):
        q.simulate(task(), replay=tmp_path / "a.h5")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"length": None}, "the dataset Stream has no __len__: say with length=50_000"),
        ({"length": 0}, "length is 0: give how many samples make an epoch"),
        ({"evaluate": Stream()}, "evaluate is an IterableDataset: give a map-style one"),
    ],
)
def test_what_a_stream_lacks_is_told(q, given, told):
    with pytest.raises(q.BadInput, match=told):
        task(**given)


def test_only_a_stream_has_a_length_of_ones_own(q):
    with pytest.raises(q.BadInput, match="but the dataset TensorDataset has a length: leave it"):
        task(images())


def test_an_empty_stream_is_refused(q):
    with pytest.raises(q.BadInput, match="Stream gives nothing: give it samples"):
        q.run(task(Stream(0)), **RUN)


STREAM = """
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return ((x, int(x[0] > 0)) for x in torch.randn(100, 6, generator=own()))

def own():
    return torch.Generator().manual_seed(q.rank())

module, stream, seen = net(), Stream(), []

def trained(size, **options):
    given = dict(optimizer=make, length=100, batch=16, rounds=7, micro_batch=20, **options)
    with qt.join(module, stream, **given) as job:
        loader = DataLoader(stream, batch_size=size, drop_last=True, **ahead)
        for work in job:
            for x, y in work.batches(loader):
                seen.append(x)
                work.backward(loss(module(x), y))
    return job.result
"""


@pytest.mark.launcher
def test_a_loop_takes_a_stream_by_its_loader(tmp_path):
    """It goes on where the task before ended, also in a process of the loader."""
    code = (
        STREAM
        + """
result = trained(8)
if result:
    print("good", result.status)
else:
    assert torch.equal(torch.cat(seen), torch.randn(100, 6, generator=own())[:56])
"""
    )
    done = mpi(tmp_path, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "good completed\n" and done.stderr == ""


@pytest.mark.launcher
def test_a_loader_of_another_size_is_told_what_to_be(tmp_path):
    done = mpi(tmp_path, STREAM + "trained(10)\n")
    assert done.returncode == 2
    told = "a batch of 10 samples where 8 were asked for: of a stream, make it with batch_size=8"
    assert told in done.stderr
