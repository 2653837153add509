"""The SQLite file of a checkpoint: facts and arrays.

Every `write` is atomic, even if the process or the machine dies. Nothing in the file is executed: facts are JSON,
arrays are bytes with their type and shape, each with a checksum. A file with other tables is refused when it is opened.
A file is locked while it is open. Another run that opens it fails at once; on a system without file locks (Windows)
only SQLite locks the file, and the other run fails after a second. `docs/checkpoint.md` describes the file.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from anypag.arrays import AnyArray
from anypag.checkpoint.content import digest_of
from anypag.errors import CheckpointError
from anypag.files import lock, part_beside, target_of, unlock

APPLICATION = 0x616E7970  # "anyp"
FORMAT = 5  # the number of this format; it is raised whenever earlier files cannot be resumed
TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE arrays (name TEXT PRIMARY KEY, dtype TEXT NOT NULL, shape TEXT NOT NULL, content BLOB NOT NULL, "
    "checksum BLOB NOT NULL) WITHOUT ROWID",
)
DTYPES = ("|u1", "|b1", "<i2", "<i4", "<i8", "<u8", "<f4", "<f8")


class Store(AbstractContextManager["Store"]):
    """An open file of facts and arrays; use it in a `with` statement."""

    def __init__(self, path: Path) -> None:
        """Open an existing file. CheckpointError if it is no checkpoint, is damaged, or in use by another process."""
        self.path = path
        with self._explained("read"), ExitStack() as opened:
            self._file = opened.enter_context(_opened(path))
            opened.callback(unlock, self._file)
            uri = f"{target_of(path).as_uri()}?mode=rw"
            self._connection = opened.enter_context(closing(sqlite3.connect(uri, uri=True, timeout=1.0)))
            self._prepare()
            self._close = opened.pop_all().close

    @classmethod
    def create(cls, path: Path, facts: Mapping[str, Any]) -> Self:
        """A new file with some facts; it appears when it is complete, and never replaces another file."""
        try:
            target = target_of(path)
            _require_no_leftovers(target)
            with part_beside(target) as part:
                with closing(sqlite3.connect(part, isolation_level=None)) as connection:
                    connection.execute(f"PRAGMA application_id = {APPLICATION}")
                    connection.execute(f"PRAGMA user_version = {FORMAT}")
                    for table in TABLES:
                        connection.execute(table)
                    connection.executemany("INSERT INTO facts VALUES (?, ?, ?)", map(_fact_row, facts.items()))
                _put_in_place(part, target)
        except FileExistsError:
            raise CheckpointError(
                f"The checkpoint {path} is in use by another run, which has just started. Wait for it, or choose "
                "another file."
            ) from None
        except (sqlite3.Error, OSError) as error:
            raise CheckpointError(f"The checkpoint {path} cannot be written: {error}.") from None
        return cls(path)

    def write(self, facts: Mapping[str, Any], arrays: Mapping[str, AnyArray | None]) -> None:
        """Write all entries or none. Entries of the same name are replaced; an array that is None is removed."""
        kept = [(name, array) for name, array in arrays.items() if array is not None]
        gone = [(name,) for name, array in arrays.items() if array is None]
        with self._explained("written"), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("REPLACE INTO facts VALUES (?, ?, ?)", map(_fact_row, facts.items()))
            self._connection.executemany("DELETE FROM arrays WHERE name = ?", gone)
            self._connection.executemany("REPLACE INTO arrays VALUES (?, ?, ?, ?, ?)", map(_array_row, kept))

    def fact(self, name: str) -> Any:
        with self._explained("read"):
            row = self._connection.execute("SELECT value, checksum FROM facts WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        value, checksum = row
        if not isinstance(value, str) or checksum != digest_of([value.encode()]):
            raise self.damaged(f"the fact {name!r} is not what was written")
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise self.damaged(f"the fact {name!r} is no JSON") from None

    def array(self, name: str) -> AnyArray | None:
        with self._explained("read"):
            query = "SELECT dtype, shape, content, checksum FROM arrays WHERE name = ?"
            row = self._connection.execute(query, (name,)).fetchone()
        if row is None:
            return None
        array = _array_of(*row)
        if array is None:
            raise self.damaged(f"the array {name!r} is not what was written")
        return array

    def names(self, beginning: str) -> tuple[str, ...]:
        """The names of the arrays with this beginning."""
        with self._explained("read"):
            query = "SELECT name FROM arrays WHERE substr(name, 1, ?) = ? ORDER BY name"
            return tuple(name for (name,) in self._connection.execute(query, (len(beginning), beginning)))

    def damaged(self, what: str) -> CheckpointError:
        beside = [str(name) for name in _leftovers(target_of(self.path))]
        files = " and ".join([str(self.path), *beside])
        return CheckpointError(
            f"The checkpoint {self.path} is damaged: {what}. It cannot be resumed from; remove {files} to start again."
        )

    def __exit__(self, *exception: object) -> None:
        self._close()

    def _prepare(self) -> None:
        execute = self._connection.execute
        self._connection.isolation_level = None
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
            execute(f"PRAGMA {pragma}")
        execute("BEGIN EXCLUSIVE")  # takes the lock, and rolls back an unfinished write of a killed process
        if execute("PRAGMA application_id").fetchone() != (APPLICATION,):
            raise CheckpointError(f"The file {self.path} is an SQLite file, but no checkpoint of anypag.")
        with suppress(OSError):
            # If a process was killed after its last write, its empty journal is still there: SQLite does not remove it.
            # A journal with content is already gone, because SQLite has rolled the write back and removed the journal.
            target_of(self.path).with_name(f"{target_of(self.path).name}-journal").unlink()
        execute("PRAGMA locking_mode = EXCLUSIVE")  # from here on the lock is held, and the journal stays open
        execute("COMMIT")
        (version,) = execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            raise CheckpointError(
                f"The checkpoint {self.path} has format {version}{self._writer()}; this version of anypag reads format "
                f"{FORMAT}. Continue it with the version that wrote it, or remove it to start again."
            )
        if sorted(row[0] or "" for row in execute("SELECT sql FROM sqlite_master")) != sorted(TABLES):
            raise self.damaged("its tables are not those of a checkpoint")
        if _is_cut_off(self._file):
            raise self.damaged("it is cut off")
        if execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise self.damaged("SQLite finds it inconsistent")

    def _writer(self) -> str:
        """A clause with the version of anypag that wrote a file of another format; empty if that is not known."""
        try:
            run = self.fact("run")
        except CheckpointError:
            return ""
        version = run.get("anypag") if isinstance(run, dict) else None
        return f", written by anypag {version:.40}" if isinstance(version, str) else ""

    @contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        """Turn the errors of SQLite into CheckpointErrors that say what happened."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise _in_use(self.path) from None
            raise CheckpointError(f"The checkpoint {self.path} cannot be {doing}: {error}.") from None
        except MemoryError:  # no sign that the file is damaged
            raise CheckpointError(f"There is not enough memory for the checkpoint {self.path}.") from None
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            if doing == "read":
                raise self.damaged(str(error)) from None
            raise CheckpointError(f"The checkpoint {self.path} cannot be {doing}: {error}.") from None


def _opened(path: Path) -> IO[bytes]:
    """The open file, if it begins like a checkpoint.

    It stays open as long as SQLite uses it, because closing it would release SQLite's lock (a property of POSIX locks).
    It also gets a lock of its own, which other readers in this process cannot release.
    """
    try:
        file = path.open("rb", buffering=0)  # a buffer would keep the header of a write that SQLite then rolls back
        is_ours, is_checkpoint = lock(file), file.read(16) == b"SQLite format 3\0"
    except OSError as error:
        raise CheckpointError(f"The checkpoint {path} cannot be read: {error.strerror}.") from None
    if is_checkpoint and is_ours is not False:
        return file
    file.close()
    if is_checkpoint:
        raise _in_use(path)
    raise CheckpointError(f"The file {path} is no checkpoint of anypag (it does not begin as one).")


def _in_use(path: Path) -> CheckpointError:
    return CheckpointError(f"The checkpoint {path} is in use by another run. Wait for it, or choose another file.")


def _is_cut_off(file: IO[bytes]) -> bool:
    """Is the file shorter than its header says? SQLite does not notice if only unused pages are missing."""
    file.seek(0)
    header = file.read(32)
    page_size = int.from_bytes(header[16:18], "big")
    n_pages = int.from_bytes(header[28:32], "big")
    return file.seek(0, os.SEEK_END) < n_pages * (65536 if page_size == 1 else page_size)


def _put_in_place(part: Path, target: Path) -> None:
    """Give the complete file its name. FileExistsError if the name is taken by a run that started at the same time."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        target.open("xb").close()
        part.replace(target)


def _leftovers(path: Path) -> list[Path]:
    """Files that SQLite may leave beside a checkpoint when a process is killed."""
    beside = [path.with_name(path.name + ending) for ending in ("-journal", "-wal", "-shm")]
    return [name for name in beside if name.exists()]


def _require_no_leftovers(path: Path) -> None:
    """Raise CheckpointError if leftovers of another checkpoint would corrupt the new one."""
    left = " and ".join(map(str, _leftovers(path)))
    if left:
        raise CheckpointError(
            f"The checkpoint {path} cannot be made: a run that was killed left {left}, and its own checkpoint is gone. "
            f"If you moved that checkpoint, move {left} there too; else remove {left}, or choose another file."
        )


def _fact_row(item: tuple[str, Any]) -> tuple[str, str, bytes]:
    name, value = item
    text = json.dumps(value)
    return name, text, digest_of([text.encode()])


def _array_row(item: tuple[str, AnyArray]) -> tuple[str, str, str, bytes, bytes]:
    name, array = item
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    dtype, shape, content = array.dtype.str, json.dumps(array.shape), array.tobytes()
    return name, dtype, shape, content, digest_of([dtype.encode(), shape.encode(), content])


def _array_of(dtype: object, shape: object, content: object, checksum: object) -> AnyArray | None:
    """The array; None if the checksum does not match, or if the parts do not make an array."""
    if not isinstance(dtype, str) or not isinstance(shape, str) or not isinstance(content, bytes):
        return None
    if dtype not in DTYPES or checksum != digest_of([dtype.encode(), shape.encode(), content]):
        return None
    try:
        sizes = json.loads(shape)
    except (ValueError, RecursionError):
        return None
    is_shape = isinstance(sizes, list) and len(sizes) <= 4 and all(type(size) is int and size >= 0 for size in sizes)
    if not is_shape or math.prod(sizes) * np.dtype(dtype).itemsize != len(content):
        return None
    if dtype == "|b1":
        return np.not_equal(np.frombuffer(content, np.uint8).reshape(sizes), 0)
    return np.frombuffer(content, dtype).reshape(sizes).astype(np.dtype(dtype).newbyteorder("="))
