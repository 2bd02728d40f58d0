# SPDX-License-Identifier: BSD-2-Clause
"""A residual network of PyTorch as the model `residual`: a plugin of `python3 -m quorate`.

Images of 3 x 32 x 32 are averaged to 3 x 16 x 16 first, which makes a step four times as cheap. Two
blocks, of 8 channels at 8 x 8 and of 16 at 4 x 4: 9,866 parameters, the same at the start for all
seeds.
"""

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
        nn.AvgPool2d(2),
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        Block(8),
        nn.Conv2d(8, 16, 3, stride=2, padding=1),
        Block(16),
        nn.Flatten(),
        nn.Linear(16 * 4 * 4, 10),
    )


def loss(scores, labels):
    return nn.functional.cross_entropy(scores, labels, reduction="sum")


q.torch(network(), loss, image=(3, 32, 32), rows_at_once=256, name="residual")
