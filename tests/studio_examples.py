"""A studio for tests: its server, and how tests talk to it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import anypag as ap
from anypag.studio.folder import open_file
from anypag.studio.server import LARGEST_UPLOAD, StudioServer
from anypag.studio.session import Session

SECONDS = 100.0
"""The longest a test waits: the first search of its kind compiles."""


def until(holds: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """The first value that counts as true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


@contextmanager
def served(largest: int = LARGEST_UPLOAD) -> Iterator[StudioServer]:
    """A running studio."""
    session = Session()
    with StudioServer(session, largest=largest) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            session.close()


@contextmanager
def session_on(path: Path, kind: type[Session] = Session) -> Iterator[Session]:
    """A session without a server, with a table open and ready."""
    session = kind()
    try:
        session.open(open_file(path, "http://there/"))
        status_of(session, "ready", "unready", "done", "stopped")
        yield session
    finally:
        session.close()


def status_of(session: Session, *wanted: str) -> Any:
    """The part "run", once its status is one of these."""

    def holds() -> Any:
        part = session.board.part("run")
        return part if part and part["status"] in wanted else None

    return until(holds)


def told(session: Session, what: str, *values: Any) -> Any:
    """Change the settings, and wait until the search is ready again, or cannot be."""
    before = session.board.run
    session.change(what, *values)
    until(lambda: session.board.run > before)
    return status_of(session, "ready", "unready", "done", "stopped", "failed")


def asked(
    server: StudioServer, where: str, body: Any = None, headers: dict[str, str] | None = None, token: str | None = None
) -> tuple[int, Any]:
    """The status and the content of an answer; a body makes it a POST of JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=SECONDS)
    given = {"Content-Type": "application/json"} if body is not None else {}
    content = None if body is None else json.dumps(body)
    path = f"/{server.token if token is None else token}/{where}"
    connection.request("GET" if body is None else "POST", path, content, {**given, **(headers or {})})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    is_json = answer.headers.get_content_type() == "application/json"
    return answer.status, json.loads(text) if is_json else text


def small_table(path: Path, rows: int = 300) -> Path:
    """Five columns, two of which share a hidden cause."""
    random = np.random.default_rng(0)
    a, b, hidden = random.normal(size=(3, rows))
    c = a + b + hidden + random.normal(size=rows)
    d = hidden + 0.5 * random.normal(size=rows)
    e = c + random.normal(size=rows)
    write(path, {"a": a, "b": b, "c": c, "d": d, "e": e})
    return path


def write(path: Path, columns: dict[str, Any]) -> None:
    import polars

    polars.DataFrame({name: list(values) for name, values in columns.items()}).write_csv(path)


def graph_of(session: Session) -> str:
    """The latest graph."""
    result = session._result
    assert result is not None
    return str(result.pag)


def learned_by_itself(path: Path, **choices: Any) -> str:
    return str(ap.learn(path, **choices).pag)
