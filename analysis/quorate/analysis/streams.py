# SPDX-License-Identifier: BSD-2-Clause
"""The standard streams, any of which may be closed or full (src/base/streams.hpp).

What commands print on stdout is their result: that it cannot be written is a failure. Messages on
stderr are written if they can be.
"""

import io
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO


class Unwritten(Exception):
    """A result cannot be written on stdout."""


class _Results(io.FileIO):
    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Unwritten(error.strerror) from error


class _Messages(io.FileIO):
    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _text(raw: io.FileIO, like: TextIO | None, lines: bool) -> io.TextIOWrapper:
    encoding = (like and like.encoding) or "utf-8"
    errors = (like and like.errors) or "backslashreplace"
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=lines)


def _prepare() -> None:
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # gets this number, the lowest that is free
    stdout = _Results(1, "w", closefd=False)
    sys.stdout = _text(stdout, sys.stdout, stdout.isatty())
    sys.stderr = _text(_Messages(2, "w", closefd=False), sys.stderr, True)


def program(main: Callable[[], int]) -> int:
    """Runs what is a program by itself, with its standard streams. Returns its exit status."""
    _prepare()
    try:
        try:
            return main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # as `| head` leaves it
        status = 0
    except Unwritten as error:
        print(
            f"quorate analysis: cannot write to standard output: {error}: make room, or send it"
            " elsewhere",
            file=sys.stderr,
        )
        status = 1
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is not written yet
    return status
