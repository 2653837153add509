"""The additive test in engines: of the rounded columns it is exact, and rounding changes little; no rows are pulled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars
import pytest
from engine_examples import ENGINES, in_duckdb, queries, written

import anypag as ap
import naive_ci
from anypag.choices import Choices
from anypag.ci import additive_in_engine
from anypag.ci.additive import Additive
from anypag.ci.additive_in_engine import basis_in_engine
from anypag.ci.resolve import resolve_test
from anypag.data.findings import Audit
from anypag.data.sources import engine_queries as engines
from anypag.data.sources import engine_ranks
from anypag.data.sources.engine_queries import Engine
from anypag.data.sources.engine_steps import STEPS, SteppedTable
from anypag.errors import DataError

KINDS = ("continuous", "discrete", "continuous", "continuous", "continuous", "discrete")


@pytest.fixture
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.ci.additive.MOST_RANKED", 0)


@pytest.fixture
def few_knots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries that are soon written; steps are less even."""
    monkeypatch.setattr(engine_ranks, "KNOTS", 8)
    monkeypatch.setattr(engine_ranks, "ROUNDS", 1)


def curved_table(rows: int = 1500, seed: int = 0) -> dict[str, Any]:
    """Curves and a product, with a steep column, one of whole numbers, text with three labels, and truth values."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(rows, 6))
    a = noise[:, 0]
    c = a**2 + noise[:, 1]
    d = np.tanh(a) * c + noise[:, 2]
    return {
        "steep": np.exp(a),
        "group": np.array(["x", "y", "z"])[np.digitize(c + noise[:, 3], [0, 2])],
        "bent": c,
        "whole": np.round(3 * d),
        "far": np.tan(1.4 * np.tanh(d + 2 * noise[:, 4])),
        "ill": a + noise[:, 5] > 0,
    }


def lazily(table: dict[str, Any]) -> Engine:
    """The queries, put to polars."""
    frame = polars.LazyFrame(table)
    is_text = tuple(kind == polars.String for kind in frame.collect_schema().values())
    return Engine(tuple(table), is_text, nw.from_native(frame))


def stepped(table: dict[str, Any]) -> SteppedTable:
    engine = lazily(
        {name: column if column.dtype.kind == "U" else column.astype(float) for name, column in table.items()}
    )
    levels = [engine.levels(i, 10) if kind == "discrete" else None for i, kind in enumerate(KINDS[: len(table)])]
    return SteppedTable.of(engine, levels)


def steps_of(table: SteppedTable) -> Any:
    """(n, p) the columns as whole numbers, in the order of their names."""
    made = {f"{i:03d}": column.expression for i, column in enumerate(table.columns)}
    return table.engine.with_columns(made).frame.collect().to_numpy().astype(float)


@pytest.mark.usefixtures("few_knots")
@pytest.mark.parametrize("seed", range(2))
def test_is_exact_for_the_rounded_columns(seed: int) -> None:
    """Against least squares on the rows of steps, products of up to four columns among them."""
    table = stepped(curved_table(400, seed))
    steps, names = steps_of(table), sorted(table.engine.names)
    is_discrete = [column.levels is not None for column in table.columns]
    kinds = tuple("discrete" if flag else "continuous" for flag in is_discrete)
    test = Additive.from_basis(tuple(names), kinds, 400, basis_in_engine(table, 4), Audit.of(()))  # type: ignore[arg-type]
    for r in range(5):
        x, y, *z = np.random.default_rng(seed + r).permutation(6)[: r + 2].tolist()
        expected = naive_ci.additive(steps, is_discrete, x, y, z, steps / STEPS)
        np.testing.assert_allclose(test.pvalues(ap.Queries.one(x, y, z)), expected, rtol=1e-6, atol=1e-10)


@pytest.mark.usefixtures("few_knots")
@pytest.mark.parametrize("seed", range(2))
def test_counts_and_sums_are_those_of_the_rows(seed: int) -> None:
    table = stepped(curved_table(200, seed))
    steps, first = steps_of(table), [column.low for column in table.columns]
    i, j, k = np.random.default_rng(seed).permutation(6)[:3].tolist()
    expected = np.zeros((len(table.columns[i].counts), len(table.columns[j].counts)))
    np.add.at(expected, tuple((steps[:, [i, j]] - [first[i], first[j]]).astype(int).T), 1)
    np.testing.assert_array_equal(table.counts(i, j), expected)
    place = (steps - first).astype(int)
    one, other = (table.columns[c].heads[place[:, c], 0] for c in (i, j))
    by_step = np.zeros(len(table.columns[k].counts))
    np.add.at(by_step, place[:, k], one * other)
    np.testing.assert_allclose(table.sums_by(k, [((i, 0), (j, 0))])[:, 0], by_step, atol=1e-9)
    np.testing.assert_allclose(table.sums([((i, 0), (j, 0))]), (one * other).sum(), atol=1e-9)
    np.testing.assert_allclose([one.mean(), other.mean()], 0, atol=1e-12)


def test_steps_are_a_64th_of_a_score_and_ranks_those_of_the_rounded_column() -> None:
    from scipy import stats

    column = curved_table(5000)["far"]
    steps = steps_of(stepped({"far": column}))[:, 0]
    order = np.argsort(column)
    assert (np.diff(steps[order]) >= 0).all()
    scores = stats.norm.ppf((stats.rankdata(column) - 0.5) / len(column))
    assert np.sqrt(np.square(steps / STEPS - scores).mean()) < 0.015
    made = stepped({"far": column}).columns[0]
    ranks = (2 * stats.rankdata(steps) - 1) / len(column) - 1
    np.testing.assert_allclose(made.ranks[(steps - made.low).astype(int)], ranks, atol=1e-12)


@pytest.mark.usefixtures("nothing_is_small")
def test_graph_and_p_values_are_nearly_those_of_the_table_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = curved_table()
    monkeypatch.setattr("anypag.data.sources.engine.MOST_PULLED", 0)  # rows would be refused
    with pytest.warns(ap.AnypagWarning, match="The ranks of 4 columns are approximate: values are rounded to a 64th"):
        there = ap.learn(in_duckdb(written(table, tmp_path)), test="additive")
    here = ap.learn(table, test="additive")
    assert there.pag == here.pag and there.test_name == here.test_name == "Additive"
    one: Any = here.problem.bound_test
    other: Any = there.problem.bound_test
    assert [finding.problem for finding in other.audit.findings] == ["ranks"]
    for r in range(4):
        asked = queries(len(table), r)
        np.testing.assert_allclose(other.pvalues(asked), one.pvalues(asked), atol=0.08)


@pytest.mark.usefixtures("nothing_is_small", "few_knots")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "duckdb"])
def test_every_engine_gives_the_same(engine: str, tmp_path: Path) -> None:
    table = dict(list(curved_table(300).items())[:4])
    path = written(table, tmp_path)
    here = resolve_test(in_duckdb(path), Choices(test="additive"))
    there = resolve_test(ENGINES[engine](path), Choices(test="additive"))
    for r in range(3):
        asked = queries(len(table), r, 20)
        np.testing.assert_allclose(there.pvalues(asked), here.pvalues(asked), rtol=0, atol=1e-9)


@pytest.mark.usefixtures("nothing_is_small", "few_knots")
@pytest.mark.filterwarnings("ignore")
def test_rows_with_gaps_are_dropped_if_asked(tmp_path: Path) -> None:
    chosen = ("steep", "bent", "ill")
    table = {name: column.astype(float) for name, column in curved_table(300).items() if name in chosen}
    table["bent"][:20] = np.nan
    relation, choices = in_duckdb(written(table, tmp_path)), Choices(test="additive", missing="drop")
    here: Any = resolve_test(table, choices)
    there: Any = resolve_test(relation, choices)
    assert there.n == here.n == 280 and there.kinds == here.kinds and there.names == here.names
    asked = queries(3, 1, 6)
    np.testing.assert_allclose(there.pvalues(asked), here.pvalues(asked), rtol=0, atol=0.1)
    with pytest.raises(DataError, match="Values are missing"):
        resolve_test(relation, Choices(test="additive"))


def test_of_a_small_table_ranks_are_exact(tmp_path: Path) -> None:
    table = curved_table(300)
    there = resolve_test(in_duckdb(written(table, tmp_path)), Choices(test="additive"))
    here, asked = Additive(table), queries(len(table), 2)
    np.testing.assert_array_equal(there.pvalues(asked), here.pvalues(asked))


@pytest.mark.usefixtures("nothing_is_small", "few_knots")
@pytest.mark.filterwarnings("ignore")
def test_too_many_products_are_refused_but_not_where_no_set_has_two_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(additive_in_engine, "MOST_PRODUCTS", 2)
    relation = in_duckdb(written(dict(list(curved_table(300).items())[:4]), tmp_path))
    with pytest.raises(DataError, match="have 9 products of two, more than the 2"):
        resolve_test(relation, Choices(test="additive"))
    test = resolve_test(relation, Choices(test="additive", max_r=1))
    assert 0 <= test.pvalues(ap.Queries.one(0, 1, [2]))[0] <= 1


@pytest.mark.usefixtures("few_knots")
def test_what_was_asked_is_not_asked_again_and_in_queries_of_a_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "EXPRESSIONS", 4)
    table = stepped(curved_table(300))
    kinds: Any = tuple("discrete" if column.levels else "continuous" for column in table.columns)
    test = Additive.from_basis(tuple("abcdef"), kinds, 300, basis_in_engine(table, 4), Audit.of(()))
    sizes, summed_by = [], Engine.summed_by

    def noted(engine: Engine, name: str) -> Any:
        sizes.append(len(engine.names) - 1)
        return summed_by(engine, name)

    monkeypatch.setattr(Engine, "summed_by", noted)
    first = test.pvalues(queries(6, 3, 20))
    assert sizes and max(sizes) <= 4
    sizes.clear()
    np.testing.assert_array_equal(test.pvalues(queries(6, 3, 20)), first)
    assert not sizes
