# SPDX-License-Identifier: BSD-2-Clause
"""quorate.torch.join over MPI: the user keeps the loop."""

import subprocess
import sys

import pytest

from program import LAUNCHER, PACKAGE, TIMEOUT, environment, our_lines

pytest.importorskip("torch")

pytestmark = pytest.mark.launcher

BEGIN = """
import sys
import numpy as np
import quorate as q
import quorate.torch as qt
import torch
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    '''Two classes. What augments the samples are draws.'''
    def __len__(self):
        return 120
    def __getitem__(self, i):
        own = torch.Generator().manual_seed(i)
        x = torch.randn(6, generator=own)
        return x + 0.1 * torch.rand(1), int(x[0] > 0)

def net():
    torch.manual_seed(2)
    return torch.nn.Sequential(
        torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Dropout(0.2),
        torch.nn.Linear(8, 2))

def make(parameters):
    return torch.optim.AdamW(parameters, 0.01)

dataset, module, loss, tasks, threads = Noisy(), net(), torch.nn.CrossEntropyLoss(), [], set()
options = dict(scheme="uncoded", batch=64, rounds=12, seed=3)
ahead = dict(num_workers=1, persistent_workers=True)

def train(module=module, dataset=dataset, step=None, loader={}, ranks=None, **more):
    with qt.join(module, dataset, optimizer=make, micro_batch=12, **{**options, **more}) as job:
        batches = DataLoader(dataset, batch_sampler=job.sampler, **loader)
        for work in job:
            tasks.append(work)
            for x, y in work.batches(batches):
                threads.add(torch.get_num_threads())
                if step and job.rank == 2:
                    step(work, x, y)
                else:
                    work.backward(loss(module(x), y))
    return job.result
"""


def mpi(tmp_path, code, ranks=3):
    path = tmp_path / "train.py"
    path.write_text(BEGIN + code)
    return subprocess.run(
        [*LAUNCHER, "-n", str(ranks), sys.executable, str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=environment({"PYTHONPATH": PACKAGE}),
    )


def test_a_loop_has_the_bits_of_a_simulated_task(tmp_path):
    """With dropout, batch normalisation and augmentation; also with a loader that reads ahead."""
    code = """
options["threads"] = 3
results = train(), train(net(), loader=ahead)
assert threads <= {3}
assert (results[0] is None) == (q.rank() > 0)
assert len(tasks) == 24 * (q.rank() > 0)
if results[0]:
    task = qt.Task(net(), dataset, loss, make, micro_batch=12, threads=options.pop("threads"))
    simulated = q.simulate(task, workers=2, **options)
    for result in results:
        assert np.array_equal(result.model, simulated.model)
        for column in ("loss_estimate", "used"):
            assert np.array_equal(result.array("round", column), simulated.array("round", column))
    state = qt.state(results[0])["module"]
    assert all(torch.equal(value, state[name]) for name, value in module.state_dict().items())
    print("good", len(result.rounds), result.status)
"""
    done = mpi(tmp_path, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "good 12 completed\n" and done.stderr == ""


def test_a_straggler_is_left_behind(tmp_path):
    """Also while its loader has read ahead of what is not asked for any more. Tasks of `amb` would
    go on without end."""
    code = """
slow = lambda worker, draw, load: 0.1 * (worker == 1)
result = train(scheme="ignore", stragglers=1, delay=slow, loader=ahead)
anytime = train(net(), scheme="amb", compute_time=0.02, rounds=5, loader=ahead)
if result:
    print("good", result.status, set(result.array("round", "used")), anytime.status)
"""
    done = mpi(tmp_path, code, ranks=4)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "good completed {2} completed\n" and done.stderr == ""


def test_an_exception_in_a_loop_ends_all_ranks_and_the_run_can_go_on(tmp_path):
    files = "trace='a.h5', checkpoint='a.ckp', checkpoint_every='1r'"
    code = f"""
def step(work, x, y):
    if work.updates == 5:
        raise ZeroDivisionError("on purpose")
    work.backward(loss(module(x), y))
train(step=step, {files})
"""
    done = mpi(tmp_path, code)
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == done.stderr.count("Error: on purpose") == 1
    code = f"""
resumed, whole = train({files}, resume=True), train(net())
if whole:
    assert np.array_equal(resumed.model, whole.model)
    print("good", qt.state(resumed)["updates"])
"""
    done = mpi(tmp_path, code)
    assert done.stdout == "good 12\n", done.stderr


def test_a_batch_without_backward_ends_all_ranks(tmp_path):
    done = mpi(tmp_path, "train(step=lambda work, x, y: None)\n")
    assert done.returncode == 2
    assert done.stderr.startswith("quorate[rank 2 of 3]: error: the batch of ")
    assert done.stderr.count("had no backward: call work.backward(loss) once for each batch") == 1
    assert "Traceback" not in done.stderr


def test_a_loop_that_ends_early_ends_all_ranks(tmp_path):
    code = """
with qt.join(module, dataset, optimizer=make, **options) as job:
    if job.rank == 0:
        for work in job:
            pass
"""
    done = mpi(tmp_path, code, ranks=2)
    assert done.returncode == 2
    assert done.stderr.count("the loop over the job was left before the run was done") == 1


def test_bad_input_of_a_run_is_raised_on_all_ranks(tmp_path):
    code = """
def told(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except q.BadInput as error:
        if q.rank() == 0:
            print(error)

told(train, scheme="ignore", stragglers=7)
told(train, evaluate_every=1)
told(train, reduction="none")
told(train, dataset=range(0))
told(train, dataset=100, length=50)
told(list, qt.join(module, dataset, optimizer=make, **options))
told(train, dataset=range(120 - 20 * q.rank()))
told(train, torch.nn.Sequential(torch.nn.Linear(6, 2 + q.rank())))
"""
    done = mpi(tmp_path, code, ranks=2)
    assert done.returncode == 0, done.stderr
    begins = ("--stragglers is 7", "evaluate_every is given", "reduction is 'none'")
    begins += ("the dataset range is empty", "length is 50, but the dataset int has a length")
    begins += ("the job has not begun",)
    begins += ("rank 1 has the model torch-sequential",) * 2
    lines = done.stdout.splitlines()
    assert len(lines) == len(begins) and all(map(str.startswith, lines, begins)), lines


def test_one_process_is_refused(tmp_path):
    done = mpi(tmp_path, "train()\n", ranks=1)
    assert done.returncode == 1
    assert "BadInput: quorate.torch.join is for ranks" in our_lines(done.stderr)[-1]
