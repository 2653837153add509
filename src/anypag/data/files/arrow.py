"""Checks the lengths that a compressed Arrow IPC file claims, before polars uses them.

A compressed buffer begins with its length once unpacked. polars allocates that much memory, so a damaged file with a
huge length would crash the process. So these lengths are checked first. Anything that cannot be parsed here is ignored:
polars raises its own error.

The file ends with a footer that lists its record batches; both are flatbuffers: a table begins with the distance back
to a list of where its fields are (https://arrow.apache.org/docs/format/Columnar.html).
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MAGIC = b"ARROW1"
_DICTIONARIES, _BATCHES = 2, 3
_HEADER = 2
_BUFFERS, _COMPRESSION = 2, 3
_DATA_OF_DICTIONARY = 1
_IS_DICTIONARY = 2


class _Table(NamedTuple):
    """A flatbuffer table at a position of the file."""

    content: mmap.mmap
    at: int

    def field(self, number: int) -> int | None:
        """The position of a field; None if the table does not have it."""
        fields = self.at - self.number("<i", self.at)
        size = self.number("<H", fields)
        place = self.number("<H", fields + 4 + 2 * number) if 4 + 2 * number < size else 0
        return self.at + place if place else None

    def table(self, number: int) -> _Table | None:
        at = self.field(number)
        return None if at is None else _Table(self.content, at + self.number("<I", at))

    def rows(self, number: int, size: int) -> Iterator[int]:
        """The positions of the entries of a list of structures of this size."""
        at = self.field(number)
        if at is not None:
            start = at + self.number("<I", at)
            first, count = start + 4, self.number("<I", start)
            yield from range(first, min(first + count * size, len(self.content)), size)

    def number(self, kind: str, at: int) -> int:
        if at < 0:
            raise ValueError
        return int(struct.unpack_from(kind, self.content, at)[0])


def impossible_length(path: Path) -> int | None:
    """A length in the file that exceeds the memory of this machine; None if all are possible."""
    most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 2**40
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return next((length for length in _lengths(content) if length > most or length < -1), None)
    except (ValueError, struct.error, IndexError, OSError):  # no such file inside
        return None


def _lengths(content: mmap.mmap) -> Iterator[int]:
    """The lengths at the beginnings of all compressed buffers."""
    if content[-6:] != _MAGIC:
        return
    (size,) = struct.unpack("<i", content[-10:-6])
    start = len(content) - 10 - size
    footer = _Table(content, start + struct.unpack_from("<I", content, start)[0])
    for number in (_DICTIONARIES, _BATCHES):
        for block in footer.rows(number, 24):
            offset, metadata = struct.unpack_from("<qi", content, block)
            yield from _lengths_of_batch(content, offset, offset + metadata)


def _lengths_of_batch(content: mmap.mmap, offset: int, body: int) -> Iterator[int]:
    start = offset + (8 if content[offset : offset + 4] == b"\xff\xff\xff\xff" else 4)
    message = _Table(content, start + struct.unpack_from("<I", content, start)[0])
    batch, kind = message.table(_HEADER), message.field(1)
    if batch is not None and kind is not None and content[kind] == _IS_DICTIONARY:
        batch = batch.table(_DATA_OF_DICTIONARY)
    if batch is None or batch.field(_COMPRESSION) is None:
        return
    for buffer in batch.rows(_BUFFERS, 16):
        at, size = struct.unpack_from("<qq", content, buffer)
        if size >= 8 and 0 <= body + at <= len(content) - 8:
            yield struct.unpack_from("<q", content, body + at)[0]
