"""Results with something in them changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from anypag.results.grounds import StoredGrounds
from anypag.results.result import Result


def resting_on(result: Result, **changes: Any) -> Result:
    """A result that was read from a file, resting on something else."""
    assert isinstance(result.grounds, StoredGrounds)
    return replace(result, grounds=replace(result.grounds, **changes))
