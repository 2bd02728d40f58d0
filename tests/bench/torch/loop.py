# SPDX-License-Identifier: BSD-2-Clause
"""One process of a training that `make bench-torch` measures.

loop.py '{"way": "plain", "network": "cnn", "batch": 128, "steps": 50, ...}' writes into the folder
that it names what it took: seconds, seconds of a processor, and the peak of its memory.
"""

import json
import os
import sys
import time
from itertools import chain, islice, repeat
from pathlib import Path

import torch
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler

import problems

WARM = 3  # steps before the clock runs


def rank():
    """Of this process among those that a launcher, or the driver, has started."""
    names = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "RANK")
    return int(next((os.environ[one] for one in names if one in os.environ), "0"))


def peak():
    """Megabytes."""
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024


class Clock:
    """Seconds, and processor seconds of all threads, since it was made."""

    def __init__(self):
        self.began = time.perf_counter(), time.process_time()

    def __call__(self):
        now = time.perf_counter(), time.process_time()
        return {"wall": now[0] - self.began[0], "cpu": now[1] - self.began[1]}


def paced(loss, seconds):
    """A loss that sleeps so long for each sample: a worker of a speed that others do not change."""

    def slower(outputs, targets):
        time.sleep(seconds * len(targets))
        return loss(outputs, targets)

    return slower if seconds else loss


def steps(problem, module, sampler, batch, count):
    """The loop that people have: what it took after the first steps."""
    loader = DataLoader(problem.train, batch_size=batch, sampler=sampler, drop_last=True)
    optimizer = problem.optimizer(module.parameters())
    clock = None
    for step, (x, y) in enumerate(islice(chain.from_iterable(repeat(loader)), WARM + count)):
        if step == WARM:
            clock = Clock()
        optimizer.zero_grad()
        problem.loss(module(x), y).backward()
        optimizer.step()
    return clock()


def module(problem, given):
    """No training: what a process that has the module takes of memory."""
    return {}


def plain(problem, given):
    sampler = RandomSampler(problem.train)
    return steps(problem, problem.module, sampler, given["batch"], given["steps"])


def ddp(problem, given):
    """DistributedDataParallel over gloo."""
    import torch.distributed as distributed

    size = given["workers"]
    meet = f"file://{given['folder']}/meet"
    distributed.init_process_group("gloo", init_method=meet, rank=rank(), world_size=size)
    wrapped = torch.nn.parallel.DistributedDataParallel(problem.module)
    sampler = DistributedSampler(problem.train)
    return steps(problem, wrapped, sampler, given["batch"] // size, given["steps"])


class Notes:
    """When a process was at one place of each step, and its processor seconds until then."""

    def __init__(self):
        self._all = []

    def before(self, called):
        """A function that notes this, and calls the other one."""

        def noting(*arguments):
            self._all.append((time.perf_counter(), time.process_time()))
            return called(*arguments)

        return noting

    def taken(self, steps):
        """What so many steps took, each of as many calls, after the first ones."""
        calls = len(self._all) / (WARM + steps)
        first = round(WARM * calls)
        share = steps * calls / (len(self._all) - 1 - first)
        names = "wall", "cpu"
        return {n: share * (b - a) for n, a, b in zip(names, self._all[first], self._all[-1])}


def noted(problem, notes):
    """Loss and optimiser of a run: the coordinator notes its updates, a worker its losses."""

    def optimizer(parameters):
        made = problem.optimizer(parameters)
        if rank() == 0:
            made.step = notes.before(made.step)
        return made

    return notes.before(problem.loss) if rank() > 0 else problem.loss, optimizer


def options(given):
    """timeout: a worker on a busy machine is not dead."""
    common = {"evaluate_every": 0, "timeout": 60}
    return {**common, "batch": given["batch"], "seed": given["seed"], **given["options"]}


def task(problem, given):
    """quorate.torch of the parts."""
    import quorate as q
    import quorate.torch as qt

    notes = Notes()
    loss, optimizer = noted(problem, notes)
    parts = qt.Task(problem.module, problem.train, loss, optimizer=optimizer, **given["task"])
    result = q.run(parts, rounds=WARM + given["steps"], **options(given))
    taken = notes.taken(given["steps"])
    if rank() == 0:
        problem.module.load_state_dict(qt.state(result)["module"])
        taken["samples"] = result.rounds["samples"].mean()
    return taken


def join(problem, given):
    """quorate.torch in one's own loop."""
    import quorate.torch as qt

    notes = Notes()
    loss, optimizer = noted(problem, notes)
    made = {"optimizer": optimizer, "rounds": WARM + given["steps"]}
    with qt.join(problem.module, problem.train, **made, **options(given)) as job:
        loader = DataLoader(problem.train, batch_sampler=job.sampler)
        for work in job:
            for x, y in work.batches(loader):
                work.backward(loss(problem.module(x), y))
    return notes.taken(given["steps"])


def local(problem, given):
    """Local steps of workers under the virtual clock: the loss at the end, and bytes a sample."""
    import quorate as q
    import quorate.torch as qt

    def outer(parameters):
        return torch.optim.SGD(parameters, **given["outer"])

    def inner(parameters):
        return torch.optim.AdamW(parameters, given["rate"])

    each, adam = given["local_steps"], given["inner"] == "AdamW"
    parts = problem.module, problem.train, problem.loss
    result = q.simulate(
        qt.Task(*parts, optimizer=outer, inner=inner if adam else None),
        scheme="local-average",
        local_steps=each,
        step=None if adam else given["rate"],
        workers=given["workers"],
        batch=given["batch"],
        rounds=given["steps"] // each,
        evaluate_every=given["steps"] // each,
        seed=given["seed"],
    )
    sent = result.rounds[["bytes_sent", "bytes_received"]].sum(axis=1).mean()
    loss = float(result.evaluations["train_loss"].iloc[-1])
    return {"loss": loss, "bytes": sent / (each * given["batch"])}


WAYS = {
    "local": local,
    "module": module,
    "plain": plain,
    "ddp": ddp,
    "task": task,
    "threads": task,
    "join": join,
}


def main():
    given = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    problem = problems.problem(given["network"], given["files"], given["seed"])
    sleeps = given["pace"] * (given["slower"] if rank() == given["slow"] else 1)
    problem.loss = paced(problem.loss, sleeps)
    taken = {"samples": given["batch"], **WAYS[given["way"]](problem, given)}
    taken |= {"peak": peak(), "rank": rank()}
    if given["accuracy"] and rank() == 0:
        taken["accuracy"] = problems.images.accuracy(problem.module, problem.test)
    (Path(given["folder"]) / f"{rank()}.json").write_text(json.dumps(taken))


if __name__ == "__main__":
    main()
