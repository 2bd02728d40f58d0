# SPDX-License-Identifier: BSD-2-Clause
"""ResNet-18 on a folder of images for each class, as ImageNet comes.

    mpiexec -n 17 python3 imagenet.py imagenet/train --test imagenet/val --rounds 100000
    python3 imagenet.py photographs --simulate 4 --size 64 --width 16

The folders are train/CLASS/*.JPEG and val/CLASS/*.JPEG. Over MPI rank 0 is the coordinator and the
other ranks are workers, each of which reads only the images that it computes with. Needs Pillow.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import Dataset

import quorate as q
import quorate.torch as qt
from cifar10_resnet import Block

# Of ImageNet's colours.
MEAN = torch.tensor((0.485, 0.456, 0.406))[:, None, None]
DEVIATION = torch.tensor((0.229, 0.224, 0.225))[:, None, None]
ENDINGS = {".jpeg", ".jpg", ".png"}


def resnet18(classes: int = 1000, width: int = 64) -> nn.Module:
    """With the layers of torchvision's: 11.7 million parameters."""
    layers = [nn.Conv2d(3, width, 7, 2, padding=3, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    layers += [nn.MaxPool2d(3, 2, padding=1)]
    for before, after, stride in (1, 1, 1), (1, 2, 2), (2, 4, 2), (4, 8, 2):
        before, after = before * width, after * width
        layers += [Block(before, after, stride), Block(after, after, 1)]
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, classes)
    )


class Folders(Dataset[tuple[torch.Tensor, int]]):
    """Images of a folder for each class, 3 x size x size, and the class by its place in `names`.

    Those for training are a part of the image, between a twelfth and the whole of it, and mirrored
    at random; others are the middle.
    """

    def __init__(
        self, root: str, size: int, names: list[str] | None = None, vary: bool = False
    ) -> None:
        found = sorted(one.name for one in Path(root).iterdir() if one.is_dir())
        self.names, self.size, self.vary = names or found, size, vary
        if not found or set(found) - set(self.names):
            raise SystemExit(f"{root} holds the classes {found}, not some of {self.names}")
        self.files = [
            (path, self.names.index(name))
            for name in found
            for path in sorted((Path(root) / name).iterdir())
            if path.suffix.lower() in ENDINGS
        ]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        path, label = self.files[index]
        with Image.open(path) as file:
            box = self.part(*file.size)
            image = file.convert("RGB").resize((self.size, self.size), Image.BILINEAR, box)
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255
        pixels = (pixels - MEAN) / DEVIATION
        if self.vary and torch.rand(()) < 0.5:
            pixels = pixels.flip(2)
        return pixels, label

    def part(self, width: int, height: int) -> tuple[float, float, float, float]:
        """A square of an image: left, upper, right, lower."""
        side, at = 0.875 * min(width, height), torch.tensor((0.5, 0.5))
        if self.vary:  # Quorate seeds this by sample and update, so that replicas agree
            side = min(width, height) * float(torch.empty(()).uniform_(1 / 12, 1).sqrt())
            at = torch.rand(2)
        left, upper = float(at[0]) * (width - side), float(at[1]) * (height - side)
        return left, upper, left + side, upper + side


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("train", help="a folder that has a folder for each class")
    parser.add_argument("--test", help="another, with the same classes")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--width", type=int, default=64, help="of the first layers")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--scheme", default="ignore")
    parser.add_argument("--stragglers", type=int, default=1)
    parser.add_argument("--simulate", type=int, metavar="WORKERS", help="without MPI")
    given = parser.parse_args()

    train = Folders(given.train, given.size, vary=True)
    torch.manual_seed(0)
    task = qt.Task(
        *(resnet18(len(train.names), given.width), train, nn.CrossEntropyLoss()),
        optimizer=lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=1e-4),
        scheduler=lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, given.rounds),
        evaluate=given.test and Folders(given.test, given.size, train.names),
        device="auto",
    )
    options: dict[str, Any] = {
        **{"scheme": given.scheme, "stragglers": given.stragglers, "rounds": given.rounds},
        **{"batch": given.batch, "evaluate_every": max(1, given.rounds // 10)},
        "evaluate_rows": "train=1000",
    }
    result: q.Result | None
    if given.simulate:
        result = q.simulate(task, workers=given.simulate, delay=q.exponential(0.1), **options)
    else:
        result = q.run(task, **options)
    if result:  # rank 0
        print(result.evaluations.to_string(index=False))
        torch.save(qt.state(result), "imagenet.pt")


if __name__ == "__main__":
    main()
