"""ICD over shifts with a perfect test finds what LPCMCI finds with its own oracle, on 20 fixed systems.

`python -m benchmarks.series --golden tests/series/lpcmci_oracle.json` made the file, with tigramite 5.2.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certify.series import System, searched, seen_in, window_of

GOLDEN = json.loads(Path(__file__).with_name("lpcmci_oracle.json").read_text())


@pytest.mark.parametrize("row", GOLDEN, ids=range(len(GOLDEN)))
def test_the_marks_are_those_of_lpcmci(row: dict[str, Any]) -> None:
    window = window_of(row["k"], row["max_lag"])
    system = System(row["k"], row["hidden"], tuple(map(tuple, row["links"])))
    pag = searched(window, seen_in(system, window).mag).pag
    order = [pag.index(name) for name in window.names]
    marks = pag.marks[np.ix_(order, order)]
    found = [[x, y, int(marks[y, x]), int(marks[x, y])] for x, y in zip(*window.latest, strict=True) if marks[x, y]]
    assert sorted(map(tuple, found)) == sorted(map(tuple, row["marks"]))


def test_there_are_twenty() -> None:
    assert len(GOLDEN) == 20 and sum(len(row["marks"]) for row in GOLDEN) > 100
