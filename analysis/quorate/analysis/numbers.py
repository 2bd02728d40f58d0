# SPDX-License-Identifier: BSD-2-Clause
"""Numbers as options have them: 0.05, or a time with a unit, 50ms, as in src/base/text.hpp."""

import math

# Seconds of a unit, or its part of a second: dividing makes 50ms the 0.05 that is meant.
UNITS = {
    "min": (60, 1),
    "ms": (1, 1e3),
    "us": (1, 1e6),
    "µs": (1, 1e6),
    "ns": (1, 1e9),
    "s": (1, 1),
    "h": (3600, 1),
    "d": (86400, 1),
}


def number_of(text: str) -> float:
    """A number, or the seconds of a time. Raises ValueError if the text is neither."""
    for unit, (seconds, parts) in UNITS.items():
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * seconds / parts
    return float(text)


def shown_seconds(seconds: float) -> str:
    """Seconds for people, with four digits: 2.5 s, and 12345 s rather than 1.234e+04 s."""
    whole = math.isfinite(seconds) and 9999.5 <= abs(seconds) < 1e15
    return f"{seconds:.0f} s" if whole else f"{seconds:.4g} s"
