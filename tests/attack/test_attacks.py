"""A few rounds of every attack, with a fixed seed; `python -m attack` has them all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attack.catalogue import ATTACKS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the attacks fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")  # Python and polars warn of forks
@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_gives_way(name: str, tmp_path: Path) -> None:
    counts = ATTACKS[name].run(1, ATTACKS[name].few, tmp_path)
    assert counts.total() >= ATTACKS[name].few
