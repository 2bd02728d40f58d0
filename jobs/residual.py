# SPDX-License-Identifier: BSD-2-Clause
"""A residual network of PyTorch as the model `residual`: a plugin of `python3 -m quorate`.

Images of 3 x 32 x 32 are averaged to 3 x 16 x 16 first, which makes a step four times as cheap. Two
blocks, of 8 channels at 8 x 8 and of 16 at 4 x 4: 9,866 parameters, the same at the start for all
seeds.

The command line gives rows of a data set, so this is a q.Model whose arithmetic is PyTorch's, in
float32. A program that has a Dataset and an optimiser of PyTorch takes quorate.torch.
"""

import threading

import numpy as np
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


class Residual(q.Model):
    """A residual network of PyTorch."""

    def __init__(self):
        self.network = network()
        self.weights = list(self.network.parameters())
        self.turn = threading.Lock()  # the network has one point at a time

    def parameters(self, columns):
        return sum(one.numel() for one in self.weights)

    def initial(self, columns, seed):
        return nn.utils.parameters_to_vector(network().parameters()).detach().double().numpy()

    def loss_and_gradient(self, X, y, w):
        with self.turn:
            labels = torch.from_numpy(y.astype(np.int64))
            loss = nn.functional.cross_entropy(self.outputs(X, w), labels, reduction="sum")
            gradients = torch.autograd.grad(loss, self.weights)
            flat = torch.cat([one.reshape(-1) for one in gradients])
            return loss.item(), flat.double().numpy()

    def scores(self, X, w):
        with self.turn, torch.no_grad():
            return self.outputs(X, w).double().numpy()

    def outputs(self, X, w):
        """With the parameters w."""
        point = torch.from_numpy(w.astype(np.float32))
        nn.utils.vector_to_parameters(point, self.weights)
        return self.network(torch.from_numpy(X.astype(np.float32)).reshape(-1, 3, 32, 32))
