# SPDX-License-Identifier: BSD-2-Clause
"""A residual network of PyTorch on CIFAR-10 as the model and optimiser `residual`: a plugin of
`python3 -m quorate`.

Images of 3 x 32 x 32 are averaged to 3 x 16 x 16 first, which makes a step four times as cheap. Two
blocks with batch normalisation, of 8 channels at 8 x 8 and of 16 at 4 x 4: 9,866 parameters, the
same at the start for all seeds. Of the images the first four fifths are trained on, and the others
are for tests. Adam has the learning rate 1, so that the step of a run is its learning rate.
"""

import torch
from torch import nn
from torch.utils.data import TensorDataset

import quorate.torch as qt
from cifar10_images import samples


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


pixels, labels = samples("cifar10_train_first4000.bin.xz")
count = len(labels) * 4 // 5
task = qt.Task(
    network(),
    TensorDataset(pixels[:count], labels[:count]),
    nn.CrossEntropyLoss(),
    optimizer=lambda parameters: torch.optim.Adam(parameters, lr=1),
    evaluate=TensorDataset(pixels[count:], labels[count:]),
    name="residual",
)
