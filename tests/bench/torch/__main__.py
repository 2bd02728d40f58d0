# SPDX-License-Identifier: BSD-2-Clause
"""What distributed training of PyTorch's modules costs: make bench-torch.

Each row sets side by side, in turn, a plain loop in one process, DistributedDataParallel over gloo
and Quorate; processes have one thread, and keep the memory that tensors free. Medians of five
turns, with the least and the most. Images are those of CIFAR-10 (docs/data.md, cifar10-jpeg) or, if
they are not there, made.
"""

import argparse
import json
import lzma
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from program import LAUNCHER, REPOSITORY, descendants, environment  # noqa: E402

LOOP = pathlib.Path(__file__).parent / "loop.py"
LIMIT = 1200  # seconds of a training
DEFAULTS = {"workers": 2, "batch": 128, "steps": 30, "seed": 0, "files": [], "options": {}}
DEFAULTS |= {"task": {}, "pace": 0, "slow": -1, "slower": 1, "accuracy": False}
STEPS = {"cnn": 60, "residual": 24, "transformer": 20, "resnet18": 24}
PACE = 0.004  # seconds a sample, much more than it takes, as four workers share two cores
# Quorate lets glibc keep what tensors free, without which loops may fault it in again in each step,
# by chance of where their blocks lie. So the others are given the same.
KEPT = {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1)}
# Of local steps: their numbers before each average and in all, the inner rates, and the outer
# optimisers.
LOCAL_STEPS = {10: 1000, 50: 1000, 500: 5000}
LOCAL = {"workers": 8, "batch": 16}
INNER = {"gradient descent": 0.3, "AdamW": 0.003}
OUTER = {"average": {"lr": 1.0}, "Nesterov": {"lr": 0.7, "momentum": 0.9, "nesterov": True}}
# Schemes for a worker that is slow in all rounds, with their options and the share of a batch that
# their rounds use: of ignore without the slow worker's, of amb what all manage in the same time.
SCHEMES = {
    "ignore": (3 / 4, {"scheme": "ignore", "stragglers": 1}),
    "uncoded --shares 0.33,3": (1, {"scheme": "uncoded", "shares": "0.33,3"}),
    "amb": (4 / 5, {"scheme": "amb", "compute_time": 40 * PACE, "micro_batch": 8}),
}
PARAMETERS = 8192 * (3072 + 1) + 10 * (8192 + 1)  # of the network `wide`


def images(folder):
    """Files of images for training and tests, or none."""
    names = [f"cifar10_jpeg_{one}.bin" for one in ("train10000", "test2000")]
    own = os.environ.get("QUORATE_DATA", REPOSITORY / "data")
    for data in own, REPOSITORY.parent / "shared" / "data":
        packed = [pathlib.Path(data, "cifar10", f"{name}.xz") for name in names]
        if all(path.is_file() for path in packed):
            for name, path in zip(names, packed):
                pathlib.Path(folder, name).write_bytes(lzma.open(path).read())
            return [f"{folder}/{name}" for name in names]
    return []


def stop(processes):
    """kill -9 of all that was started."""
    for process in (one for one in processes if one.poll() is None):
        for pid in [process.pid, *descendants(process.pid)]:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass


def training(way, network, **given):
    """What one training took: a list with a dictionary for each process, by its rank."""
    with tempfile.TemporaryDirectory() as folder:
        given = DEFAULTS | given | {"way": way, "network": network, "folder": folder}
        words = [sys.executable, str(LOOP), json.dumps(given)]
        over_mpi = way in ("task", "join")
        ranks = given["workers"] + 1 if over_mpi else given["workers"] if way == "ddp" else 1
        commands = [[*LAUNCHER, "-n", str(ranks), *words]] if over_mpi else [words] * ranks
        env = environment({"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"} | KEPT)
        processes = [
            subprocess.Popen(one, env=env | ({} if over_mpi else {"RANK": str(rank)}))
            for rank, one in enumerate(commands)
        ]
        try:
            failed = [one.wait(LIMIT) for one in processes]
        finally:
            stop(processes)
        if any(failed):
            sys.exit(f"bench-torch: {way} of {network} ended with status {max(failed)}")
        found = sorted(pathlib.Path(folder).glob("*.json"), key=lambda path: int(path.stem))
        return [json.loads(path.read_text()) for path in found]


def median(values):
    """The median, with the least and the most."""
    middle, least, most = statistics.median(values), min(values), max(values)
    return f"{middle:.4g} ({least:.4g} to {most:.4g})"


def in_ms(seconds):
    return median([1e3 * one for one in seconds])


def ratios(values, others):
    """Turn by turn, so that what slows the machine for a while slows both."""
    return [one / other for one, other in zip(values, others)]


class Measured:
    """What the processes of several turns took."""

    def __init__(self):
        self.turns = []

    def per_step(self, steps):
        """Seconds of the slowest process, and processor seconds of all."""
        walls = [max(one["wall"] for one in turn) / steps for turn in self.turns]
        return walls, [sum(one["cpu"] for one in turn) / steps for turn in self.turns]

    def of_rank(self, rank, what):
        return [turn[rank][what] for turn in self.turns]


def in_turn(turns, cases):
    """Measures cases, {name: (way, network, options)}, one after the other, several times."""
    found = {name: Measured() for name in cases}
    for turn in range(turns):
        for name, (way, network, given) in cases.items():
            found[name].turns.append(training(way, network, **{"seed": turn, **given}))
    return found


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def heads(title, *cells):
    print(f"\n{title}\n")
    row(*cells)
    row(*["---"] * len(cells))


def steps(given, files):
    """Two workers, nobody slow."""
    heads(
        "Two workers, a batch of 128 images or 32 windows; a plain loop has all of it.",
        *("network", "way", "processor ms a step", "over plain", "samples/s", "over DDP"),
    )
    for network, count in ((one, STEPS[one]) for one in given.networks):
        batch = 32 if network == "transformer" else 128
        more = {"steps": count, "batch": batch, "files": files}
        found = in_turn(given.turns, {way: (way, network, more) for way in given.ways})
        taken = {way: found[way].per_step(count) for way in given.ways}
        for way, (walls, cpus) in taken.items():
            speeds = [batch / wall for wall in walls]
            beside = [batch / wall for wall in taken["ddp"][0]]
            row(
                *(network, way, in_ms(cpus)),
                *(median(ratios(cpus, taken["plain"][1])), median(speeds)),
                median(ratios(speeds, beside)),
            )


def slow(given, files):
    """Four workers, of which the last takes three times as long for a sample."""
    even = {"workers": 4, "pace": PACE, "steps": 150, "files": files, "accuracy": True}
    late = even | {"slower": 3, "slow": 3}
    cases = {"DDP, nobody slow": ("ddp", "cnn", even)}
    cases["DDP"] = ("ddp", "cnn", late | {"steps": 30, "accuracy": False})
    for name, (share, scheme) in SCHEMES.items():
        count = round(even["steps"] / share)
        cases[name] = ("task", "cnn", late | {"slow": 4, "steps": count, "options": scheme})
    found = in_turn(given.turns, cases)
    heads(
        f"Four workers that sleep {1e3 * PACE:g} ms a sample, one of them three times as long.",
        *("way", "ms a step", "steps/s over DDP's with nobody slow", "samples/s over it"),
        f"accuracy after some {128 * even['steps']:,} samples",
    )
    beside = found["DDP, nobody slow"].per_step(even["steps"])[0]
    for name, (_, _, more) in cases.items():
        walls = found[name].per_step(more["steps"])[0]
        speeds = ratios(beside, walls)
        samples = found[name].of_rank(0, "samples")
        used = [speed * one / 128 for speed, one in zip(speeds, samples)]
        right = median(found[name].of_rank(0, "accuracy")) if more["accuracy"] else "-"
        row(name, in_ms(walls), median(speeds), median(used), right)


def rounds(given, files):
    """One process, one worker: what a round costs beside its gradient."""
    more = {"steps": 300, "batch": 20, "files": files}
    heads(
        "One process and one worker, 20 images a round.",
        *("network", "way", "ms a round", "over plain", "processor ms a round", "over plain"),
    )
    for network in "small-cnn", "cnn":
        cases = {"plain": ("plain", network, more)}
        cases["threads"] = ("threads", network, more | {"options": {"workers": 1}})
        found = in_turn(given.turns, cases)
        taken = {name: one.per_step(more["steps"]) for name, one in found.items()}
        for name, found_of in taken.items():
            beside = (median(ratios(*both)) for both in zip(found_of, taken["plain"]))
            cells = (cell for both in zip(map(in_ms, found_of), beside) for cell in both)
            row(network, name, *cells)


def memory(given, files):
    """25 million parameters, few images."""
    more = {"steps": 20, "batch": 8, "files": files}
    ways = ["module", *given.ways]
    found = in_turn(given.turns, {way: (way, "wide", more) for way in ways})
    heads(
        f"{PARAMETERS / 1e6:.1f} million parameters, two workers, 8 images a round. Peaks beyond"
        " a process that has only the module, in vectors of single precision.",
        *("way", "rank 0", "rank 1", "processor ms a round"),
    )
    alone = statistics.median(found["module"].of_rank(0, "peak"))
    for way in given.ways:
        peaks = ["-", "-"]
        for rank in range(min(2, len(found[way].turns[0]))):
            beyond = [2**20 * (one - alone) for one in found[way].of_rank(rank, "peak")]
            peaks[rank] = median([one / (4 * PARAMETERS) for one in beyond])
        row(way, *peaks, in_ms(found[way].per_step(more["steps"])[1]))


def local(given, files):
    """Local steps: averages beside Nesterov's momentum for them, as in DiLoCo. Trainings run beside
    one another, because nothing of them is timed."""
    heads(
        f"{LOCAL['workers']} workers of a transformer of 29,000 parameters; the virtual clock.",
        *("inner optimiser", "local steps", "of", "outer optimiser"),
        *("loss", "loss less that of averages", "bytes a sample"),
    )
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for inner, (count, steps) in product(given.inner, LOCAL_STEPS.items()):
            more = LOCAL | {"local_steps": count, "steps": steps}
            more |= {"inner": inner, "rate": INNER[inner]}
            cases = [
                more | {"outer": outer, "seed": seed}
                for outer, seed in product(OUTER.values(), range(given.turns))
            ]
            found = list(pool.map(lambda case: local_training(**case), cases))
            averages = [one["loss"] for one in found[: given.turns]]
            for name in OUTER:
                turns, found = found[: given.turns], found[given.turns :]
                losses = [one["loss"] for one in turns]
                less = median([one - other for one, other in zip(losses, averages)])
                sent = f"{turns[0]['bytes']:,.0f}"
                row(inner, str(count), f"{steps:,}", name, median(losses), less, sent)


def local_training(**given):
    return training("local", "small-transformer", **given)[0]


PARTS = {"steps": steps, "slow": slow, "rounds": rounds, "memory": memory, "local": local}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--networks", choices=STEPS, nargs="+", default=list(STEPS))
    parser.add_argument("--inner", choices=INNER, nargs="+", default=list(INNER))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--ways", choices=["task", "join"], nargs="*", default=["task", "join"])
    given = parser.parse_args()
    given.ways = ["plain", "ddp", *given.ways]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by which what was started ends, too
    with tempfile.TemporaryDirectory() as folder:
        files = images(folder)
        for part in given.only:
            PARTS[part](given, files)
        print(f"\nImages: {'CIFAR-10' if files else 'made'}. Load: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
