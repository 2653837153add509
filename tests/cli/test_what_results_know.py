"""What a result knows of its data: the test under all wrapping, the rows, the audit that fits the choices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import anypag

import anypag as ap
from anypag.ci.wrappers import Cached, Counted
from anypag.report import report_html

SAMPLE = ap.simulate.random_system(9, seed=2).linear_gaussian(60, seed=2)


@pytest.mark.parametrize("wrap", [lambda t: ap.n_oracle(t, 1), Counted, Cached, lambda t: Counted(ap.n_oracle(t, 2))])
def test_the_test_is_seen_through_what_is_wrapped_around_it(wrap: Any) -> None:
    result = ap.learn(wrap(ap.FisherZ(SAMPLE)), method="icd")
    assert (result.test_name, result.n_rows) == ("FisherZ", 60)
    assert next(iter(result.sepsets.values())).n == 60
    assert result.audit is not None


def few_rows() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {f"v{k}": rng.normal(size=21) for k in range(20)}


def test_the_audit_knows_the_largest_sets(tmp_path: Path) -> None:
    """21 rows are too few for sets of 18, and enough where none of more than one is asked for."""
    audit = ap.learn(few_rows(), method="icd").audit
    assert audit is not None and any("sets may have up to 18" in str(finding) for finding in audit.findings)
    result = ap.learn(few_rows(), max_r=1)
    assert result.audit is not None and not result.audit.findings
    path = tmp_path / "few.csv"
    columns = few_rows()
    rows = zip(*columns.values(), strict=True)
    path.write_text(",".join(columns) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    assert "warning" in anypag("learn", "--method", "icd", path).out
    assert "warning" not in anypag("learn", path, "--max-r", "1").out


def test_singular_columns_can_be_kept_from_learn_and_the_command_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50))
    table = {"a": a, "b": b, "sum": a + b}
    with pytest.raises(ap.AnypagError, match="Exact linear relation"):
        ap.learn(table, method="icd", singular="error")
    assert ap.learn(table, method="icd").pag.names == ("a", "b")
    assert ap.learn(table, method="icd", singular="keep").complete
    path = tmp_path / "sum.csv"
    path.write_text("a,b,sum\n" + "".join(f"{x},{y},{x + y}\n" for x, y in zip(a.tolist(), b.tolist(), strict=True)))
    assert anypag("learn", "--method", "icd", path, "--singular", "error").code == 1
    assert anypag("learn", "--method", "icd", path, "--singular", "keep").code == 0


def test_the_audit_travels_with_the_result(tmp_path: Path) -> None:
    result = ap.learn(few_rows(), method="icd")
    result.save(tmp_path / "pag.json")
    back = ap.read_result(tmp_path / "pag.json")
    assert str(back.audit) == str(result.audit)  # type: ignore[union-attr]
    assert "sets may have up to 18" in report_html(result)
