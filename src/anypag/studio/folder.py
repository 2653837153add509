"""The folder of an opened table: its settings, its checkpoints, and the copy of a file that was dropped on the page.

Folders are in `.anypag/studio` in the user's home, or in the folder ANYPAG_STUDIO, readable by the user alone. A folder
is locked while a studio has the table open, so that a second studio does not open it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from anypag.data.files.scan import ENDINGS, ending_of
from anypag.errors import AnypagError, DataError, ParameterError
from anypag.files import lock, unlock, write_whole
from anypag.studio.settings import Settings

MOST_RUNS = 20  # the most checkpoints of one table that are kept


class OpenElsewhereError(AnypagError, RuntimeError):
    """Another studio has the table open."""


def home() -> Path:
    """The folder of all tables."""
    return Path(os.environ.get("ANYPAG_STUDIO") or Path.home() / ".anypag" / "studio")


@dataclass
class Opened:
    """A table that is open: its file, its name on the page, and its folder, which is locked."""

    path: Path
    name: str
    typed: str  # the path as the user wrote it, for the program and the command that the page shows
    folder: Path
    lock: IO[bytes]

    def settings(self) -> Settings:
        """The settings that the table had when it was last open; the defaults if these cannot be read."""
        with suppress(OSError, ValueError, TypeError, AnypagError):
            return Settings.of(json.loads((self.folder / "settings.json").read_text(encoding="utf-8")))
        return Settings()

    def keep(self, settings: Settings) -> None:
        write_whole(self.folder / "settings.json", json.dumps(asdict(settings)).encode())

    def checkpoint(self, settings: Settings) -> Path:
        """The checkpoint of the search with these settings. Going back to earlier settings finds the earlier run."""
        text = json.dumps(asdict(settings), sort_keys=True)
        return self.folder / f"run-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}.anypag"

    def clear_old_runs(self) -> None:
        """Remove all checkpoints except the `MOST_RUNS` that were written last."""
        runs = sorted(self.folder.glob("run-*.anypag"), key=lambda path: path.stat().st_mtime)
        for path in runs[:-MOST_RUNS]:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        unlock(self.lock)
        self.lock.close()


def open_file(path: Path, address: str) -> Opened:
    """A file of the user, opened in place. OpenElsewhereError if another studio has it open."""
    if not path.is_file():
        raise DataError(f"{path} is a folder, not a file." if path.is_dir() else f"There is no file {path}.")
    checked_ending(path.name)
    key = hashlib.blake2b(os.fsencode(path.resolve()), digest_size=12).hexdigest()
    return _opened(path, path.name, str(path), key, address)


def open_upload(part: Path, name: str, digest: str, address: str) -> Opened:
    """A file that was dropped on the page: its copy moves into a folder whose name is the hash of its content."""
    folder = made(digest)
    path = folder / f"table{_ending(name)}"
    write_whole(folder / "name.json", json.dumps(name).encode())
    part.replace(path)
    return _opened(path, name, name, digest, address)


def checked_ending(name: str) -> str:
    """The last part of a file name. ParameterError if its ending is not that of a table."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1].strip()[-100:]
    if ending_of(Path(last or "-")) not in ENDINGS:
        raise ParameterError(f"A table is a file that ends in {', '.join(ENDINGS)}; got {last!r}.")
    return last


def earlier() -> list[dict[str, Any]]:
    """The tables that were dropped on the page before, newest first."""
    found = []
    for path in sorted(home().glob("*/name.json"), key=lambda path: -path.stat().st_mtime):
        with suppress(OSError, ValueError):
            found.append({"name": str(json.loads(path.read_text(encoding="utf-8"))), "key": path.parent.name})
    return found


def open_again(key: str, address: str) -> Opened:
    name = _name_of(key)
    return _opened(home() / key / f"table{_ending(name)}", name, name, key, address)


def forget(key: str) -> None:
    """Remove the copy of a dropped table, its settings and its checkpoints; refused if a studio has the table open."""
    name = _name_of(key)
    with (home() / key / "lock").open("a+b") as held:
        if lock(held) is False:
            raise OpenElsewhereError(f"{name} is open in a studio. Open another table there, or end that studio.")
    shutil.rmtree(home() / key)


def _name_of(key: str) -> str:
    """The name of an earlier table; ParameterError for a key that `earlier` does not have."""
    named = {one["key"]: one["name"] for one in earlier()}
    if key not in named:
        raise ParameterError("There is no such earlier table.")
    return str(named[key])


def _ending(name: str) -> str:
    packed = ".gz" if name.lower().endswith(".gz") else ""
    return ending_of(Path(name)) + packed


def made(key: str = "") -> Path:
    """The folder of a table, or of all tables, made if it is not there."""
    for folder in (home(), home() / key):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home() / key


def _opened(path: Path, name: str, typed: str, key: str, address: str) -> Opened:
    folder = made(key)
    held = (folder / "lock").open("a+b")
    if lock(held) is False:
        held.seek(0)
        where = held.read(300).decode(errors="replace")
        held.close()
        raise OpenElsewhereError(f"{name} is open in another studio: {where}. Continue there, or end that studio.")
    held.seek(0)
    held.truncate()
    held.write(address.encode())
    held.flush()
    (folder / "lock").chmod(0o600)
    return Opened(path, name, typed, folder, held)
