"""The one table of tests: names, kinds, functions and objects."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import anypag
from anypag.choices import Choices
from anypag.ci.base import CITest, Queries
from anypag.ci.discrete import ChiSquared, GSquared, PermutationChiSquared
from anypag.ci.gaussian import FisherZ
from anypag.ci.mixed import DegenerateGaussian
from anypag.ci.resolve import resolve_test
from anypag.data import as_table
from anypag.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
CONTINUOUS = {"a": RNG.normal(size=60), "b": RNG.normal(size=60)}
DISCRETE = {"c": RNG.integers(0, 3, size=60), "d": RNG.random(60) < 0.5}


@pytest.mark.parametrize(
    ("data", "test", "wanted"),
    [
        (CONTINUOUS, "auto", FisherZ),
        (DISCRETE, "auto", PermutationChiSquared),
        (CONTINUOUS | DISCRETE, "auto", DegenerateGaussian),
        (CONTINUOUS, "fisherz", FisherZ),
        (DISCRETE, "gsq", GSquared),
        (DISCRETE, "chisq", ChiSquared),
        (CONTINUOUS, "mixed", DegenerateGaussian),
        (CONTINUOUS, FisherZ, FisherZ),
        (DISCRETE, ChiSquared, ChiSquared),
        (CONTINUOUS, FisherZ(CONTINUOUS), FisherZ),
        (FisherZ(CONTINUOUS), "auto", FisherZ),
    ],
)
def test_names_objects_and_classes(data: Any, test: Any, wanted: type) -> None:
    bound = resolve_test(data, Choices(method="icd", test=test))
    assert type(bound) is wanted
    assert isinstance(bound, CITest)


def test_a_function_of_indices() -> None:
    bound = resolve_test(CONTINUOUS | DISCRETE, Choices(method="icd", test=lambda x, y, z: (x + y + sum(z)) / 10))
    assert bound.names == ("a", "b", "c", "d")
    assert bound.pvalues(Queries.one(0, 1, [3])).tolist() == [0.4]


def test_kinds_change_what_auto_chooses() -> None:
    assert type(resolve_test(DISCRETE, Choices(method="icd", kinds={"c": "continuous", "d": "continuous"}))) is FisherZ
    assert type(resolve_test(DISCRETE, Choices(method="icd", kinds={"c": "continuous"}))) is DegenerateGaussian


def test_options_reach_the_test() -> None:
    gaps = {"a": np.where(np.arange(60) < 5, np.nan, CONTINUOUS["a"]), "b": CONTINUOUS["b"]}
    with pytest.raises(DataError, match="Values are missing in some of the 60 rows: 'a' 5"):
        resolve_test(gaps, Choices(method="icd", missing="error"))
    assert resolve_test(gaps).n_rows == 55  # type: ignore[attr-defined]
    dropped = resolve_test(gaps, Choices(method="icd", missing="drop"))
    assert isinstance(dropped, FisherZ) and dropped.n == 55
    pairwise = resolve_test(gaps, Choices(method="icd", test="fisherz", missing="pairwise"))
    assert isinstance(pairwise, FisherZ) and pairwise.n == 60
    assert pairwise.effective_n(Queries.one(0, 1)).tolist() == [55]
    same = {"a": CONTINUOUS["a"], "b": CONTINUOUS["a"]}
    assert resolve_test(same).names == ("a",)
    assert type(resolve_test(same, Choices(method="icd", singular="keep"))) is FisherZ


def test_names_choose_columns() -> None:
    assert resolve_test(CONTINUOUS | DISCRETE, Choices(method="icd", names=["b", "a"])).names == ("b", "a")


@pytest.mark.parametrize(
    ("test", "options", "message"),
    [
        ("fisher", {}, "'test' must be 'auto', 'fisherz', 'permutation', 'gsq', 'chisq', 'mixed', 'additive', 'kci', "),
        (3, {}, "a function f(x, y, z) -> p or a test; got 3"),
        ("gsq", {"kinds": {"c": "continuous"}}, "GSquared takes every column as discrete; 'kinds' need"),
        ("auto", {"missing": "impute"}, "'missing' must be 'auto', 'error', 'drop' or 'pairwise'; got 'impute'"),
        ("auto", {"singular": "drop"}, "'singular' must be 'auto', 'error' or 'keep'; got 'drop'"),
        ("auto", {"kinds": {"c": "ranked"}}, "A kind is 'continuous', 'discrete' or 'ordinal'; got 'ranked' for 'c'"),
    ],
)
def test_wrong_options_are_named(test: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        resolve_test(DISCRETE, Choices(test=test, **options))
    assert message in str(caught.value)


def test_two_tests_are_one_too_many() -> None:
    with pytest.raises(ParameterError, match="a test was given in place of data"):
        resolve_test(FisherZ(CONTINUOUS), Choices(method="icd", test="gsq"))


def test_files_large_and_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    continuous, mixed = tmp_path / "continuous.parquet", tmp_path / "mixed.csv"
    polars.DataFrame(CONTINUOUS).write_parquet(continuous)
    polars.DataFrame(CONTINUOUS | DISCRETE).write_csv(mixed)
    assert type(resolve_test(mixed)) is DegenerateGaussian
    small = resolve_test(str(continuous))
    monkeypatch.setattr("anypag.data.sources.file.LARGE_FILE", 10)
    monkeypatch.setattr("anypag.data.sources.door.MOST_LOOKED_AT", 0)
    large = resolve_test(str(continuous))
    assert type(small) is type(large) is FisherZ
    np.testing.assert_allclose(large.correlation, small.correlation, atol=1e-12)
    with pytest.raises(DataError, match=r"mixed.csv is larger than 0 MB and has discrete columns \('c'"):
        resolve_test(mixed)


def test_a_table_goes_straight_in() -> None:
    assert type(resolve_test(as_table(DISCRETE))) is PermutationChiSquared


def test_a_test_that_was_bound_keeps_its_audit() -> None:
    """What is left out or stands for a copy is told by the test that `resolve_test` returns, not by the one bound."""
    bound: list[FisherZ] = []

    class Kept(FisherZ):
        @classmethod
        def bind(cls, data: Any, choices: Choices) -> Any:
            bound.append(super().bind(data, choices))
            return bound[-1]

    table = CONTINUOUS | {"copy": CONTINUOUS["a"], "same": np.ones(60)}
    test: Any = resolve_test(table, Choices(method="icd", test=Kept))
    assert {finding.problem for finding in test.audit.findings} == {"copy", "left out"}
    assert [finding.problem for finding in bound[-1].audit.findings] == [] and test.audit.checked
    assert test.pvalues(Queries.one(0, 1)) == bound[-1].pvalues(Queries.one(0, 1))


def assigned_from_outside(path: Path, member: str) -> list[str]:
    """The assignments to a member of anything but `self`, except in classes that declare the member."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    homes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and member in declared(node)]
    own = {id(node) for home in homes for node in ast.walk(home)}
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == member
        if ast.unparse(node.value) != "self" and id(node) not in own
    ]


def declared(home: ast.ClassDef) -> set[str]:
    return {ast.unparse(node.target) for node in home.body if isinstance(node, ast.AnnAssign)}


def test_only_tests_themselves_set_their_audit() -> None:
    room = Path(anypag.__file__).parent / "ci"
    assert [found for path in room.rglob("*.py") for found in assigned_from_outside(path, "audit")] == []
