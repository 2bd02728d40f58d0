# SPDX-License-Identifier: BSD-2-Clause
"""The CIFAR-10 network of anytime minibatch's public code as the model and optimiser `amb-network`:
a plugin of `python3 -m quorate`.

Four convolutions of 3 x 3, 3 x 3, 5 x 5 and 5 x 5, each pooled, and dense layers, with a quarter of
their channels: 0.5 million parameters, the same at the start for all seeds. As the network is
smaller, dropout is 0.1 in place of 0.3. Convolutions are normalised by the statistics of batches,
which the public code means to do, but leaves its layers as for tests. Images are shifted and
mirrored, as there are 10,000 of 50,000. The learning rate is 1, so that the step of a run is its
learning rate.
"""

import torch
from torch import nn
from torch.utils.data import TensorDataset

import quorate.torch as qt
from cifar10_images import Varied, samples

WIDTH = 16


def network():
    torch.manual_seed(0)
    layers, before = [], 3
    for after, size in (WIDTH, 3), (2 * WIDTH, 3), (4 * WIDTH, 5), (8 * WIDTH, 5):
        layers += [nn.Conv2d(before, after, size, padding=size // 2), nn.ReLU(), nn.MaxPool2d(2)]
        layers += [nn.BatchNorm2d(after)]
        before = after
    layers += [nn.Flatten()]
    for before, after in (32 * WIDTH, 128), (128, 256), (256, 512):
        layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(0.1)]
    return nn.Sequential(*layers, nn.Linear(512, 10))


task = qt.Task(
    network(),
    Varied(*samples("cifar10_jpeg_train10000.bin.xz")),
    nn.CrossEntropyLoss(),
    optimizer=lambda parameters: torch.optim.Adam(parameters, lr=1),
    evaluate=TensorDataset(*samples("cifar10_jpeg_test2000.bin.xz")),
    name="amb-network",
)
