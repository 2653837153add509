"""One run at a time on a checkpoint, from its first moment on; nothing of one file ever gets into another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anypag.checkpoint.store import Store
from anypag.errors import CheckpointError

OPEN = """
import sys
from pathlib import Path
from anypag.checkpoint.store import Store
from anypag.errors import CheckpointError
print("ready", flush=True)
sys.stdin.readline()
try:
    path = Path(sys.argv[2])
    store = Store(path) if sys.argv[1] == "open" else Store.create(path, {"run": sys.argv[1]})
    print("opened", flush=True)
    sys.stdin.readline()
except CheckpointError as error:
    print(error, flush=True)
"""

HOT = """
import os, sys
from pathlib import Path
import numpy as np
from anypag.checkpoint.store import Store
store = Store(Path(sys.argv[1]))
store._connection.execute("PRAGMA cache_size = 5")
store._connection.execute("BEGIN IMMEDIATE")
store._connection.execute("UPDATE arrays SET content = randomblob(length(content))")
os.kill(os.getpid(), 9)
"""

WRITTEN = """
import os, sys
from pathlib import Path
from anypag.checkpoint.store import Store

with Store(Path(sys.argv[1])) as store:
    store.write({"run": "written"}, {})
    os.kill(os.getpid(), 9)
"""

GROWING = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from anypag.checkpoint.store import Store
path = Path(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # the process dies where it writes the first page behind the old end
with Store(path) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, resource.RLIM_INFINITY))
    store.write({}, {"more": np.zeros(20_000)})
"""


def process(what: str, path: Path) -> subprocess.Popen[str]:
    started = subprocess.Popen(
        [sys.executable, "-c", OPEN, what, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None and started.stdout.readline() == "ready\n"
    return started


def go(started: subprocess.Popen[str]) -> None:
    assert started.stdin is not None
    started.stdin.write("\n")
    started.stdin.flush()


def said(started: subprocess.Popen[str]) -> str:
    assert started.stdout is not None
    return started.stdout.readline().strip()


def with_arrays(path: Path, value: float = 1.0) -> Path:
    with Store.create(path, {"run": value}) as store:
        store.write({}, {f"array/{k}": np.full(20_000, value) for k in range(20)})
    return path


def with_hot_journal(path: Path) -> Path:
    """A checkpoint whose process was killed in the middle of a write; the journal that would undo it."""
    with_arrays(path)
    killed = subprocess.run([sys.executable, "-c", HOT, str(path)], check=False)
    assert killed.returncode == -9
    journal = path.with_name(f"{path.name}-journal")
    assert journal.stat().st_size > 0
    return journal


def test_while_one_process_has_it_no_other_opens_it(tmp_path: Path) -> None:
    path = tmp_path / "run.anypag"
    with Store.create(path, {"run": 1}) as store:
        store.write({"a": 1}, {"x": np.zeros(5)})
        second = process("open", path)
        go(second)
        assert "is in use by another run" in said(second)
        second.communicate()
    again = process("open", path)
    go(again)
    assert said(again) == "opened"
    again.communicate("\n")


@pytest.mark.skipif(sys.platform == "win32", reason="there the file cannot be opened twice")
def test_who_is_refused_takes_no_lock_away(tmp_path: Path) -> None:
    """Closing a file gives up SQLite's lock on it, whoever of the process opened it: a run that thought it had the file
    for itself would share it with the next one."""
    path = tmp_path / "run.anypag"
    with Store.create(path, {"run": 1}) as store:
        store.write({"a": 1}, {"x": np.zeros(5)})
        with pytest.raises(CheckpointError, match="is in use by another run"):
            Store(path)
        path.read_bytes()  # as somebody does who copies it
        other = process("open", path)
        go(other)
        assert "is in use by another run" in said(other)
        other.communicate()
        assert path.with_name("run.anypag-journal").exists()
        store.write({"a": 2}, {})
    with Store(path) as store:
        assert store.fact("a") == 2


def test_of_runs_that_begin_at_once_one_gets_the_file(tmp_path: Path) -> None:
    others = ["first", "second", "third"]
    for k in range(2):
        path = tmp_path / f"run{k}.anypag"
        started = [process(name, path) for name in others]
        for one in started:
            go(one)
        answers = [said(one) for one in started]
        assert sorted(answer == "opened" for answer in answers) == [False] * (len(others) - 1) + [True]
        assert all("in use by another run" in answer for answer in answers if answer != "opened")
        for one in started:
            one.communicate("\n")
        with Store(path) as store:
            assert store.fact("run") == others[answers.index("opened")]
    assert sorted(name.name for name in tmp_path.iterdir()) == [f"run{k}.anypag" for k in range(2)]


def test_the_same_on_a_disk_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "run.anypag"
    with Store.create(path, {"run": 1}) as store:
        assert store.fact("run") == 1
    with pytest.raises(CheckpointError, match="in use by another run"):
        Store.create(path, {"run": 2})
    assert [name.name for name in tmp_path.iterdir()] == ["run.anypag"]


def test_a_hot_journal_undoes_what_was_half_written(tmp_path: Path) -> None:
    path = tmp_path / "run.anypag"
    with_hot_journal(path)
    with Store(path) as store:
        assert all(np.array_equal(store.array(name), np.ones(20_000)) for name in store.names("array/"))  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform == "win32", reason="there the size of a file has no limit")
def test_a_write_that_was_killed_while_the_file_grew_is_undone(tmp_path: Path) -> None:
    """The first page, already written, tells of pages that are not there; they are gone again with the journal."""
    path = with_arrays(tmp_path / "run.anypag")
    killed = subprocess.run([sys.executable, "-c", GROWING, str(path)], check=False)
    assert killed.returncode == -signal.SIGXFSZ
    header = path.read_bytes()[:32]
    assert int.from_bytes(header[28:32], "big") * int.from_bytes(header[16:18], "big") > path.stat().st_size
    with Store(path) as store:
        assert store.array("more") is None and len(store.names("array/")) == 20


def test_a_journal_that_undoes_nothing_goes_with_the_next_opening(tmp_path: Path) -> None:
    """A process killed after its last write leaves one; nobody who only reads would ever take it away."""
    path = with_arrays(tmp_path / "run.anypag")
    killed = subprocess.run([sys.executable, "-c", WRITTEN, str(path)], check=False)
    journal = path.with_name(f"{path.name}-journal")
    assert killed.returncode == -9 and journal.read_bytes()[:8] == bytes(8)
    with Store(path) as store:
        assert store.fact("run") == "written"
        assert not journal.exists()
    assert [name.name for name in tmp_path.iterdir()] == ["run.anypag"]


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_no_checkpoint_begins_beside_what_another_left(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "run.anypag"
    journal = with_hot_journal(path)
    left = journal.rename(path.with_name(path.name + ending))
    path.unlink()
    with pytest.raises(CheckpointError) as caught:
        Store.create(path, {"run": 2})
    assert f"remove {left}, or choose another file" in str(caught.value)
    assert left.exists() and not path.exists()
    left.unlink()
    with Store.create(path, {"run": 2}) as store:
        assert store.fact("run") == 2


def test_what_to_remove_is_named_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.anypag"
    journal = with_hot_journal(path)
    with path.open("r+b") as file:
        file.seek(0)
        content = bytearray(file.read())
        content[100:400] = bytes(300)
        file.seek(0)
        file.write(content)
    journal.write_bytes(journal.read_bytes()[:100])
    with pytest.raises(CheckpointError) as caught:
        Store(path)
    assert str(path) in str(caught.value)
    if journal.exists():
        assert str(journal) in str(caught.value)


def test_links_are_followed_as_for_other_outputs(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link = tmp_path / "run.anypag"
    link.symlink_to(tmp_path / "disk" / "real.anypag")
    with Store.create(link, {"run": 1}):
        assert link.is_symlink() and (tmp_path / "disk" / "real.anypag").is_file()
    with Store(link) as store:
        assert store.fact("run") == 1
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(CheckpointError, match="the links lead in a circle"):
        Store.create(tmp_path / "a", {})


def test_too_little_memory_is_no_damage(tmp_path: Path) -> None:
    """Who is told that a good file is damaged removes it."""
    with (
        Store.create(tmp_path / "store", {}) as store,
        pytest.raises(CheckpointError, match="not enough memory"),
        store._explained("read"),
    ):
        raise MemoryError
