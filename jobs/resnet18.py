# SPDX-License-Identifier: BSD-2-Clause
"""ResNet-18 of PyTorch on CIFAR-10 as the models and optimisers `resnet18`, with the layers and the
11.2 million parameters of torchvision's, and `resnet18-narrow`, with a quarter of their channels
(0.7 million): a plugin of `python3 -m quorate`.

The same at the start for all seeds, not trained. Images are shifted and mirrored. The learning rate
is 1, so that the step of a run is its learning rate.
"""

import torch
from torch import nn
from torch.utils.data import TensorDataset

import quorate.torch as qt
from cifar10_images import Varied, samples
from imagenet import resnet18

train = Varied(*samples("cifar10_jpeg_train10000.bin.xz"))
test = TensorDataset(*samples("cifar10_jpeg_test2000.bin.xz"))


def task(name, width):
    torch.manual_seed(0)
    return qt.Task(
        *(resnet18(10, width), train, nn.CrossEntropyLoss()),
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=1),
        evaluate=test,
        name=name,
    )


whole, narrow = task("resnet18", 64), task("resnet18-narrow", 16)
