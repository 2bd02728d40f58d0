# SPDX-License-Identifier: BSD-2-Clause
"""A small residual network of PyTorch on CIFAR-10, under three schemes and the same stragglers.

    quorate import --config jobs/data/cifar10.ini --input train.bin --test-input test.bin \\
        --output cifar10.h5
    python3 residual_network.py cifar10.h5 [ROUNDS [ROWS]]

Prints losses and times, and writes residual_network.png.
"""

import sys

import matplotlib.pyplot as plt
import torch
from torch import nn

import quorate as q


class Block(nn.Module):
    """Two convolutions beside the identity. GroupNorm, because batch statistics know no rows."""

    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.norms = nn.ModuleList(nn.GroupNorm(2, channels) for _ in range(2))

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


def loss(scores, labels):
    return nn.functional.cross_entropy(scores, labels, reduction="sum")


def main():
    data, rounds = q.open(sys.argv[1]), int((sys.argv[2:] or ["30"])[0])
    if len(sys.argv) > 3:
        rows = int(sys.argv[3])
        (X, y), (X_test, y_test) = data.arrays(), data.arrays("test")
        data = q.dataset(
            X[:rows], y[:rows], X_test[: rows // 5], y_test[: rows // 5], task="multiclass"
        )
    model = q.torch(network(), loss, image=(3, 32, 32))
    schemes = ["uncoded", q.scheme("pgc-frc", stragglers=1), q.scheme("amb", compute_time=2)]
    runs = q.compare(
        schemes,
        data,
        seeds=1,
        model=model,
        workers=4,
        rounds=rounds,
        optimizer="momentum",
        step=0.05,
        l2=0,
        delay=q.exponential(0.5),
        row_time=2 * 4 / data.rows,
        evaluate_every=max(1, rounds // 6),
    )
    print(runs.summary)
    runs.plot()
    plt.savefig("residual_network.png", dpi=120)


if __name__ == "__main__":
    main()
