# SPDX-License-Identifier: BSD-2-Clause
"""python3 -m quorate.analysis: the same as `quorate analysis`."""

import sys

from .cli import main
from .streams import program

sys.exit(program(main))
