# SPDX-License-Identifier: BSD-2-Clause
"""Modules of PyTorch, trained with schemes that do not wait for stragglers."""
