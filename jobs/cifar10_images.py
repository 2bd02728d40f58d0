# SPDX-License-Identifier: BSD-2-Clause
"""CIFAR-10 for the networks of PyTorch in this folder."""

import os
import sys
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import Dataset

import quorate as q

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "examples"))

from cifar10_resnet import records  # noqa: E402


def samples(name):
    """Of a file of raw data, where docs/data.md says: images, n x 3 x 32 x 32 between 0 and 1, and
    labels."""
    for one in os.environ.get("QUORATE_DATA", ""), ROOT.parent / "shared" / "data", ROOT / "data":
        path = Path(one, "cifar10", name)
        if one and path.is_file():
            pixels, labels = records([str(path)])
            return (pixels / 255.0).float(), labels
    raise q.BadInput(f"there is no cifar10/{name}: set QUORATE_DATA to the folder of raw data")


class Varied(Dataset):
    """Images to train with: a batch is shifted by up to four pixels, and half of it mirrored."""

    def __init__(self, pixels, labels):
        self.pixels, self.labels = nn.functional.pad(pixels, (4, 4, 4, 4)), labels

    def __len__(self):
        return len(self.labels)

    def __getitems__(self, samples):
        down, right = torch.randint(0, 9, (2, len(samples))).tolist()
        mirrored = torch.randint(0, 2, (len(samples),)).tolist()
        batch = []
        for sample, y, x, mirror in zip(samples, down, right, mirrored):
            image = self.pixels[sample, :, y : y + 32, x : x + 32]
            batch.append((image.flip(2) if mirror else image, self.labels[sample]))
        return batch
