# SPDX-License-Identifier: BSD-2-Clause
"""What runs cost in money, at prices of cores or machines."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .cost import Cost
from .curves import reached
from .groups import Group
from .tables import mean, short
from .traces import BadInput, Trace

UNITS = ("core-hour", "machine-hour")
Target = tuple[str, float]


@dataclass
class Price:
    """So much money for an hour of a core, or of a machine."""

    name: str  # as on-demand or spot; empty if it has none
    amount: float
    unit: str

    def of(self, trace: Trace, seconds: float, per_node: int) -> float:
        """For so many seconds of a run. Raises BadInput if its machines are not known."""
        if self.unit == "core-hour":
            return self.amount * Cost.cores_of(trace) * seconds / 3600
        return self.amount * machines(trace, per_node) * seconds / 3600


def price_of(word: str) -> Price:
    """spot=0.015/core-hour, or without a name. Raises BadInput."""
    name, named, rest = word.rpartition("=")
    amount, _, unit = rest.partition("/")
    try:
        value = float(amount)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf or unit not in UNITS or bool(named) != bool(name):
        raise BadInput(
            f"--price: '{word}' is no price: write 0.05/core-hour, 0.8/machine-hour,"
            " or with a name spot=0.015/core-hour"
        )
    return Price(name, value, unit)


def prices_of(words: Sequence[str]) -> list[Price]:
    """Raises BadInput, also if two have one name."""
    prices = [price_of(word) for word in words]
    names = [price.name for price in prices]
    if len(set(names)) < len(names):
        raise BadInput("--price: two prices have one name: write spot=... and on-demand=...")
    return prices


def machines(trace: Trace, per_node: int) -> int:
    """How many hosts its ranks were on, the coordinator's with them. Raises BadInput."""
    if per_node:
        return len({0, *(trace.worker["rank"] // per_node)})
    if trace.clock == "virtual":
        raise BadInput(
            f"{trace.name} was simulated, on no machines: give --per-node N, or a price by"
            " core-hour"
        )
    attributes = trace.attributes
    return len({str(attributes["host"]), *str(attributes.get("nodes", "")).split()})


def columns(
    group: Group, prices: Sequence[Price], per_node: int, target: Target | None
) -> dict[str, str]:
    """Of a row of the table: the cost of the rounds and, of runs to a target, until it was reached.

    Means over seeds; if one did not reach the target, its cost is not known.
    """
    found = {}
    for price in prices:
        of = f" ({price.name})" if price.name else ""
        spent = [price.of(trace, trace.time, per_node) for trace in group.traces]
        found["cost" + of] = short(mean(spent), 4)
        if target:
            until = [price.of(t, reached(t, *target)[0], per_node) for t in group.traces]
            found[f"to {target[0].replace('_', ' ')} {target[1]:g}" + of] = short(mean(until), 4)
    return found
