"""Files appear whole or not at all, links are followed, and what a killed process left behind is cleared away."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anypag.checkpoint.store import Store
from anypag.files import part_beside, target_of, write_whole

WRITER = """
import os, sys, signal
from pathlib import Path
from anypag.files import part_beside
with part_beside(Path(sys.argv[1])) as part:
    part.write_bytes(b"half")
    print("writing", flush=True)
    sys.stdin.readline()
"""


def writer(path: Path) -> subprocess.Popen[str]:
    """A process in the middle of writing a file."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "writing\n"
    return process


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_part_of_a_killed_process_is_cleared_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    killed = writer(path)
    killed.kill()
    killed.communicate()
    assert len(names(tmp_path)) == 1
    (tmp_path / ".other.json.01234567.part").write_text("of another file")
    write_whole(path, b"whole")
    assert names(tmp_path) == [".other.json.01234567.part", "out.json"]
    assert path.read_bytes() == b"whole"


def test_who_is_killed_while_clearing_leaves_no_journal_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the part tells that its journal belongs to nobody."""
    path, removed = tmp_path / "out.json", list[str]()
    for ending in (".part", ".part-journal"):
        (tmp_path / f".out.json.01234567{ending}").write_text("half")

    def killed_at_the_first(gone: Path, **_: object) -> None:
        removed.append(gone.name)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "unlink", killed_at_the_first)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"whole")
    assert removed == [".out.json.01234567.part-journal"]


def test_a_part_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    living = writer(path)
    write_whole(path, b"whole")
    assert len(names(tmp_path)) == 2
    living.communicate("\n")
    assert names(tmp_path) == ["out.json"]


def test_a_part_is_gone_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="full"), part_beside(path):
        raise OSError("full")
    assert names(tmp_path) == ["out.json"] and path.read_bytes() == b"old"


def test_a_disk_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    write_whole(tmp_path / "out.json", b"whole")
    with Store.create(tmp_path / "run.anypag", {"run": 1}) as store:
        assert store.fact("run") == 1
    assert names(tmp_path) == ["out.json", "run.anypag"]


def test_links_are_followed_and_circles_said(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "folder" / "real.json")
    write_whole(link, b"whole")
    assert link.is_symlink() and (tmp_path / "folder" / "real.json").read_bytes() == b"whole"
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="the links lead in a circle"):
        target_of(tmp_path / "a")
    with pytest.raises(OSError, match="the links lead in a circle"):
        write_whole(tmp_path / "a", b"")
    assert os.path.lexists(tmp_path / "a")
