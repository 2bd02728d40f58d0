# SPDX-License-Identifier: BSD-2-Clause
"""How many threads runs of quorate.torch compute with."""

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from small_torch import images, network, sgd  # noqa: E402
from torch import nn  # noqa: E402

import quorate.torch as qt  # noqa: E402
from quorate.torch import _cores  # noqa: E402


def cores(first, behind):
    return {str(core) for core in range(first, behind)}


@pytest.mark.parametrize(
    ("own", "ranks", "beside", "share"),
    [
        (cores(0, 40), 1, [cores(0, 40)], 40),
        (cores(0, 2), 8, [cores(0, 2)] * 8, 1),
        (cores(0, 40), 7, [cores(0, 40)] * 7, 5),
        (cores(0, 4), 3, [cores(0, 4), cores(4, 8), cores(8, 12)], 4),
        (cores(0, 20), 5, [cores(0, 20)] * 2 + [cores(20, 40)] * 3, 10),
        (cores(0, 8), 2, [cores(0, 8)], 4),
    ],
    ids=["alone", "crowded", "not bound", "bound", "two sockets", "behind a shell"],
)
def test_ranks_share_the_cores_on_which_several_may_run(own, ranks, beside, share):
    assert _cores.share(own, ranks, beside) == share


@pytest.mark.parametrize(
    ("told", "ranks"),
    [
        ({"MPI_LOCALNRANKS": "3", "SLURM_STEP_TASKS_PER_NODE": "1", "SLURM_NODEID": "0"}, 3),
        ({"OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, 4),
        ({"SLURM_STEP_TASKS_PER_NODE": "8(x2),5", "SLURM_NODEID": "1"}, 8),
        ({"SLURM_STEP_TASKS_PER_NODE": "8(x2),5", "SLURM_NODEID": "2"}, 5),
        ({"SLURM_STEP_TASKS_PER_NODE": "8(x2),5"}, None),
        ({}, None),
    ],
)
def test_launchers_tell_how_many_ranks_a_host_has(told, ranks):
    assert _cores.ranks_of_host(told) == ranks


@pytest.fixture
def rank_alone_on_its_host(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MPI_LOCALNRANKS", "1")
    monkeypatch.setattr(_cores, "_quorate", SimpleNamespace(rank_and_size=lambda: (1, 3)))
    monkeypatch.setattr(_cores, "_core", str)
    monkeypatch.setattr(_cores.os, "sched_getaffinity", lambda process: range(40))


def test_a_rank_of_mpi_takes_the_cores_that_it_has(monkeypatch, rank_alone_on_its_host):
    assert _cores.threads_here(0) == 40
    assert _cores.threads_here(6) == 6
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert _cores.threads_here(0) == 3
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.delenv("MPI_LOCALNRANKS")
    assert _cores.threads_here(0) == 1


@pytest.mark.parametrize(("given", "taken"), [({}, 1), ({"threads": 3}, 3)], ids=str)
def test_a_run_computes_with_the_threads_that_its_task_says(q, given, taken):
    seen = set()

    class Watching(nn.CrossEntropyLoss):
        def forward(self, outputs, targets):
            seen.add(torch.get_num_threads())
            return super().forward(outputs, targets)

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        task = qt.Task(network(), images(), Watching(), sgd, **given)
        common = {"workers": 2, "rounds": 2}
        results = [q.simulate(task, **common), q.run(task, **common)]
        q.compare(["uncoded"], task, **common)
        q.tune(task, {"step": [1]}, folds=2, rounds=1)
        assert seen == {taken} and torch.get_num_threads() == 2
        for result in results:
            assert result.options["torch-threads"] == str(given.get("threads", 0))
    finally:
        torch.set_num_threads(before)
