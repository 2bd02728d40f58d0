# SPDX-License-Identifier: BSD-2-Clause
"""A small residual network with batch normalisation on CIFAR-10, trained by PyTorch's AdamW with a
cosine schedule, under three schemes and the same stragglers.

    quorate import --config jobs/data/cifar10.ini --input train.bin --test-input test.bin \\
        --output cifar10.h5
    python3 residual_network.py cifar10.h5 [ROUNDS [ROWS]]

Prints losses and times, and writes residual_network.png and residual_network.pt, the state of the
first run.
"""

import sys

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.utils.data import TensorDataset

import quorate as q
import quorate.torch as qt


class Block(nn.Module):
    """Two convolutions beside the identity."""

    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))

    def forward(self, x):
        inner = torch.relu(self.norms[0](self.first(x)))
        return torch.relu(x + self.norms[1](self.second(inner)))


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        Block(8),
        nn.Conv2d(8, 16, 3, stride=2, padding=1),
        Block(16),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


def images(data, split, most):
    """Rows of a data set as images of a Dataset."""
    X, y = data.arrays(split)
    return TensorDataset(
        torch.from_numpy(X[:most]).float().reshape(-1, 3, 32, 32),
        torch.from_numpy(y[:most]).long(),
    )


def main():
    data, rounds = q.open(sys.argv[1]), int((sys.argv[2:] or ["30"])[0])
    rows = int((sys.argv[3:] or [data.rows])[0])
    training = images(data, "train", rows)
    task = qt.Task(
        network(),
        training,
        nn.CrossEntropyLoss(),
        optimizer=lambda p: torch.optim.AdamW(p, lr=0.01),
        scheduler=lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, rounds),
        evaluate=images(data, "test", rows // 5),
    )
    schemes = ["uncoded", q.scheme("frc", stragglers=1), q.scheme("amb", compute_time=2)]
    runs = q.compare(
        schemes,
        task,
        seeds=1,
        workers=4,
        rounds=rounds,
        delay=q.exponential(0.5),
        row_time=2 * 4 / len(training),
        evaluate_every=max(1, rounds // 6),
    )
    print(runs.summary)
    torch.save(qt.state(runs[0]), "residual_network.pt")
    runs.plot()
    plt.savefig("residual_network.png", dpi=120)


if __name__ == "__main__":
    main()
