# SPDX-License-Identifier: BSD-2-Clause
"""A residual network with batch normalisation on CIFAR-10, in a loop of one's own.

    mpiexec -n 5 python3 cifar10_resnet.py data_batch_1.bin data_batch_2.bin --test test_batch.bin

Rank 0 is the coordinator; the other ranks are workers, and each round waits for all but one of
them. The files are those of CIFAR-10's binary version, also compressed by xz. Without files the
images are made: noise of a colour for each class.
"""

from __future__ import annotations

import argparse
import lzma

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import quorate.torch as qt


class Block(nn.Module):
    """Two convolutions beside the identity, or beside a projection where the size changes."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.Conv2d(after, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after),
        )
        self.beside = nn.Sequential()
        if stride != 1 or before != after:
            self.beside = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.beside(x) + self.inner(x))


def network(width: int = 32) -> nn.Module:
    """Three stages of two blocks: 0.7 million parameters with a width of 32."""
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Conv2d(3, width, 3, padding=1, bias=False)]
    layers += [nn.BatchNorm2d(width), nn.ReLU()]
    for before, after, stride in (
        (width, width, 1),
        (width, 2 * width, 2),
        (2 * width, 4 * width, 2),
    ):
        layers += [Block(before, after, stride), Block(after, after, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, 10))


def records(paths: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Images, n x 3 x 32 x 32 bytes, and labels: records of a label and 3,072 pixels."""
    parts = []
    for path in paths:
        with lzma.open(path) if path.endswith(".xz") else open(path, "rb") as file:
            parts.append(np.frombuffer(file.read(), np.uint8).reshape(-1, 3073))
    whole = torch.from_numpy(np.concatenate(parts))
    return whole[:, 1:].reshape(-1, 3, 32, 32), whole[:, 0].long()


def made(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Images of noise, whose colours tell the class, and labels."""
    draw = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 10
    colours = torch.rand(10, 3, 1, 1, generator=torch.Generator().manual_seed(0))
    noise = torch.rand(count, 3, 32, 32, generator=draw)
    return (127 * (colours[labels] + noise)).byte(), labels


class Images(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Images and labels; those for training are shifted and mirrored at random."""

    def __init__(self, images: torch.Tensor, labels: torch.Tensor, vary: bool = False) -> None:
        self.images, self.labels, self.vary = images, labels, vary

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        image = (self.images[index].float() - 128) / 64
        if self.vary:
            down, right, mirror = torch.randint(0, 9, (3,)).tolist()
            image = nn.functional.pad(image, (4, 4, 4, 4))[:, down : down + 32, right : right + 32]
            image = image.flip(2) if mirror % 2 else image
        return image, self.labels[index]


def accuracy(module: nn.Module, data: Images) -> float:
    """The share of images whose class the module finds."""
    module.eval()
    device = next(module.parameters()).device
    right = 0
    with torch.no_grad():
        for x, y in DataLoader(data, batch_size=256):
            right += int((module(x.to(device)).argmax(1).cpu() == y).sum())
    return right / len(data)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", help="images for training")
    parser.add_argument("--test", nargs="*", default=[], help="images for the final accuracy")
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--scheme", default="ignore")
    parser.add_argument("--stragglers", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    train = Images(*(records(given.files) if given.files else made(2000, seed=1)), vary=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"  # give each rank a GPU of its own
    module, loss = network(given.width).to(device), nn.CrossEntropyLoss()
    job = qt.join(
        module,
        train,
        optimizer=lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, weight_decay=5e-4),
        scheme=given.scheme,
        stragglers=given.stragglers,
        batch=given.batch,
        rounds=given.rounds,
    )
    with job:
        loader = DataLoader(train, batch_sampler=job.sampler)
        for work in job:
            for x, y in work.batches(loader):
                work.backward(loss(module(x.to(device)), y.to(device)))
    if job.result:  # rank 0
        test = Images(*(records(given.test) if given.test else made(500, seed=2)))
        print(f"{job.result.time_per_round:.3g} s a round, accuracy {accuracy(module, test):.3f}")


if __name__ == "__main__":
    main()
