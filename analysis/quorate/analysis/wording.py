# SPDX-License-Identifier: BSD-2-Clause
"""Delay models in words, for names of rows and panels."""

from collections.abc import Callable, Sequence

from .tables import brief

UNITS = {
    "delay": "s",
    "row-delay": "s",
    "uplink-delay": "s",
    "downlink-delay": "s",
    "slowdown": "x",  # so many times the computation
}
TIE = "\N{NO-BREAK SPACE}"  # between a number and its unit; below it is ~
# Of the parts of a value; {u} is the unit.
WORDS = {
    "constant": "always {0}~{u}",
    "exponential": "exponential, mean {0}~{u}",
    "shifted-exponential": "{0}~{u} + exponential, mean {1}~{u}",
    "pareto": "Pareto from {0}~{u}, shape {1}",
    "lognormal": "lognormal, median {0}~{u}, sigma {1}",
    "gamma": "gamma, mean {0}~{u}, deviation {1}~{u}",
    "gilbert-elliott": "bursts of {2}~{u}, begin {0}, end {1}",
    "half-normal": "half-normal, deviation {0}~{u}",
}


def mixture(parts: Sequence[str], unit: str) -> str:
    found = [part.split("/") for part in parts]
    draws = [f"{mean} ± {sd}~{unit} ({100 * float(share):.3g}~%)" for mean, sd, share in found]
    return "normal " + ", ".join(draws)


def fixed(parts: Sequence[str], unit: str) -> str:
    value, *workers = parts
    return f"worker{'s' * (len(workers) > 1)} {', '.join(workers)}: {value}~{unit}"


def uneven(parts: Sequence[str], unit: str) -> str:
    sd, spread, _, _, burst, _, *named = parts
    words = f"uneven, spread {spread}, deviation {sd}, bursts of {burst}~{unit}"
    return f"{words}; {fixed(named, unit)}" if named else words


PARTS: dict[str, Callable[[Sequence[str], str], str]] = {
    "mixture": mixture,
    "fixed": fixed,
    "uneven": uneven,
}


def in_words(option: str, values: Sequence[str]) -> list[str]:
    """What values of an option say; as they are, of another option or if words do not tell them
    apart."""
    plain = [brief(value) for value in values]
    if option not in UNITS:
        return plain
    found = [told(value, UNITS[option]) for value in values]
    return found if len(set(found)) == len(set(values)) else plain


def told(value: str, unit: str) -> str:
    model, _, rest = value.partition(":")
    parts = rest.split(",")
    try:
        if model == "trace":
            return f"recorded {brief(value).removeprefix('trace:')}"
        if model in PARTS:
            return PARTS[model](parts, unit).replace("~", TIE)
        return WORDS[model].format(*parts, u=unit).replace("~", TIE)
    except (KeyError, IndexError, ValueError):
        return brief(value)
