# SPDX-License-Identifier: BSD-2-Clause
"""What a cloud is asked for, and what it says of machines."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

COORDINATOR, WORKER = "coordinator", "worker"  # roles


class BadInput(Exception):
    """What the user can mend."""


class Failed(Exception):
    """What another program did not do."""


@dataclass(frozen=True)
class Wanted:
    """Machines to launch. The first one is the coordinator's, and never a spot machine."""

    group: str  # their name
    machines: int
    type: str
    image: str
    spot: bool
    price: str  # the most that an hour of a spot machine may cost; empty: no limit
    user: str
    public_key: Path
    allowed: str  # addresses that may log in, as CIDR


@dataclass(frozen=True)
class Machine:
    name: str  # by which the cloud knows it
    role: str
    state: str
    inside: str  # address among the machines; empty: none yet
    outside: str
    zone: str
    spot: bool

    @property
    def runs(self) -> bool:
        return self.state in ("running", "RUNNING")


class Cloud(Protocol):
    notice: str  # a shell script for spot machines, which waits for the notice; empty: none needed

    def launch(self, wanted: Wanted) -> None:
        """Starts machines, and returns when they run."""

    def machines(self, group: str) -> list[Machine]:
        """Those of a group that have not ended, the coordinator's first."""

    def down(self, machines: list[Machine], group: str) -> None:
        """Ends machines, and drops what was made for them."""


def call(*words: str, text: str | None = None) -> str:
    """What a program prints. Raises Failed with its last line."""
    if not shutil.which(words[0]):
        raise BadInput(f"{words[0]} is not installed, or not in PATH: install it and log in")
    done = subprocess.run(words, input=text, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["without a word"]
        raise Failed(f"{' '.join(words[:3])} failed: {lines[-1].strip()}")
    return done.stdout


def asked(*words: str) -> Any:
    """What a program prints as JSON."""
    text = call(*words)
    try:
        return json.loads(text) if text.strip() else None
    except ValueError as error:
        raise Failed(f"{' '.join(words[:3])} printed no JSON: {error}") from error


def in_order(machines: list[Machine]) -> list[Machine]:
    return sorted(machines, key=lambda one: (one.role != COORDINATOR, one.name))
