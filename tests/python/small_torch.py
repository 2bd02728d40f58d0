# SPDX-License-Identifier: BSD-2-Clause
"""A small problem of PyTorch: 48 images of 4 x 4, three classes."""

import torch
from torch import nn
from torch.utils.data import TensorDataset

SAMPLES = 48


def images():
    draw = torch.Generator().manual_seed(1)
    targets = torch.arange(SAMPLES) % 3
    noise = torch.randn(SAMPLES, 1, 4, 4, generator=draw)
    return TensorDataset(noise + targets[:, None, None, None], targets)


def network(*middle):
    """A convolution, these layers, and a linear layer."""
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), *middle, nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)
    )


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1)


def adamw(parameters):
    """Two groups, of which one has no decay."""
    return torch.optim.AdamW(
        [
            {"params": [p for p in parameters if p.ndim > 1], "weight_decay": 0.1},
            {"params": [p for p in parameters if p.ndim == 1], "weight_decay": 0, "lr": 0.03},
        ],
        lr=0.01,
    )


def momentum(parameters):
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9, nesterov=True)


def halved(optimizer):
    return torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
