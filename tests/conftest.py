"""What all tests share."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("few", max_examples=50, deadline=None)  # the first call of a kernel may compile it
settings.register_profile("many", max_examples=100, deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """`make test` tries half as many examples of a property as `make test-all`, where the test sets no number."""
    settings.load_profile("few" if config.option.markexpr == "not slow" else "many")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C is a KeyboardInterrupt, also where the suite was started with SIGINT ignored (nohup, some CI systems)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Clock:
    """`time.monotonic`, which a test can put forward: a deadline passes at a known moment, however slow the machine."""

    def __init__(self) -> None:
        self._monotonic = time.monotonic
        self.ahead = 0.0

    def __call__(self) -> float:
        return self._monotonic() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


@pytest.fixture(autouse=True)
def _connections_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 2.0 DuckDB closed a connection that nobody held, though a relation of it was still in use."""
    if "duckdb" not in sys.modules:
        return
    held: list[Any] = []
    duckdb: Any = sys.modules["duckdb"]
    connect = duckdb.connect

    def connect_and_hold(*arguments: Any) -> Any:
        held.append(connect(*arguments))
        return held[-1]

    monkeypatch.setattr(duckdb, "connect", connect_and_hold)
