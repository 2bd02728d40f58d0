# SPDX-License-Identifier: BSD-2-Clause
"""A Task of quorate.torch over MPI."""

import re
import subprocess
import sys

import pytest

from program import LAUNCHER, PACKAGE, REPOSITORY, TIMEOUT, environment

pytest.importorskip("torch")

pytestmark = pytest.mark.launcher

BEGIN = """
import numpy as np, quorate as q, quorate.torch as qt, torch
from small_torch import *
rank = int(next(os.environ[n] for n in ("PMI_RANK", "OMPI_COMM_WORLD_RANK") if n in os.environ))
module, dataset = network(nn.BatchNorm2d(4), nn.Dropout(0.3)), images()
"""
TASK = """
task = qt.Task(module, dataset, nn.CrossEntropyLoss(), adamw, scheduler=halved, evaluate=images())
common = dict(rounds=5, batch=24, evaluate_every=5, seed=3)
"""


def mpi(tmp_path, code, before="", ranks=3, around=()):
    path = tmp_path / "program.py"
    path.write_text(f"import os\n{BEGIN}{before}{TASK}{code}")
    return subprocess.run(
        [*LAUNCHER, "-n", str(ranks), *around, sys.executable, str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=environment({"PYTHONPATH": f"{PACKAGE}:{REPOSITORY / 'tests' / 'python'}"}),
    )


def test_runs_agree_with_a_simulation_bit_for_bit_and_have_checkpoints(tmp_path):
    code = """
files = dict(trace="a.h5", checkpoint="a.ckp", checkpoint_every="1r")
runs = [q.run(task, **common), q.run(task, **files, **common)]
if rank == 0:
    simulated = q.simulate(task, workers=2, **common)
    for run in runs:
        assert np.array_equal(run.model, simulated.model)
        assert run.evaluations["test_loss"].equals(simulated.evaluations["test_loss"])
        assert qt.state(run)["updates"] == 5
    print("good", os.path.exists("a.ckp"))
"""
    done = mpi(tmp_path, code)
    assert done.stdout == "good True\n", done.stderr


def test_leaders_of_nodes_add_up_floats(tmp_path):
    """Ranks 0 to 2 say that they are on one node, 3 and 4 on another."""
    code = """
run = q.run(task, aggregate="node", **common)
if rank == 0:
    simulated = q.simulate(task, workers=4, nodes=2, aggregate="node", **common)
    flat = q.simulate(task, workers=4, **common)
    assert np.array_equal(run.model, simulated.model)
    assert not np.array_equal(run.model, flat.model)
    np.testing.assert_allclose(run.model, flat.model, atol=0.05)
    print("good")
"""
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    around = ("sh", "-c", f'SLURMD_NODENAME=node$(({rank} / 3)) exec "$0" "$@"')
    done = mpi(tmp_path, code, ranks=5, around=around)
    assert done.stdout == "good\n", done.stderr


def test_bad_input_of_one_worker_is_a_line(tmp_path):
    before = "if rank == 2: dataset.tensors[0].fill_(float('nan'))\n"
    done = mpi(tmp_path, "q.run(task, **common)\n", before)
    assert done.returncode == 2
    assert "[rank 2 of 3]: error: the loss of the samples " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (
            "dataset = torch.utils.data.Subset(dataset, range(40))",
            r"40 \+ 48 samples.*48 \+ 48 samples",
        ),
        ("module[0].weight.data.zero_()", "numbers .* rank 0 has .* numbers"),
    ],
)
def test_ranks_that_have_another_dataset_or_frozen_layer_are_refused(tmp_path, other, text):
    before = f"module[0].weight.requires_grad = False\nif rank == 2: {other}\n"
    code = """
try:
    q.run(task, **common)
except q.BadInput as error:  # the other ranks are sent away
    if rank == 0:
        print(error)
"""
    done = mpi(tmp_path, code, before)
    assert re.search(f"^rank 2 has the model .*{text}.*: start all ranks with", done.stdout), done


def test_a_task_of_a_plugin_runs_from_the_command_line(tmp_path):
    lines = """
import quorate.torch as qt
from small_torch import *

class Loss(nn.CrossEntropyLoss):
    def forward(self, outputs, targets):
        assert torch.get_num_threads() == 3
        return super().forward(outputs, targets)

task = qt.Task(network(), images(), Loss(), sgd, threads=3, name="small")
"""
    (tmp_path / "small.py").write_text(lines)
    env = environment({"PYTHONPATH": f"{PACKAGE}:{REPOSITORY / 'tests' / 'python'}"})

    def python(*words, launcher=()):
        words = [*launcher, sys.executable, *words]
        done = subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT, env=env
        )
        assert done.returncode == 0, done.stderr

    python("-c", "import small; small.task.numbers.save('numbers.h5')")
    words = "--plugin small.py --model small --optimizer small --step 1 --l2 0 --data numbers.h5"
    words += " --rounds 3 --trace small.h5"
    python("-m", "quorate", "run", *words.split(), launcher=[*LAUNCHER, "-n", "3"])
    code = "import quorate as q, small; import numpy as np;"
    code += "run, same = q.load('small.h5'), q.simulate(small.task, workers=2, rounds=3);"
    code += "assert np.array_equal(run.model, same.model)"
    python("-c", code)
