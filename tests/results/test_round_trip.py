"""A result read from its file is the one that was saved: equal in every public view, whatever it was learned from."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.catalogue import METHODS
from anypag.choices import OwnTest
from anypag.effects.effect import searched_under
from anypag.results import schema
from anypag.results.files import load_result, save_result
from anypag.results.grounds import Searched, StoredGrounds
from anypag.results.result import Result
from anypag.results.schema import recorded
from anypag.stored import object_of

DAG = ap.DAG.from_string("A --> C; B --> C; C --> D; E --> D")
SAMPLE = ap.simulate.linear_gaussian(DAG, 200, seed=1)
TABLE = {name: np.round(values, 3) for name, values in dict(SAMPLE).items()}
KNOWN = ap.Knowledge.from_text("tiers: A B | C\nC ~> D\nD !~> selection\n* !<-> A")
GAPS = {**TABLE, "A": np.where(np.arange(200) < 20, np.nan, TABLE["A"])}
LEVELS = {name: (values > 0).astype(int) for name, values in TABLE.items()}

OF_ONE_RUN = {"state", "problem", "grounds", "by_tests"}
"""What a file does not hold, and what is told through all other views."""


def views(result: Any) -> dict[str, Any]:
    """All that a result tells without being asked for something: by the names of its public members."""
    names = [name for name in dir(type(result)) if not name.startswith("_")] + [item.name for item in fields(result)]
    told = {name: getattr(result, name) for name in dict.fromkeys(names) if name not in OF_ONE_RUN}
    calls = {name: value() for name, value in told.items() if name in {"summary", "edge_table"}}
    plain = {name: value for name, value in told.items() if not callable(value)}
    pairs = zip(result.pag.names[:-1], result.pag.names[1:], strict=True)
    asked = {f"explain {a} {b}": str(result.explain(a, b)) for a, b in pairs}
    marginal = {"independent_pairs": result.independent_pairs(result.pag.names)}
    kept = {"kept_p": [result.kept_p(edge.b, edge.a) for edge in result.pag.edges()]}
    return {**plain, **calls, **asked, **marginal, **kept, "str": str(result), "html": result._repr_html_()}


def same(one: Any, other: Any) -> bool:
    """Equal, down to the last array inside."""
    if isinstance(one, Result):
        return same(*({**views(it), "choices": recorded(it.choices)} for it in (one, other)))
    if isinstance(one, np.ndarray):
        is_equal = np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        return bool(is_equal and one.dtype == other.dtype)
    if isinstance(one, float):
        return bool(one == other or (np.isnan(one) and np.isnan(other)))
    if isinstance(one, ap.PAG) or not (is_dataclass(one) or isinstance(one, tuple | list | dict)):
        return bool(one == other) or same_mapping(one, other)
    if is_dataclass(one):
        names = [item.name for item in fields(one)]
        return type(one) is type(other) and all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return len(one) == len(other) and all(map(same, one, other))


def same_mapping(one: Any, other: Any) -> bool:
    return hasattr(one, "items") and same(dict(one.items()), dict(other.items()))


def same_choices(one: Any, other: Any) -> bool:
    """Those that a file keeps; a test of the user's own by its name."""
    return bool(recorded(one) == recorded(other))


def check(result: Result, tmp_path: Path) -> Result:
    result.save(tmp_path / "result.json")
    read = ap.read_result(tmp_path / "result.json")
    assert isinstance(read, Result)
    here, there = views(result), views(read)
    assert list(here) == list(there)
    different = [name for name in here if not (same_choices if name == "choices" else same)(here[name], there[name])]
    assert different == []
    assert save_result(read) == save_result(result)
    return read


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("known", [None, KNOWN], ids=["knowing nothing", "knowing"])
def test_methods(method: str, known: ap.Knowledge | None, tmp_path: Path) -> None:
    effort: dict[str, Any] = {"effort": 0.02} if "effort" in METHODS[method].uses else {}
    try:
        check(ap.learn(TABLE, method=method, knowledge=known, selection_bias=False, **effort), tmp_path)
    except ap.AnypagError as refused:  # not every method takes every statement
        assert known is not None and "method" in str(refused)


def sources(folder: Path) -> dict[str, Any]:
    import duckdb
    import polars as pl

    frame = pl.DataFrame(TABLE)
    weighted = frame.with_columns(pl.Series("w", np.arange(200) % 3 + 0.5))
    frame.write_csv(folder / "data.csv")
    levels = pl.DataFrame(LEVELS).group_by(pl.all()).len("count").sort(pl.all())
    levels.write_csv(folder / "counts.csv")
    return {
        "a test": ap.FisherZ(TABLE),
        "an oracle": ap.Oracle(DAG),
        "a file": folder / "data.csv",
        "a file that is read as the user says": ap.read_table(folder / "data.csv", gaps=["none"]),
        "counts": ap.counted(ap.read_table(folder / "counts.csv"), "count"),
        "weights": ap.weighted(weighted, "w"),
        "several data sets": ap.pooled({"observed": frame[:100], "drug": frame[100:]}),
        "an engine": duckdb.sql("select * from frame"),
        "a covariance": ap.FisherZ.from_covariance(np.cov(np.stack(list(TABLE.values()))), 200, list(TABLE)),
        "a function": ap.from_callable(lambda x, y, z: 0.5, ["A", "B", "C"]),
    }


@pytest.mark.parametrize("method", ["icd", "auto"])
def test_sources(method: str, tmp_path: Path) -> None:
    effort: dict[str, Any] = {"effort": 0.02} if "effort" in METHODS[method].uses else {}
    for source in sources(tmp_path).values():
        check(ap.learn(source, method=method, **effort), tmp_path)


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "drop", "data": GAPS},
        {"missing": "pairwise", "data": GAPS},
        {"data": LEVELS, "test": "gsq"},
        {"kinds": {"A": "continuous"}},
        {"max_tests": 12},
        {"time_budget": 1e-9},
        {"max_r": 0, "initial": ap.PAG.from_string("A o-o C; B o-o C; C o-o D; E o-o D; A o-o B")},
        {"method": "fci", "possible_dsep": "on-paths", "dsep_max_r": 1},
        {"method": "bayes", "effort": 0.02, "time_budget": 1e-9},
        {"method": "auto", "effort": 0.02, "time_budget": 1e-9},
        {"names": ["A", "B", "C"]},
        {"transform": "normal-scores", "singular": "keep", "alpha": 0.2},
    ],
    ids=lambda options: ", ".join(options),
)
def test_choices(options: dict[str, Any], tmp_path: Path) -> None:
    options = dict(options)
    read = check(ap.learn(options.pop("data", TABLE), **{"method": "icd", **options}), tmp_path)
    for name, value in options.items():
        assert getattr(read.choices, name) == (tuple(value) if name == "names" else value), name


@pytest.mark.parametrize("phase", ["iteration", "orders", "cooling", "sampling"])
def test_a_search_by_tests_and_scores_that_was_stopped(phase: str, tmp_path: Path) -> None:
    stopped = ap.learn(TABLE, method="auto", effort=0.02, stop=lambda state, info: info.phase == phase)
    read = check(stopped, tmp_path)
    assert read.from_scores is (phase in {"cooling", "sampling"})
    assert read.by_tests is not None and len(read.by_tests.sepsets) > 0
    assert check(ap.learn(TABLE, method="auto", max_r=1), tmp_path).chosen is not None


def test_resamples(tmp_path: Path) -> None:
    found = ap.bootstrap(TABLE, n=5, seed=3, max_r=1, knowledge=ap.Knowledge.from_text("C ~> D"))
    read = check(found.result, tmp_path)
    assert read.stability is not None and found.stability is found.result.stability
    for name in ("adjacency", "arrowhead", "tail", "circle", "causes", "not_causes", "kinds", "edges", "n"):
        assert same(getattr(read.stability, name), getattr(found, name)), name
    assert str(read.stability) == str(found.stability)


def test_resumed(tmp_path: Path) -> None:
    path = tmp_path / "run.anypag"
    ap.learn(TABLE, method="icd", checkpoint=path, stop=lambda state, info: True)
    check(ap.learn(TABLE, method="icd", checkpoint=path, resume=True), tmp_path)


def test_a_test_of_the_users_own_is_named_and_cannot_be_used_from_a_file(tmp_path: Path) -> None:
    def my_test(x: int, y: int, z: tuple[int, ...]) -> float:
        return 0.001 if {x, y} == {0, 1} else 0.5

    read = check(ap.learn(TABLE, method="icd", test=my_test), tmp_path)
    assert isinstance(read.choices.test, OwnTest) and "my_test" in read.choices.test.name
    with pytest.raises(ap.AnypagError, match="The file holds only the name"):
        ap.learn(TABLE, method="icd", test=read.choices.test)  # type: ignore[arg-type]
    with pytest.raises(ap.AnypagError, match="whose test was chosen by name"):
        read.effect("A", "C", data=TABLE, assume="A !<-> C")


def test_what_is_searched_again_is_searched_with_the_same_test(tmp_path: Path) -> None:
    """A saved result that forgot its test would search with another one."""
    result = ap.learn(LEVELS, test="gsq", method="bayes", effort=0.1, selection_bias=False)
    read = check(result, tmp_path)
    assumed = ap.Knowledge.from_text("A !<-> C")
    here, there = (searched_under(one, LEVELS, assumed, None) for one in (result, read))
    assert here.test_name == there.test_name == "GSquared" and str(here) == str(there)


def test_a_test_that_came_in_place_of_data_is_recorded(tmp_path: Path) -> None:
    """A result that says "auto" would be searched for again with the default test of the columns."""
    read = check(ap.learn(ap.GSquared(LEVELS), method="icd", selection_bias=False), tmp_path)
    assert read.choices.test == "gsq"
    read = check(ap.learn(ap.Oracle(DAG)), tmp_path)
    with pytest.raises(ap.AnypagError, match="whose test was chosen by name"):
        read.effect("A", "C", data=TABLE, assume="A !<-> C")


def test_a_field_that_is_not_declared_fails() -> None:
    """Not only here: the module of the schema cannot be imported then."""
    with pytest.raises(TypeError, match=r"StoredGrounds: these fields have no form, or do not exist: audit"):
        object_of(
            StoredGrounds, "pag", **{name: form for name, form in schema.GROUNDS.forms.items() if name != "audit"}
        )
    told = {name for name in vars(Searched) if not name.startswith("_")} - {"sepsets", "independent_pairs", "kept_p"}
    told -= {"for_effects", "sampled"}  # what draws more graphs from the data, and the graphs before that
    assert told == {item.name for item in fields(StoredGrounds)}


def test_pairs_that_the_empty_set_separates_are_left_out_of_a_large_file(monkeypatch: pytest.MonkeyPatch) -> None:
    from anypag.results import grounds

    result = ap.learn(TABLE, method="icd", knowledge=ap.Knowledge.from_text("A !*-* E"), alpha=1e-9)
    whole = load_result(save_result(result))
    monkeypatch.setattr(grounds, "MOST_LISTED", 1)
    result = ap.learn(TABLE, method="icd", knowledge=ap.Knowledge.from_text("A !*-* E"), alpha=1e-9)
    document = save_result(result)["meta"]["anypag"]
    assert all(given for _, _, given, *_ in document["separations"]) and document["unlisted"]["rows"] == 200
    left_out = load_result(save_result(result))
    assert list(left_out.sepsets) == list(whole.sepsets) == list(result.sepsets)
    assert len(left_out.sepsets) == len(whole.sepsets)
    for pair, why in whole.sepsets.items():
        assert left_out.sepsets[pair][:1] == why[:1] and left_out.sepsets[pair].n == why.n
    assert left_out.independent_pairs(result.pag.names) == result.independent_pairs(result.pag.names)
    assert left_out.contradictions == result.contradictions
