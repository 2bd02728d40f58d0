# SPDX-License-Identifier: BSD-2-Clause
"""Journals of traces: src/hdf5/journal.hpp says what they are for."""

import io
import os
import sys
from pathlib import Path
from typing import Any

PAGE = 4096  # bytes
HEAD = 16  # bytes: how long the trace was, and is to be
NUMBER = 8  # bytes, before each page


def integer(content: bytes) -> int:
    return int.from_bytes(content, sys.byteorder)


class Committed(io.RawIOBase):
    """A file as its last commit made it, with the pages of its journal in place of its own. Reads
    what it is asked for: traces may be larger than the memory."""

    def __init__(self, path: Path, journal: Path) -> None:
        self._file, self._journal = open(path, "rb", 0), open(journal, "rb", 0)
        self._at = 0
        self._size = os.fstat(self._file.fileno()).st_size
        head = self._journal.read(HEAD)
        self._pages: dict[int, int] = {}  # where each is in the journal
        # The journal of another file, in whose place this one has come, is of no concern.
        if self._size not in (integer(head[:NUMBER]), integer(head[NUMBER:])):
            return
        length = os.fstat(self._journal.fileno()).st_size
        if (length - HEAD) % (NUMBER + PAGE):
            raise OSError(f"{journal} is cut off")
        for at in range(HEAD, length, NUMBER + PAGE):
            number = integer(os.pread(self._journal.fileno(), NUMBER, at))
            self._pages[number] = at + NUMBER
            self._size = max(self._size, PAGE * (number + 1))

    def close(self) -> None:
        self._file.close()
        self._journal.close()
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = begin + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        to = memoryview(buffer).cast("B")[: max(0, self._size - self._at)]
        begin, end, done = self._at, self._at + len(to), 0
        while done < len(to):
            read = os.preadv(self._file.fileno(), [to[done:]], begin + done)
            if read == 0:  # what is behind the end is in the journal, or nowhere
                to[done:] = bytes(len(to) - done)
                break
            done += read
        for number in range(begin // PAGE, -(-end // PAGE)):
            if number not in self._pages:
                continue
            first, last = max(begin, number * PAGE), min(end, (number + 1) * PAGE)
            at = self._pages[number] + first - number * PAGE
            os.preadv(self._journal.fileno(), [to[first - begin : last - begin]], at)
        self._at = end
        return len(to)
