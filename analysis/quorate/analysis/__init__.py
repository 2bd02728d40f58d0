# SPDX-License-Identifier: BSD-2-Clause
"""Traces of Quorate to figures, tables and reports; docs/analysis.md has the commands."""

from .traces import BadInput, Trace, read_trace

__all__ = ["BadInput", "Trace", "read_trace"]
