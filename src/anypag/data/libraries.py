"""polars and narwhals, imported only when they are first used, because each import takes a tenth of a second."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class _Late:
    """A library that is imported when one of its names is used for the first time."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


if TYPE_CHECKING:
    import narwhals as narwhals
    import polars as polars
else:
    narwhals, polars = _Late("narwhals"), _Late("polars")
