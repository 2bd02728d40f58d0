# SPDX-License-Identifier: BSD-2-Clause
"""Files that live as long as the objects that have them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:  # and not a fork of it
        shutil.rmtree(path, ignore_errors=True)


class Folder:
    """A temporary folder, which is removed with the last object that has it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="quorate-"))
        weakref.finalize(self, _remove, os.fspath(self.path), os.getpid())

    def file(self, name: str, content: bytes) -> Path:
        """Writes a file into it."""
        path = self.path / name
        path.write_bytes(content)
        return path
