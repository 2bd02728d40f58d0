# SPDX-License-Identifier: BSD-2-Clause
"""Machines in a cloud: `quorate hosts` launches, lists and ends them by the clouds' own tools."""
