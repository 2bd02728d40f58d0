# SPDX-License-Identifier: BSD-2-Clause
"""quorate.run over MPI."""

import subprocess
import sys

import pytest

from program import KEEP_GOING, LAUNCHER, OPEN_MPI, PACKAGE, REPOSITORY, TIMEOUT, environment

pytestmark = pytest.mark.launcher

PATH = f"{PACKAGE}:{REPOSITORY / 'tests' / 'plugins'}"  # with fastest.py, numpy_logistic.py
BEGIN = """
import sys
import numpy as np
import quorate as q
from fastest import Fastest
from numpy_logistic import NumpyLogistic

draw = np.random.default_rng(5)
X = draw.normal(size=(200, 6))
data = q.dataset(X, np.where(X[:, 0] > 0, 1, -1))
options = dict(optimizer="agd", step=0.3, rounds=25, delay=q.exponential(0.002), seed=1)
"""


def mpi(tmp_path, code, ranks=9, before="", launcher=(), **more):
    path = tmp_path / "program.py"
    path.write_text(f"{before}\n{BEGIN}{code}")
    return subprocess.run(
        [*LAUNCHER, *launcher, "-n", str(ranks), sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=environment({"PYTHONPATH": PATH, **more}),
    )


def test_runs_over_mpi_agree_with_simulations(tmp_path):
    code = """
mine = dict(scheme=Fastest, responders=8, model=NumpyLogistic)
result = q.run(data, **mine, **options)
again = q.run(data, scheme="uncoded", **options)
assert (result is None) == (q.rank() > 0)
if result:
    simulated = q.simulate(data, **mine, workers=8, **options)
    assert np.array_equal(result.model, simulated.model)
    assert np.abs(result.model - again.model).max() < 1e-10
    result.save(sys.argv[0] + ".h5")
    replayed = q.simulate(replay=sys.argv[0] + ".h5")
    assert np.array_equal(result.model, replayed.model)
    print("good", len(result.rounds), result.status)
"""
    done = mpi(tmp_path, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "good 25 completed\n" and done.stderr == ""


def test_an_exception_of_a_worker_ends_all_ranks(tmp_path):
    code = """
class Fails(NumpyLogistic):
    def loss_and_gradient(self, X, y, w):
        if q.rank() == 5:
            raise ZeroDivisionError("on purpose")
        return super().loss_and_gradient(X, y, w)
q.run(data, model=Fails, **options)
"""
    done = mpi(tmp_path, code)
    assert done.returncode != 0
    assert done.stderr.count("Traceback") == 1
    assert done.stderr.count("ZeroDivisionError: on purpose") == 1


def test_a_program_goes_on_after_a_run_that_has_lost_a_rank(tmp_path):
    code = """
class Dies(NumpyLogistic):
    def loss_and_gradient(self, X, y, w):
        if q.rank() == 3:
            os._exit(0)  # with another status Open MPI's mpiexec ends all ranks
        return super().loss_and_gradient(X, y, w)
files = dict(trace=sys.argv[0] + ".h5")
result = q.run(data, model=Dies, scheme="ignore", stragglers=1, **files, **options)
if result:
    print("good", len(result.rounds), result.status, flush=True)
"""
    done = mpi(tmp_path, code, ranks=5, before="import os", launcher=KEEP_GOING)
    assert done.stdout == "good 25 completed\n", done.stderr


def test_a_gradient_of_the_wrong_shape_ends_all_ranks(tmp_path):
    code = """
class Short(NumpyLogistic):
    def loss_and_gradient(self, X, y, w):
        loss, gradient = super().loss_and_gradient(X, y, w)
        return loss, gradient[: 6 - (q.rank() == 3)]
q.run(data, model=Short, **options)
"""
    done = mpi(tmp_path, code, ranks=5)
    assert done.returncode != 0
    assert done.stderr.count("returned 5 numbers where there are 6 parameters") == 1


def test_an_exception_of_the_scheme_is_raised_on_the_coordinator(tmp_path):
    code = """
class Fails(Fastest):
    def receive(self, contribution):
        raise ZeroDivisionError("on purpose")
q.run(data, scheme=Fails, responders=8, **options)
"""
    done = mpi(tmp_path, code)
    assert done.returncode != 0
    assert done.stderr.count("ZeroDivisionError: on purpose") == 1


def test_a_bad_option_is_raised_on_all_ranks(tmp_path):
    code = """
try:
    q.run(data, scheme="agc", stragglers=2, collect=40, **options)
except q.BadInput as error:
    if q.rank() == 0:
        print(error)
"""
    done = mpi(tmp_path, code)
    assert done.returncode == 0, done.stderr
    assert "--collect is 40" in done.stdout


def test_a_run_without_a_launcher_is_refused(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(BEGIN + "q.run(data, **options)\n")
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=environment({"PYTHONPATH": PATH}),
    )
    assert done.returncode == 1
    assert "BadInput" in done.stderr and "start" in done.stderr


# Debian's mpi4py is of Open MPI.
if OPEN_MPI:

    @pytest.mark.parametrize("first", ["mpi4py", "quorate"])
    def test_an_mpi4py_of_the_same_mpi_is_shared(tmp_path, first):
        code = """
result = q.run(data, scheme="uncoded", **options)
again = q.run(data, scheme="frc", stragglers=1, **options)
assert not MPI.Is_finalized()
ranks = MPI.COMM_WORLD.allreduce(1)
if result:
    print("good", ranks, len(again.rounds))
"""
        begin = "import quorate as q; q.dataset([[0.0], [1.0]], [-1, 1])"
        imports = ["from mpi4py import MPI", begin]
        if first == "quorate":
            imports.reverse()
        done = mpi(tmp_path, code, ranks=5, before="\n".join(imports))
        assert done.returncode == 0, done.stderr
        assert done.stdout == "good 5 25\n" and done.stderr == ""

else:

    @pytest.mark.parametrize("first", ["mpi4py", "quorate"])
    def test_an_mpi4py_of_another_mpi_is_refused(tmp_path, first):
        """Whichever is there first: nothing of the two may be mixed."""
        imports = ["from mpi4py import MPI", "import quorate as q; q.simulate(workers=2, rounds=2)"]
        if first == "quorate":
            imports.reverse()
        path = tmp_path / "program.py"
        path.write_text("\n".join([*imports, "q.simulate(workers=2, rounds=2)"]))
        done = subprocess.run(
            [sys.executable, str(path)],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            env=environment({"PYTHONPATH": PACKAGE, "OMPI_ALLOW_RUN_AS_ROOT": "1"})
            | {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        )
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("ValueError: mpi4py is of Open MPI v")


@pytest.mark.parametrize("status", [0, 3])
def test_the_status_of_the_program_stays(tmp_path, status):
    code = f"q.run(data, scheme='uncoded', **options)\nsys.exit({status})\n"
    done = mpi(tmp_path, code, ranks=3)
    assert done.returncode == status, done.stderr
