"""Counts and mixed moments made in an engine: the same p-values and graphs as from the table in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_examples import ENGINES, discrete_table, in_duckdb, mixed_table, queries, with_gaps, written
from hypothesis import given
from hypothesis import strategies as st

import anypag as ap
from anypag.choices import Choices
from anypag.ci.resolve import resolve_test
from anypag.data.sources import engine
from anypag.data.sources.engine import EngineTable
from anypag.data.table import as_table
from anypag.errors import CheckpointError, DataError

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*:FutureWarning")


def assert_same(here: Any, there: Any, atol: float = 1e-9) -> None:
    assert (there.names, there.n) == (here.names, here.n)
    for r in range(4):
        asked = queries(len(here.names), r)
        np.testing.assert_allclose(there.pvalues(asked), here.pvalues(asked), rtol=0, atol=atol)
        np.testing.assert_allclose(there.strength(asked), here.strength(asked), rtol=0, atol=1e-6)
        np.testing.assert_array_equal(there.effective_n(asked), here.effective_n(asked))


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same(engine: str, tmp_path: Path) -> None:
    for table, name in ((discrete_table(), "PermutationChiSquared"), (mixed_table(), "DegenerateGaussian")):
        relation = ENGINES[engine](written(table, tmp_path))
        here, there = ap.learn(table, method="icd"), ap.learn(relation, method="icd")
        assert (here.test_name, there.test_name) == (name, name)
        assert here.pag == there.pag and here.n_tests == there.n_tests
        assert_same(here.problem.bound_test, there.problem.bound_test)


@pytest.mark.parametrize("test", [ap.PermutationChiSquared, ap.GSquared, ap.ChiSquared])
def test_counts_are_those_of_the_rows_to_the_bit(test: Any, tmp_path: Path) -> None:
    relation = in_duckdb(written(discrete_table(), tmp_path))
    there = test(relation)
    assert len(there.weights) < there.n == 2000
    assert_same(test(discrete_table()), there, atol=0.0)


@pytest.mark.parametrize("missing", ["drop", "pairwise"])
@pytest.mark.parametrize("most", [50_000_000, 3000])
def test_gaps_are_treated_alike(missing: Any, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.data.sources.engine.MOST_GROUPED", most)
    monkeypatch.setattr(engine, "MOST_CELLS", 250)
    table = with_gaps(discrete_table())
    relation = in_duckdb(written(table, tmp_path))
    with pytest.raises(DataError, match="Values are missing in some of the 2000 rows"):
        ap.GSquared(relation)
    assert_same(ap.GSquared(table, missing=missing), ap.GSquared(relation, missing=missing))


def test_many_different_rows_are_grouped_as_questions_need_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anypag.data.sources.engine.MOST_GROUPED", 3000)
    monkeypatch.setattr(engine, "MOST_CELLS", 250)
    monkeypatch.setattr("anypag.data.sources.engine.EngineTable.rows", lambda _: pytest.fail("rows were pulled"))
    relation = in_duckdb(written(discrete_table(), tmp_path))
    there = ap.learn(relation, method="icd", test="chisq", threads=2)
    monkeypatch.undo()
    here = ap.learn(discrete_table(), method="icd", test="chisq")
    assert there.pag == here.pag
    test: Any = there.problem.bound_test
    assert test._grouped is not None
    with pytest.raises(DataError, match="only counts of 2,000 rows"):
        assert test.codes


def test_too_many_combinations_are_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.data.sources.engine.MOST_GROUPED", 250)
    monkeypatch.setattr(engine, "MOST_CELLS", 30)
    test = ap.GSquared(in_duckdb(written(discrete_table(), tmp_path)))
    assert test.pvalues(queries(7, 0)).min() >= 0
    with pytest.raises(DataError, match="different combinations of levels, too many to pull"):
        test.pvalues(queries(7, 4))


sets_of_columns = st.lists(
    st.sets(st.integers(0, 9), min_size=2, max_size=5).map(lambda some: tuple(sorted(some))), max_size=30
)


@given(sets_of_columns, st.lists(st.integers(1, 400), min_size=10, max_size=10))
def test_unions_hold_their_sets_and_stay_small(sets: list[tuple[int, ...]], levels: list[int]) -> None:
    found = engine.unions_of(sets, levels)
    assert found.keys() == set(sets)
    for columns, union in found.items():
        assert set(columns) <= set(union) and union == tuple(sorted(union))
        sharing = [other for other, where in found.items() if where == union]
        cells = np.prod([float(levels[i]) for i in union])
        assert cells <= engine.MOST_CELLS or any(set(other) == set(union) for other in sharing)
    again = engine.unions_of(sets, levels, list(dict.fromkeys(found.values())))
    assert set(again.values()) <= set(found.values())  # what is there already serves


def test_kinds_are_those_of_all_rows(tmp_path: Path) -> None:
    """Also where the first rows would say something else."""
    rows = 30_000
    late = np.zeros(rows)
    late[20_000:] = np.arange(10_000) % 2
    many = np.zeros(rows)
    many[20_000:] = np.arange(10_000)
    table = {"late": late, "many": many, "half": np.arange(rows) / 2, "text": np.array(["u", "v", "w"] * 10_000)}
    relation = in_duckdb(written(table, tmp_path))
    assert (
        EngineTable.of(relation).kinds == as_table(table).kinds == ("discrete", "continuous", "continuous", "discrete")
    )
    assert EngineTable.of(relation).with_kinds({"late": "continuous"}).kinds[0] == "continuous"


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_mixed_moments_are_those_of_the_rows(missing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = mixed_table() if missing == "error" else with_gaps(mixed_table())
    here = ap.DegenerateGaussian(table, missing=missing)
    monkeypatch.setattr("anypag.data.sources.engine.EngineTable.rows", lambda *_: pytest.fail("the rows were pulled"))
    there: Any = resolve_test(in_duckdb(written(table, tmp_path)), Choices(method="icd", test="mixed", missing=missing))
    assert there.kinds == here.kinds
    np.testing.assert_allclose(there.blocks.correlation, here.blocks.correlation, atol=1e-11)
    assert_same(here, there)


def test_what_is_wrong_with_columns_is_said_as_of_a_table_in_memory(tmp_path: Path) -> None:
    table = mixed_table()
    codes = np.unique(table["group"], return_inverse=True)[1]
    cases: dict[str, Any] = {
        "constant": ({"still": np.full(2000, 3.0)}, {}, "Column 'still' is constant"),
        "relabelled copy": ({"copy": np.array(["z", "y", "x"])[codes]}, {}, "are the same"),
        "relation": ({"twice": table["size"] * 2 + 1}, {}, "Exact linear relation"),
        "text as numbers": ({"code": table["luck"].astype(str)}, {"code": "continuous"}, "'code'"),
        "infinite": ({"far": np.where(np.arange(2000) == 3, np.inf, table["luck"])}, {}, "1 infinite value"),
    }
    for more, kinds, words in cases.values():
        relation = in_duckdb(written({**table, **more}, tmp_path))
        for data in (relation, {**table, **more}):
            with pytest.raises(DataError, match=words):
                ap.DegenerateGaussian(data, kinds=kinds or None)


def test_discrete_columns_with_errors_in_both_ways_of_counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = discrete_table()
    first = table[next(iter(table))]
    cases = [
        ({"still": np.zeros(2000, int)}, "Column 'still' is constant"),
        ({"copy": np.where(first == "low", 7, np.where(first == "mid", 5, 9))}, "are the same"),
        ({"half": np.arange(2000) / 2}, "Column 'half' is continuous"),
        ({"id": np.arange(2000)}, "as in an identifier"),
    ]
    for more, words in cases:
        relation = in_duckdb(written({**table, **more}, tmp_path))
        for most in (50_000_000, 3000):
            monkeypatch.setattr("anypag.data.sources.engine.MOST_GROUPED", most)
            with pytest.raises(DataError, match=words):
                ap.GSquared(relation)
        with pytest.raises(DataError, match=words):
            ap.GSquared({**table, **more})


def test_a_run_goes_on_from_its_checkpoint_without_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.data.sources.engine.EngineTable.rows", lambda *_: pytest.fail("the rows were pulled"))
    for table in (mixed_table(), discrete_table()):
        path, kept = written(table, tmp_path), tmp_path / f"{len(table)}.anypag"
        first = ap.learn(in_duckdb(path), checkpoint=kept, max_r=1)
        again = ap.learn(in_duckdb(path), checkpoint=kept, max_r=1, resume=True)
        assert again.pag == first.pag
        last = list(table)[-1]
        changed = {**table, last: table[last][::-1]}
        with pytest.raises(CheckpointError, match="the data are not the same"):
            ap.learn(in_duckdb(written(changed, tmp_path)), checkpoint=kept, max_r=1, resume=True)
