"""The predictive check: silent where the model fits, heard where it does not, in any order of columns."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest

import anypag as ap
from anypag.cli.main import main
from anypag.cli.tell import misfit_told
from anypag.explain import edge_table
from anypag.explain.summary import end_told
from anypag.plot import svg
from anypag.report.content import content
from anypag.results.files import save_result
from anypag.results.probabilities import Misfit
from anypag.search.by_scores import predictive
from anypag.search.by_scores.predictive import (
    FAR_IN_LEVELS,
    _information,
    _random_rows_like,
    off_in_columns,
    off_in_levels,
    rows_per_number,
    share_off,
)
from anypag.studio.page_parts import effect_told

pytestmark = pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
NUMBERS = np.zeros(3, bool)


def chain(bend: float, rows: int = 2000, seed: int = 0) -> np.ndarray:
    """x, y and z: each follows the one before, by a line and a bend."""
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=rows)]
    for _ in range(2):
        cause = columns[-1]
        columns.append(cause + bend * cause**2 + rng.normal(size=rows))
    return np.column_stack(columns)


def levels(rows: int = 2000, seed: int = 0) -> np.ndarray:
    """(3, rows): each column copies the one before in two thirds of the rows."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 3, rows)]
    for _ in range(2):
        columns.append(np.where(rng.random(rows) < 0.66, columns[-1], rng.integers(0, 3, rows)))
    return np.stack(columns)


@pytest.mark.parametrize("seed", range(5))
def test_the_right_model_is_like_the_table(seed: int) -> None:
    assert share_off(off_in_columns(chain(0.0, seed=seed), NUMBERS, CHAIN)) == 0
    assert share_off(off_in_levels(levels(seed=seed), CHAIN), FAR_IN_LEVELS) == 0
    assert share_off(off_in_columns(levels(seed=seed).T * 1.0, ~NUMBERS, CHAIN)) == 0
    rng, (cause, effect, _) = np.random.default_rng(seed), chain(0.0, seed=seed).T
    mixed = np.column_stack([rng.integers(0, 3, 2000), cause, effect + rng.normal(size=2000) > 0.5])
    mixed[:, 1] += mixed[:, 0]
    mixed[:, 2] += mixed[:, 1] > 1
    assert share_off(off_in_columns(mixed, np.array([True, False, True]), np.triu(np.ones((3, 3), bool), 1))) == 0


def test_bends_and_missing_edges_are_seen() -> None:
    assert share_off(off_in_columns(chain(1.0), NUMBERS, CHAIN)) > 0.5
    assert share_off(off_in_columns(chain(0.0), NUMBERS, np.zeros((3, 3), bool))) == 1
    assert share_off(off_in_levels(levels(), np.zeros((3, 3), bool)), FAR_IN_LEVELS) == 1
    assert share_off(off_in_columns(chain(1.0), NUMBERS, CHAIN, functions=True)) < 0.5


def test_cuts_of_numbers_are_seen_by_the_order_of_their_levels() -> None:
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 800))
    cuts = np.array([np.digitize(column, np.linspace(-2, 2, 6)) for column in (x, 0.2 * x + noise)])
    nothing, shuffled = np.zeros((2, 2), bool), np.array([rng.permutation(7)[column] for column in cuts])
    assert off_in_levels(shuffled, nothing)[0, 1] < FAR_IN_LEVELS < 4 < off_in_levels(cuts, nothing)[0, 1]


@pytest.mark.parametrize("n_levels", [2, 3])
def test_of_the_right_graph_hardly_any_pair_of_counts_is_far_off(n_levels: int) -> None:
    """A normal variable is more than 3 standard errors off in 0.27 % of cases, and more than 4 in 0.006 %."""
    off = list[np.ndarray]()
    for seed in range(10):
        dag = ap.simulate.random_system(20, 2.0, seed=seed).dag
        drawn = ap.simulate.discrete(dag, 1000, levels=n_levels, seed=seed)
        places = [dag.index(name) for name in drawn.names]
        z = off_in_levels(np.asarray(drawn, np.int64).T, (dag.marks == 2)[np.ix_(places, places)])
        off.append(z[np.triu_indices(len(z), 1)])
    pairs = np.concatenate(off)
    assert len(pairs) == 1900 and (pairs > 4).sum() <= 1 and 0.001 < (pairs > 3).mean() < 0.006


def test_pairs_of_a_discrete_table_differ_by_fewer_standard_errors_than_others() -> None:
    off = np.full((3, 3), 3.5)
    with mock.patch.multiple(predictive, off_in_levels=lambda *_: off, off_in_columns=lambda *_, **__: off):
        counts = ap.learn(levels(rows=300).T, method="bayes", effort=0.1, test="gsq").misfit
        numbers = ap.learn(chain(0.0, rows=300), method="bayes", effort=0.1).misfit
    assert counts is not None and counts.share == 1.0 and len(counts.worst) == 3 and counts.lines()
    assert numbers == Misfit(None, 0.0)


def test_information_is_that_of_the_textbook() -> None:
    table = levels(rows=300)
    joint = np.array([[((table[0] == a) & (table[1] == b)).mean() for b in range(3)] for a in range(3)])
    expected = (joint * np.log(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))).sum()
    assert _information(table)[0, 1] == pytest.approx(600 * expected)


def test_rows_are_drawn_among_those_with_equal_parents() -> None:
    have, want = np.array([[0, 1, 1, 2], [0, 0, 1, 1]]), np.array([[1, 0, 2, 1], [0, 0, 0, 1]])
    rows = [_random_rows_like(have, want, np.random.default_rng(seed)).tolist() for seed in range(50)]
    assert {(row[0], row[1], row[3]) for row in rows} == {(1, 0, 2)}
    assert {row[2] for row in rows} == {0, 1, 2, 3}  # (2, 0) does not occur: any row


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_units_do_not_matter(scale: float) -> None:
    table = chain(1.0)
    np.testing.assert_allclose(
        off_in_columns(table * scale, NUMBERS, CHAIN), off_in_columns(table, NUMBERS, CHAIN), 1e-6
    )


def test_a_misfit_is_said_before_the_graph_and_kept_in_files(tmp_path: Path) -> None:
    names = ["x", "y", "z"]
    table = dict(zip(names, chain(1.0).T, strict=True))
    result = ap.learn(table, method="bayes", effort=0.1)
    (line,) = result.misfit_told
    assert line.startswith("This table does not fit what the probabilities assume: ")
    assert "Do not rely on the probabilities." in line and 'try the test "additive"' in line
    assert str(result).index(line) < str(result).index("x o-")
    short = "This table does not fit what the probabilities assume: do not rely on them."
    assert str(result.explain("x", "y")).splitlines()[1] == f"  {short}" and result.explain("x", "y").misfit == short
    told = result.effect("x", "y", selection_bias=False, data=table)
    assert str(told).splitlines()[0] == line == told.to_dict()["warnings"][0] and str(told).count(line) == 1
    assert told._repr_markdown_().startswith(line) and effect_told(result, "x", "y", table)[0] == ["p", "doubt", line]
    assert save_result(result)["meta"]["anypag"]["misfit_told"] == [line]
    result.save(tmp_path / "x.dot")
    assert (tmp_path / "x.dot").read_text().startswith(f"// {short}\ndigraph")
    assert short in svg(result) and short not in svg(result.pag)
    assert line in unescape(result._repr_html_()) and content(result, None)["consistency"]["banner"][0] == line
    result.save(tmp_path / "x.json")
    read = ap.read_result(tmp_path / "x.json")
    assert isinstance(read, ap.Result) and read.misfit == result.misfit and read.misfit_told == (line,)
    turned = ap.learn({name: table[name] for name in reversed(names)}, method="bayes", effort=0.1)
    assert turned.misfit == result.misfit
    with pytest.warns(ap.AnypagWarning, match="does not fit what the probabilities assume"):
        ap.learn(table, method="bayes", effort=0.1)
    bent = ap.learn(table, method="bayes", effort=0.1, test="additive").misfit
    assert bent is not None and not bent.lines()


def test_the_additive_test_is_not_recommended_twice() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 2000))
    product = x * y + 0.3 * rng.normal(size=2000)
    table = {"x": x, "y": y, "z": product, "u": product + 0.3 * rng.normal(size=2000)}
    (line,) = ap.learn(table, method="bayes", effort=0.1, test="additive").misfit_told
    assert 'choose the test "additive"' not in line and "Interactions between causes are not in the model" in line
    assert "several experiments" not in line
    (line,) = ap.learn(table, method="bayes", effort=0.1).misfit_told
    assert "Interactions" not in line


def distorted(system_seed: int, rows: int = 2000) -> dict[str, np.ndarray]:
    """Columns of a linear Gaussian system, each replaced by an increasing function of its standardised values."""
    sample = ap.simulate.random_system(10, 2.0, seed=system_seed).linear_gaussian(rows, seed=system_seed)
    return {name: np.exp(column / column.std()) for name, column in dict(sample).items()}


def test_normal_scores_are_advised_where_they_mend_the_table() -> None:
    table = distorted(1, 5000)
    result = ap.learn(table, method="bayes", effort=0.1)
    assert result.misfit is not None and result.misfit.remedy == "normal scores"
    assert 'Columns seem to be distorted: choose transform="normal-scores".' in result.misfit_told[0]
    assert "choose --transform normal-scores." in misfit_told(result)[0] and "experiments" not in misfit_told(result)[0]
    assert not ap.learn(table, method="bayes", effort=0.1, transform="normal-scores").misfit_told


@pytest.mark.parametrize(("few", "remedy"), [(True, "pooling"), (False, "levels")])
def test_levels_are_to_be_merged_only_where_there_are_many(few: bool, remedy: str) -> None:
    rng = np.random.default_rng(0)
    cause = rng.integers(0, 3 if few else 9, 3000)
    table = {"x": cause, **{name: np.where(rng.random(3000) < 0.7, cause, rng.integers(0, 3, 3000)) for name in "yz"}}
    found = ap.learn(table, method="bayes", effort=0.1, test="gsq").misfit
    assert found is not None and found.remedy == remedy
    (line,) = replace(found, share=0.5, worst=(("x", "y"), ("y", "z"))).lines()
    assert ("Merge levels, or leave out columns with many levels." in line) is not few
    assert ("several experiments" in line) is few
    (line,) = replace(found, rows_per_number=0.4, share=0.5, worst=(("x", "y"), ("y", "z"))).lines()
    assert line.count("Merge levels") == 1


def test_a_table_of_one_pair_may_misfit_too() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    result = ap.learn({"X": x, "Y": x**2 + 0.1 * rng.normal(size=300)}, effort=0.1)
    assert result.misfit is not None and result.misfit.share == 1.0
    assert "100% of the pairs" in result.misfit_told[0]
    assert not Misfit(None, 1 / 3, (("X", "Y"),)).lines()  # one pair of three, by chance


def test_what_fits_is_not_spoken_of_and_no_rows_are_no_check() -> None:
    result = ap.learn(chain(0.0), method="bayes", effort=0.1)
    assert result.misfit == Misfit(None, 0.0) and result.misfit_told == ()
    moments = ap.learn(ap.FisherZ.from_covariance(np.cov(chain(0.0).T), 2000), method="bayes", effort=0.1)
    assert moments.misfit == Misfit(None, None) and moments.misfit_told == ()
    assert ap.learn(chain(0.0), method="icd").misfit is None


NOT_CHECKED = "Not checked: whether the table fits what the probabilities assume."


@pytest.mark.parametrize(("bend", "fits"), [(0.0, "yes"), (1.0, "no"), (None, "not checked")])
def test_tables_and_texts_say_whether_the_fit_was_checked(bend: float | None, fits: str) -> None:
    moments = ap.FisherZ.from_covariance(np.cov(chain(0.0).T), 2000)
    result = ap.learn(moments if bend is None else chain(bend), effort=0.1)
    assert set(result.edge_table()["fits"]) == {fits} and set(edge_table(result.pag)["fits"]) == {None}
    told = {"str": str(result), "report": content(result, None)["made"]["end"], "studio": end_told(result)}
    assert all((NOT_CHECKED in text) is (fits == "not checked") for text in told.values())
    assert all(result.compared and result.compared in text for text in told.values())


@pytest.mark.parametrize("way", ["str", "terminal"])
def test_with_ordinal_columns_the_fit_is_not_checked(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = {name: np.digitize(x, [-1, 0, 1]) for name, x in zip("xyz", chain(0.0).T, strict=True)}
    if way == "str":
        told = str(ap.learn(table, effort=0.1, kinds=dict.fromkeys("xyz", "ordinal")))
    else:
        pl.DataFrame(table).write_csv(tmp_path / "x.csv")
        main(["learn", str(tmp_path / "x.csv"), "--kinds", "*=ordinal", "--effort", "0.1"])
        told = " ".join(capsys.readouterr().out.split())
    assert NOT_CHECKED in told


def test_the_way_to_pool_is_that_of_the_reader() -> None:
    result = ap.learn(chain(0.0), method="bayes", effort=0.1)
    with mock.patch.object(ap.Result, "misfit", Misfit(None, 0.5, (("x", "y"), ("y", "z")))):
        assert "say so (ap.pooled)" in "".join(result.misfit_told)
        assert "say so (--context, or name=file for each)" in "".join(misfit_told(result))


def test_a_misfit_of_a_scale_asks_whether_its_levels_are_in_order() -> None:
    table = {name: np.digitize(x, [-1, 0, 1]) for name, x in zip("xyz", chain(0.0).T, strict=True)}
    result = ap.learn(table, method="bayes", effort=0.1)
    with mock.patch.object(ap.Result, "misfit", Misfit(None, 0.5, (("x", "y"), ("y", "z")))):
        assert result.misfit_told[0].endswith(
            " Say the kinds of 'x', 'y', 'z': ordinal if levels have an order, continuous if they are amounts; leave "
            "them if they are names."
        )
        told = ap.learn(chain(0.0), method="bayes", effort=0.1).misfit_told
        assert told and "ordinal" not in told[0]


def test_a_misfit_asks_first_whether_whole_numbers_are_codes() -> None:
    rng = np.random.default_rng(0)
    region, x = rng.integers(1, 15, 2000), rng.normal(size=2000)
    rates = rng.normal(size=15)[region]
    y, rate = x + rates + rng.normal(size=2000), rates + 0.3 * rng.normal(size=2000)
    table = {"region": region, "rate": rate, "x": x, "y": y}
    result = ap.learn(table, method="bayes", effort=0.1)
    kind = ("region", "continuous", "whole numbers, but 14 different ones")
    assert result.audit is not None and kind in result.audit.kinds
    (line,) = result.misfit_told
    told = "probabilities. If the numbers of 'region' are codes, declare them discrete ({}) or leave them out. "
    assert told.format("'kinds'") in line and told.format("--kinds") in misfit_told(result)[0]
    with mock.patch.object(ap.Result, "misfit", Misfit(3.0, 0.5, (("x", "y"),))):  # of a test of levels
        assert "codes" not in "".join(result.misfit_told)
    for other in ({name: table[name] for name in ("rate", "x", "y")}, table):
        kinds = {"region": "discrete"} if other is table else None
        assert "codes" not in "".join(ap.learn(other, method="bayes", effort=0.1, kinds=kinds).misfit_told)


def test_curves_are_only_worth_a_try_where_they_leave_half_of_a_misfit_or_more() -> None:
    result = ap.learn(chain(0.3), method="bayes", effort=0.1)
    assert result.audit is not None and "curve" in {finding.problem for finding in result.audit.findings}
    assert result.misfit is not None and result.misfit.remedy == "curves"
    lines, curves = np.array([[0, 9, 0], [9, 0, 9], [0, 9, 0.0]]), np.full((3, 3), 9.0)
    by_curves = mock.Mock(side_effect=lambda *_, functions=False: curves if functions else lines)
    with mock.patch.object(predictive, "off_in_columns", by_curves):
        found = ap.learn(chain(0.3), method="bayes", effort=0.1).misfit
        assert found is not None and (found.share, found.remedy) == (2 / 3, "some curves")
        assert 'try the test "additive", and keep it only if fewer pairs differ.' in found.lines()[0]


def test_too_few_rows_for_the_levels_are_said() -> None:
    found = ap.learn(levels(rows=300).T, method="bayes", effort=0.1, test="gsq").misfit
    assert found is not None and found.rows_per_number == pytest.approx(300 / 14) and not found.lines()
    (line,) = replace(found, rows_per_number=0.4).lines()
    assert "there are 0.40 rows for each parameter of the best graph" in line and "Merge levels" in line
    assert rows_per_number(14, [3, 3, 3], CHAIN) == 1


def of_a_hidden_cause(rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Five columns with three levels, all caused by a hidden column with two levels; the first two cause others."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(rows) < 0.5
    columns = [(rng.random(rows) < np.where(hidden, 0.8, 0.2)) * 1 + (rng.random(rows) < 0.3) for _ in range(5)]
    columns += [(rng.random(rows) < np.where(columns[k] == 1, 0.75, 0.3)) * 1 for k in range(2)]
    return {f"x{k}": column for k, column in enumerate(columns)}


@pytest.mark.parametrize("seed", [0, 1])
def test_hidden_columns_that_were_found_are_part_of_the_graph_that_is_checked(seed: int) -> None:
    result = ap.learn(of_a_hidden_cause(1000, seed), effort=0.1)
    assert result.posterior is not None and result.posterior.n_levels == (2,)
    assert result.misfit is not None and not result.misfit_told and len(result.misfit.worst) < 2
    assert result.misfit.rows_per_number == pytest.approx(1000 / (1 + 5 * 4 + 2 * 3))
