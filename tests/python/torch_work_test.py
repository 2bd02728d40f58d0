# SPDX-License-Identifier: BSD-2-Clause
"""The user's loop against an engine that a thread plays."""

import random
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Dataset  # noqa: E402

from quorate import BadInput  # noqa: E402
from quorate.torch._handover import Handover  # noqa: E402
from quorate.torch._vector import Vector  # noqa: E402
from quorate.torch._work import Sampler, tasks  # noqa: E402

SEED = 3


class Numbers(Dataset):
    """Samples that tell their number, and what chance gives them."""

    def __len__(self):
        return 100

    def __getitem__(self, i):
        return torch.tensor([i, torch.rand(1), np.random.rand(), random.random()])


class Rank:
    """A worker's loop, and an engine that asks for tasks: lists of micro-batches, of which it asks
    for the first `asked`."""

    def __init__(self, *played, mean=True, announced=True, device="cpu"):
        torch.manual_seed(0)
        self.module = torch.nn.Linear(4, 1).to(device)
        self.vector = Vector(self.module)
        self.handover, self.sampler = Handover(), Sampler(SEED)
        self.mean = mean
        self.totals, self.losses, self.error = [], [], None
        self.point = np.arange(self.vector.size, dtype=np.float64)
        self._thread = threading.Thread(target=self._play, args=(played, announced))
        self._thread.start()

    def _play(self, played, announced):
        try:
            for lists, asked in played:
                lists = [np.array(one, np.int64) for one in lists]
                if announced:
                    self.handover.expect(iter(lists))
                for one in lists[:asked]:
                    total = np.ones_like(self.point)
                    loss = self.handover.add_gradient(one, self.point, 2.0, total)
                    self.losses.append(loss)
                    self.totals.append(total)
                self.point = self.point + 1
        except BadInput as error:
            self.error = error
        self.handover.end(None)

    def tasks(self):
        return tasks(self.handover, self.vector, self.sampler, self.mean)

    def loader(self, **options):
        return DataLoader(Numbers(), batch_sampler=self.sampler, **options)

    def loop(self, loader=None, step=None):
        """What a user writes. Returns the batches of each task."""
        loader = self.loader() if loader is None else loader
        seen = []
        for work in self.tasks():
            seen.append([])
            for batch in work.batches(loader):
                seen[-1].append(batch)
                if step:
                    step(work, batch)
                else:
                    work.backward(self.module(batch).mean())
        self.end()
        return seen

    def end(self):
        self._thread.join(timeout=60)
        assert not self._thread.is_alive()

    def fails(self, *arguments, **options):
        """The message of the loop's BadInput. The engine's thread ends too."""
        with pytest.raises(BadInput) as told:
            self.loop(*arguments, **options)
        self.handover.fail(told.value)
        self.end()
        assert self.error is not None
        return str(told.value)


def numbers(seen):
    return [[batch[:, 0].int().tolist() for batch in task] for task in seen]


TWO = ([[4, 2], [9]], 2), ([[2, 3], [5, 8, 1]], 2)


@pytest.mark.parametrize("mean", [True, False])
def test_gradients_are_added_times_their_coefficient(mean):
    rank = Rank(([[4, 2, 7]], 1), mean=mean)
    batch = rank.loop(step=None if mean else lambda w, b: w.backward(rank.module(b).sum()))[0][0]
    w = np.arange(5.0)
    rows = batch.numpy().astype(np.float64)
    assert np.allclose(rank.losses, (rows @ w[:4] + w[4]).sum())
    # 1, to which twice the gradient came; the number of updates has none.
    assert np.allclose(rank.totals[0], [*(1 + 2 * rows.sum(axis=0)), 1 + 2 * 3, 1])


@pytest.mark.parametrize("announced", [True, False])
def test_a_loader_gives_what_the_engine_asks_for(announced):
    rank = Rank(*TWO, announced=announced)
    expected = [lists for lists, _ in TWO]
    if not announced:  # each micro-batch is a task
        expected = [[one] for lists in expected for one in lists]
    assert numbers(rank.loop()) == expected
    assert len(rank.totals) == 4


def test_processes_of_a_loader_read_ahead_and_draw_alike():
    """Chance follows from the samples and the version, whoever fetches them."""
    here = Rank(*TWO)
    plain = here.loop()
    there = Rank(*TWO)
    ahead = there.loop(there.loader(num_workers=2, persistent_workers=True))
    assert all(torch.equal(a, b) for one, other in zip(plain, ahead) for a, b in zip(one, other))
    assert all(np.array_equal(a, b) for a, b in zip(here.totals, there.totals))


def test_replicas_draw_alike_in_the_loop_and_versions_do_not():
    drawn = []

    def step(work, batch):
        drawn.append(float(torch.rand(1)))
        work.backward(rank.module(batch).mean())

    rank = Rank(([[1, 2], [3]], 2), ([[1, 2]], 1))
    rank.loop(step=step)
    first = drawn[:2]
    rank = Rank(([[3]], 1), ([[1, 2]], 1))
    rank.loop(step=step)
    assert drawn[3] == first[1] and drawn[4] == drawn[2] != first[0]


@pytest.mark.parametrize("processes", [0, 2])
def test_an_overtaken_task_stops_at_the_next_micro_batch(processes):
    """Also if it would go on for ever, and the loader has read ahead."""
    endless = [[i % 50, 50 + i % 50] for i in range(1000)]
    rank = Rank((endless, 3), (endless, 0), ([[7]], 1), (endless, 1))
    options = {"num_workers": processes, "persistent_workers": True} if processes else {}
    seen = numbers(rank.loop(rank.loader(**options)))
    assert seen == [endless[:3], [[7]], endless[:1]]


def test_gradients_may_be_clipped_and_the_batch_begins_with_zeros():
    def step(work, batch):
        work.backward(rank.module(batch).mean())
        norms.append(float(torch.nn.utils.clip_grad_norm_(rank.module.parameters(), 0.5)))

    norms = []
    rank = Rank(([[1, 2], [1, 2]], 2))
    rank.loop(step=step)
    assert norms[0] == norms[1] > 1
    for total in rank.totals:
        assert np.isclose(np.linalg.norm(total[:-1] - 1), 2 * 2 * 0.5)


def test_autocast_works():
    def step(work, batch):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            outputs = rank.module(batch)
        assert outputs.dtype == torch.bfloat16
        work.backward(outputs.float().mean())

    rank = Rank(([[1, 2]], 1))
    rank.loop(step=step)
    assert np.isclose(rank.totals[0][4], 1 + 2 * 2)


@pytest.mark.gpu
def test_a_module_on_a_gpu_gives_the_gradients_of_the_cpu():
    """With a loader whose batches are pinned."""

    def step(work, batch):
        work.backward(rank.module(batch.to(device, non_blocking=True)).square().mean())

    totals = []
    for device in ("cpu", "cuda"):
        rank = Rank(*TWO, device=device)
        rank.loop(rank.loader(num_workers=1, persistent_workers=True, pin_memory=True), step)
        totals.append(np.array(rank.totals))
    assert np.allclose(*totals, rtol=1e-3)


def _skips(rank):
    return lambda work, batch: None


def _twice(rank):
    def step(work, batch):
        work.backward(rank.module(batch).mean())
        work.backward(rank.module(batch).mean())

    return step


def _forgets(rank):
    def step(work, batch):
        work.backward(rank.module(batch).mean())
        for one in rank.module.parameters():
            one.grad = None

    return step


def _loss(value):
    return lambda rank: lambda work, batch: work.backward(value(rank.module(batch)))


@pytest.mark.parametrize(
    "step, told",
    [
        (_skips, "the batch of samples 4, 2 had no backward"),
        (_twice, "without a batch that wants it"),
        (_forgets, "leave zero_grad() out"),
        (_loss(lambda outputs: outputs), "give work.backward() a tensor of one number"),
        (_loss(lambda outputs: outputs.mean().detach()), "follows from the module's parameters"),
        (_loss(lambda outputs: outputs.mean() * float("nan")), "samples 4, 2 is nan after 5 up"),
    ],
)
def test_a_wrong_loop_is_told_what_is_wrong(step, told):
    rank = Rank(*TWO)
    assert told in rank.fails(step=step(rank))


def test_a_loop_that_leaves_a_task_is_told():
    rank = Rank(*TWO)
    with pytest.raises(BadInput, match="left a task at the batch of samples 4, 2"):
        for work in rank.tasks():
            for batch in work.batches(rank.loader()):
                break
    rank.handover.fail(BadInput("failed"))
    rank.end()
    rank = Rank(*TWO)
    with pytest.raises(BadInput, match="left a task out"):
        for work in rank.tasks():
            pass
    rank.handover.fail(BadInput("failed"))
    rank.end()


def test_a_loader_of_other_samples_is_refused():
    rank = Rank(*TWO)
    assert "batch_sampler=job.sampler" in rank.fails(DataLoader(Numbers(), batch_size=2))
    rank = Rank(*TWO)
    short = rank.loader(collate_fn=lambda rows: torch.stack(rows[1:]))
    assert "a batch of 1 samples where 2 were asked for" in rank.fails(short)


def test_a_loader_outside_of_a_task_is_refused():
    with pytest.raises(BadInput, match="outside of a task"):
        next(iter(Sampler(SEED)))
