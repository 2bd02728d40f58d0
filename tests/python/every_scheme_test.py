# SPDX-License-Identifier: BSD-2-Clause
"""Every scheme over MPI, all in one job, and each again from its trace: the same bits."""

import subprocess
import sys


from program import LAUNCHER, PACKAGE, REPOSITORY, environment, schemes

JOB = """
import sys
import numpy as np
from quorate import _quorate

data, trace, ways = sys.argv[1:]

def options(words):
    found = {"workers": "7", "rounds": "12", "delay": "exponential:0.003", "step": "0.1"}
    for word in words:
        if word.startswith("--"):
            name = word[2:]
            found[name] = "on"
        else:
            found[name] = word
    return found

COLUMNS = {
    "round": ["model", "used", "step_size", "loss_estimate", "gradient_norm"],
    "arrival": ["event", "worker", "task", "part", "draw", "version_oldest", "used", "uses"],
}

def differing(run, again):
    if not np.array_equal(run.model, again.model):
        yield "model"
    for table, names in COLUMNS.items():
        one, other = run.table(table), again.table(table)
        for name in names:
            if not np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f"):
                yield f"{table}/{name}"

for number, line in enumerate(open(ways)):
    scheme, *words = line.split()
    run = _quorate.run({"data": data, "scheme": scheme, **options(words)})
    if run:
        path = f"{trace}.{number}"
        run.save(path)
        again = _quorate.simulate({"replay": path}, _quorate.Stop())
        wrong = [*run.faults(), *again.faults(), *differing(run, again)]
        print(f"{line.strip()}: {' '.join(wrong)}", flush=True)
"""


def test_every_scheme_is_replayed_bit_for_bit(gaussians, tmp_path):
    lines = [" ".join([name, *example]) for name, example in schemes()]
    further = (REPOSITORY / "tests" / "ways.txt").read_text().splitlines()
    lines += [line for line in further if not line.startswith("#")]
    ways, job = tmp_path / "ways", tmp_path / "job.py"
    ways.write_text("\n".join(lines) + "\n")
    job.write_text(JOB)
    # Of margulis, 9 workers; where there are fewer, the other ranks have nothing to do.
    command = [*LAUNCHER, "-n", "10", sys.executable, job, gaussians, tmp_path / "trace", ways]
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment({"PYTHONPATH": PACKAGE}),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # What differs would stand behind the colon.
    assert done.stdout.splitlines() == [f"{line}: " for line in lines]
