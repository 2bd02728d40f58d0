# SPDX-License-Identifier: BSD-2-Clause
"""A small transformer that learns to write, character by character.

    mpiexec -n 5 python3 characters.py --text book.txt --rounds 2000
    python3 characters.py --simulate 4                # four workers under a virtual clock

AdamW with a warm-up and a cosine. Rank 0 is the coordinator, which holds the optimiser; the others
are workers. Without a text one is made of simple sentences. Writes characters.pt, which torch.load
reads without Quorate, and a line of its own.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset

import quorate as q
import quorate.torch as qt

CONTEXT = 64  # characters that the transformer sees


class Transformer(nn.Module):
    """Decoder blocks of `width` numbers a character, with the norm first."""

    def __init__(self, characters: int, width: int = 128, layers: int = 5) -> None:
        super().__init__()
        self.character = nn.Embedding(characters, width)
        self.place = nn.Embedding(CONTEXT, width)
        block = nn.TransformerEncoderLayer(
            width, 4, 4 * width, dropout=0.1, batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(block, layers)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, characters)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        length = text.shape[1]
        future = torch.full((length, length), -math.inf, device=text.device).triu(1)
        places = self.place(torch.arange(length, device=text.device))
        hidden = self.blocks(self.character(text) + places, mask=future)
        logits: torch.Tensor = self.out(self.norm(hidden))
        return logits


class Windows(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Windows of a text, and each the same one character further."""

    def __init__(self, text: torch.Tensor) -> None:
        self.text = text

    def __len__(self) -> int:
        return (len(self.text) - 1) // CONTEXT

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        window = self.text[index * CONTEXT : (index + 1) * CONTEXT + 1]
        return window[:-1], window[1:]


def made(sentences: int = 4000) -> str:
    """Sentences that a grammar makes."""
    draw = random.Random(1)
    names = "the captain,a sailor,the old cook,two gulls,the lamp,my brother,a small boat".split(
        ","
    )
    verbs = "sees,finds,follows,leaves,paints,remembers".split(",")
    ends = "at night,in the harbour,before the storm,again,without a word".split(",")
    lines = (
        f"{draw.choice(names)} {draw.choice(verbs)} {draw.choice(names)}" for _ in iter(int, 1)
    )
    return "".join(f"{next(lines)} {draw.choice(ends)}.\n" for _ in range(sentences))


def loss(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The mean over all characters; as windows are equally long, also that over windows."""
    return nn.functional.cross_entropy(outputs.flatten(0, 1), targets.flatten())


def warm_up_and_cosine(rounds: int) -> Callable[[Any], Any]:
    """Makes a scheduler: a tenth of the rounds up, then down to a tenth by a cosine."""

    def factor(step: int) -> float:
        warm = max(1, rounds // 10)
        share = (step - warm) / max(1, rounds - warm)
        return (step + 1) / warm if step < warm else 0.55 + 0.45 * math.cos(math.pi * share)

    return lambda optimizer: torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def continued(module: nn.Module, letters: str, begin: str, count: int) -> str:
    """A text as the module goes on with it."""
    module.eval()
    known = torch.tensor([[letters.index(one) for one in begin]])
    torch.manual_seed(0)
    with torch.no_grad():
        for _ in range(count):
            chances = module(known[:, -CONTEXT:])[0, -1].softmax(0)
            known = torch.cat([known, chances.multinomial(1)[None]], dim=1)
    return "".join(letters[one] for one in known[0].tolist())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text", help="a file")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--batch", type=int, default=32, help="windows of a round")
    parser.add_argument("--layers", type=int, default=5)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--scheme", default="ignore")
    parser.add_argument("--stragglers", type=int, default=1)
    parser.add_argument("--simulate", type=int, metavar="WORKERS", help="a virtual clock")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    text = open(given.text, encoding="utf-8").read() if given.text else made()
    letters = "".join(sorted(set(text)))
    coded = torch.tensor([letters.index(one) for one in text])
    cut = len(coded) * 9 // 10
    torch.manual_seed(0)
    module = Transformer(len(letters), given.width, given.layers)
    task = qt.Task(
        module,
        Windows(coded[:cut]),
        loss,
        optimizer=lambda p: torch.optim.AdamW(p, 1e-3),
        scheduler=warm_up_and_cosine(given.rounds),
        evaluate=Windows(coded[cut:]),
    )
    options = dict(scheme=given.scheme, stragglers=given.stragglers, batch=given.batch)
    options |= dict(rounds=given.rounds, evaluate_every=max(1, given.rounds // 5))
    result: q.Result | None
    if given.simulate:
        delay = q.exponential(0.05)
        result = q.simulate(task, workers=given.simulate, row_time=0.01, delay=delay, **options)
    else:
        result = q.run(task, **options)
    if result:  # rank 0
        print(result.evaluations[["round", "time", "train_loss", "test_loss"]].to_string())
        state = qt.state(result)
        torch.save(state, "characters.pt")
        module.load_state_dict(state["module"])
        print(continued(module, letters, text[0], 60))


if __name__ == "__main__":
    main()
