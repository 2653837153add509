"""One list of checks for every source: where rows live changes what can be checked, never what is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anypag as ap
from anypag.choices import Choices
from anypag.ci.resolve import resolve_test
from anypag.data.findings import Audit
from anypag.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")


def audit_of(data: Any, **options: Any) -> Audit:
    test: Any = resolve_test(data, Choices(**options))
    found: Audit = test.audit
    return found


def series(n: int = 300) -> dict[str, Any]:
    """Columns in time order, one of which has the code -999 for a missing value."""
    random = np.random.default_rng(0)
    walk = np.cumsum(random.normal(size=(2, n)), axis=1)
    age = random.uniform(20, 80, n)
    age[::50] = -999
    return {"walk": walk[0], "other": walk[1] + random.normal(size=n), "age": age}


def problems(audit: Audit) -> set[str]:
    return {finding.problem for finding in audit.findings}


@pytest.mark.parametrize("test", ["auto", "fisherz"])
def test_a_file_is_audited_by_the_same_checks_whatever_the_test(test: str, tmp_path: Path) -> None:
    pd.DataFrame(series()).to_csv(tmp_path / "series.csv", index=False)
    from_file, in_memory = audit_of(tmp_path / "series.csv", test=test), audit_of(series(), test=test)
    assert {"code", "order"} <= problems(from_file)
    assert from_file.checked == in_memory.checked and from_file.unchecked == ()


def test_normal_scores_are_audited_as_the_values_they_were() -> None:
    table = series()
    assert "code" in problems(audit_of(table, transform="normal-scores"))
    table["age"][3] = np.inf
    with pytest.raises(DataError, match="'age' has 1 infinite value"):
        audit_of(table, transform="normal-scores")


def test_codes_are_looked_for_in_rows_that_will_be_dropped_too() -> None:
    table = series()
    table["walk"][table["age"] == -999] = np.nan
    assert "code" in problems(audit_of(table, missing="drop"))


def test_a_table_of_counts_says_what_it_cannot_check() -> None:
    rows = np.random.default_rng(0).integers(0, 2, size=(200, 3))
    counts = pd.DataFrame(rows, columns=list("abc")).value_counts().reset_index(name="n")
    audit = audit_of(ap.counted(counts, "n"))
    assert [item.about for item in audit.unchecked] == ["repeated rows", "rows in time order"]
    assert "Not checked: repeated rows, rows in time order (a table of counts has no order of rows)." in str(audit)
    assert "identifiers" in audit.checked
