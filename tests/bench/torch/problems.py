# SPDX-License-Identifier: BSD-2-Clause
"""What `make bench-torch` trains: modules, samples, losses and optimisers by name."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import Dataset

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))

import characters  # noqa: E402
import cifar10_resnet as images  # noqa: E402
import imagenet  # noqa: E402


@dataclass
class Problem:
    """A module, samples to train and to test with, the mean loss of a batch, an optimiser."""

    module: nn.Module
    train: Dataset
    test: Dataset
    loss: Callable
    optimizer: Callable


def convolutions():
    """Two, of which the first is pooled."""
    layers = [nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return [*layers, nn.Conv2d(32, 64, 3, padding=1), nn.ReLU()]


def cnn():
    """Two convolutions and two dense layers: 0.5 million parameters."""
    layers = [*convolutions(), nn.MaxPool2d(2), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(4096, 128), nn.ReLU(), nn.Linear(128, 10))


def small_cnn():
    """The same convolutions before 650 dense weights: 20,000 parameters."""
    pooled = nn.AdaptiveAvgPool2d(1), nn.Flatten()
    return nn.Sequential(*convolutions(), *pooled, nn.Linear(64, 10))


def wide():
    """25 million parameters, whose products with a few images cost little beside copies of them."""
    return nn.Sequential(nn.Flatten(), nn.Linear(3072, 8192), nn.Linear(8192, 10))


NETWORKS = {
    "cnn": cnn,
    "small-cnn": small_cnn,
    "residual": images.network,
    "resnet18": imagenet.resnet18,
    "wide": wide,
}

TRANSFORMERS = {"transformer": (128, 5), "small-transformer": (32, 2)}  # width, layers


def momentum(parameters):
    return torch.optim.SGD(parameters, 0.02, momentum=0.9)


def problem(name, files, seed=0):
    """files: of images for training and for tests; without them images are made."""
    torch.manual_seed(seed)
    if name in TRANSFORMERS:
        text = characters.made()
        letters = "".join(sorted(set(text)))
        windows = characters.Windows(torch.tensor([letters.index(one) for one in text]))
        module = characters.Transformer(len(letters), *TRANSFORMERS[name])
        return Problem(
            module, windows, windows, characters.loss, lambda p: torch.optim.AdamW(p, 1e-3)
        )
    module = NETWORKS[name]()
    sets = [images.records([file]) for file in files] or [images.made(4000, 1), images.made(500, 2)]
    train, test = (images.Images(*one) for one in sets)
    return Problem(module, train, test, nn.CrossEntropyLoss(), momentum)
