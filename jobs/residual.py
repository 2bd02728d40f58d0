# SPDX-License-Identifier: BSD-2-Clause
"""A residual network of PyTorch on CIFAR-10 as the model and optimiser `residual`: a plugin of
`python3 -m quorate`.

Images of 3 x 32 x 32 are averaged to 3 x 16 x 16 first, which makes a step four times as cheap. Two
blocks with batch normalisation, of 8 channels at 8 x 8 and of 16 at 4 x 4: 9,866 parameters, the
same at the start for all seeds. Of the images the first four fifths are trained on, and the others
are for tests. Adam has the learning rate 1, so that the step of a run is its learning rate.
"""

import lzma
import os
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset

import quorate as q
import quorate.torch as qt

IMAGES = Path("cifar10", "cifar10_train_first4000.bin.xz")


def folder():
    """Of raw data, where docs/data.md says."""
    root = Path(__file__).resolve().parents[1]
    for one in os.environ.get("QUORATE_DATA", ""), root.parent / "shared" / "data", root / "data":
        if one and (Path(one) / IMAGES).is_file():
            return Path(one)
    raise q.BadInput(f"there is no {IMAGES}: set QUORATE_DATA to the folder of raw data")


def images(path):
    """To train on, and to test with: records of a label and 3,072 pixels."""
    with lzma.open(path) as file:
        whole = np.frombuffer(file.read(), np.uint8).reshape(-1, 3073)
    pixels = torch.tensor(whole[:, 1:] / 255, dtype=torch.float32).reshape(-1, 3, 32, 32)
    labels = torch.tensor(whole[:, 0], dtype=torch.int64)
    count = len(whole) * 4 // 5
    parts = slice(None, count), slice(count, None)
    return [TensorDataset(pixels[part], labels[part]) for part in parts]


class Block(nn.Module):
    """Two convolutions beside the identity."""

    def __init__(self, channels):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return torch.relu(x + self.inner(x))


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.AvgPool2d(2),
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        Block(8),
        nn.Conv2d(8, 16, 3, stride=2, padding=1),
        Block(16),
        nn.Flatten(),
        nn.Linear(16 * 4 * 4, 10),
    )


train, test = images(folder() / IMAGES)
task = qt.Task(
    *(network(), train, nn.CrossEntropyLoss()),
    optimizer=lambda parameters: torch.optim.Adam(parameters, lr=1),
    evaluate=test,
    name="residual",
)
