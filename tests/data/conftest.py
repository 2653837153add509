"""What the tests of data share."""

from __future__ import annotations

import sys
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _connections_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 2.0 DuckDB closed a connection that nobody held, though a relation of it was still in use."""
    if "duckdb" not in sys.modules:
        return
    duckdb, held = sys.modules["duckdb"], []
    connect = duckdb.connect

    def connect_and_hold(*arguments: Any) -> Any:
        held.append(connect(*arguments))
        return held[-1]

    monkeypatch.setattr(duckdb, "connect", connect_and_hold)
