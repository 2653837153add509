"""Libraries that only pictures need."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from anypag.errors import MissingExtraError


def plotting(module: str) -> ModuleType:
    """A module of the extra `plot`, refused by a sentence where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise MissingExtraError(
            f"Pictures need {library}: pip install {library}, or install anypag with its extra 'plot'."
        ) from None
