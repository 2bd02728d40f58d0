# SPDX-License-Identifier: BSD-2-Clause
"""Files are written whole, and only our own are replaced."""

import os
from collections.abc import Callable
from pathlib import Path

from .traces import BadInput

MARK = "quorate-analysis"  # in every file that is written, but for CSV


def write_whole(path: Path, write: Callable[[Path], object]) -> Path:
    """Writes under a temporary name, so that no half of a file has the final one.

    Raises BadInput if that fails, or if another's file has the name.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        write(part)
        if path.exists() and not is_ours(path, part):
            raise BadInput(
                f"{path} is there, and quorate analysis did not write it: "
                "give another name or folder"
            )
        os.replace(part, path)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
    return path


def is_ours(path: Path, new: Path) -> bool:
    """Whether a file may be replaced: it is empty or bears our mark. CSV bears none: it has the
    same columns, or is the numbers of a figure that does.
    """
    if path.is_dir():
        return False
    if path.suffix != ".csv":
        content = path.read_bytes()
        return not content or MARK.encode() in content
    with open(path, "rb") as old, open(new, "rb") as made:
        first = old.readline()
        if first in (b"", made.readline()):
            return True
    figure = path.with_suffix(".png")
    return figure.is_file() and MARK.encode() in figure.read_bytes()
