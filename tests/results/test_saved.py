from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anypag as ap
from anypag.catalogue import TEST_METHODS
from anypag.errors import FormatError
from anypag.graphs.formats.registry import read_graph, write_graph
from anypag.results.files import json_pieces, load_result, read_result, save_result, write_result
from anypag.results.result import Result
from anypag.results.schema import recorded

SAMPLE = ap.simulate.random_system(10, 2.5, n_selection=1, seed=5).linear_gaussian(400, seed=5)
DOCUMENT = save_result(ap.learn(SAMPLE, max_r=2))


@pytest.mark.parametrize("method", TEST_METHODS)
def test_all_that_a_result_tells_comes_back(method: Any, tmp_path: Path) -> None:
    result = ap.learn(SAMPLE, method=method, max_tests=200)
    path = tmp_path / "pag.json"
    write_result(result, path)
    saved = read_result(path)
    assert isinstance(saved, Result)
    for name in ("method", "pag", "history", "complete", "stopped", "test_name", "n_rows", "marks", "conflicts"):
        assert getattr(saved, name) == getattr(result, name), name
    assert recorded(saved.choices) == recorded(result.choices) and str(saved.audit) == str(result.audit)
    for name in ("n_tests", "tests", "r"):
        assert getattr(saved, name) == getattr(result, name), name
    assert dict(saved.sepsets) == dict(result.sepsets)
    for a, b in result.sepsets:
        assert saved.sepsets[b, a] == result.sepsets[b, a]
    for edge in result.pag.edges():
        assert saved.kept_p(edge.b, edge.a) == result.kept_p(edge.a, edge.b)
    assert str(saved) == str(result)
    assert save_result(saved) == save_result(result)


def test_any_reader_of_graphs_reads_it(tmp_path: Path) -> None:
    result = ap.learn(SAMPLE, method="icd")
    write_result(result, tmp_path / "pag.json")
    assert read_graph(tmp_path / "pag.json") == result.pag


def test_a_bare_graph_comes_back_bare(tmp_path: Path) -> None:
    graph = ap.PAG.from_string("A o-> B")
    for name in ("graph.json", "graph.txt"):
        write_graph(graph, tmp_path / name)
        assert read_result(tmp_path / name) == graph
    with pytest.raises(FormatError, match="holds a graph but not how it was learned"):
        load_result(json.loads((tmp_path / "graph.json").read_text()))


def test_what_is_not_known_is_null() -> None:
    result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; C")), time_budget=1e-9)
    document = save_result(result)
    assert document["meta"]["anypag"]["kept"] == [[0, 1, None], [0, 2, None], [1, 2, None]]
    saved = load_result(document)
    assert math.isnan(saved.kept_p("A", "B")) and saved.n_rows is None and saved.r == -1
    assert ("A", "C") not in saved.sepsets


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
def test_the_layout_does_not_change_a_document(value: Any) -> None:
    assert json.loads("".join(json_pieces({"value": value}))) == {"value": value}


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in _places(item, (*path, key)))]


DOCUMENTS = {
    "icd": DOCUMENT,
    "bayes": save_result(ap.learn(SAMPLE, method="bayes", effort=0.02, knowledge=ap.Knowledge.from_text("X1 ~> X2"))),
    "resamples": save_result(ap.bootstrap(SAMPLE, n=3, max_r=0).result),
}
PLACES = [(name, place) for name, document in DOCUMENTS.items() for place in _places(document) if place]
NONSENSE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2,
    10**30,
    10**400,
    10**5000,
    0.5,
    1e999,
    float("nan"),
    "x",
    "",
    "\ud800",
    [],
    {},
    [[]],
    [0, 1],
    [0, 0, "o->"],
    [[0, 1, 0.5], [0, 1, 0.5]],
    ["uint8", [10**9, 10**9], "eJwDAAAAAAE="],
    {"0": 0},
    {"statements": [{"kind": "causes", "left": ["nobody"], "right": "*"}]},
    "o->",
    [1, 2, 3, 4, 5, 6],
)


@given(st.sampled_from(PLACES), st.sampled_from(NONSENSE) | st.just("remove"))
def test_a_broken_document_is_refused_or_read(at: tuple[str, tuple[Any, ...]], nonsense: Any) -> None:
    """Every sentence and every view of what is read works, too."""
    document = copy.deepcopy(DOCUMENTS[at[0]])
    inner, place = document, at[1]
    for key in place[:-1]:
        inner = inner[key]
    if nonsense == "remove":
        del inner[place[-1]]
    else:
        inner[place[-1]] = nonsense
    try:
        read = load_result(document)
    except FormatError as error:
        assert str(error)
        return
    try:
        assert str(read) and read.edge_table() and read._repr_html_() and str(read.stability)
        save_result(read)
    except ap.AnypagError as error:
        assert str(error)


@pytest.mark.parametrize("document", [None, 3, [], {}, {"format": "caugi"}])
def test_what_is_no_document(document: Any) -> None:
    with pytest.raises(FormatError):
        load_result(document)


ROWS = st.lists(
    st.lists(
        st.one_of(st.integers(-9, 9), st.none(), st.sampled_from(["a", "], [", '"], ["']), st.lists(st.integers(0, 3))),
        max_size=4,
    ),
    min_size=1,
    max_size=6,
)


@given(ROWS)
def test_every_row_has_a_line_whatever_is_in_it(rows: list[list[Any]]) -> None:
    """Also lists side by side within a row, and names that look like the end of one."""
    text = "".join(json_pieces({"rows": rows}))
    assert json.loads(text) == {"rows": rows}
    assert [json.loads(line.strip().rstrip(",")) for line in text.splitlines()[2:-2]] == rows


@pytest.mark.parametrize("missing", ["error", "pairwise"])
def test_separations_one_by_one_and_all_at_once(missing: Any) -> None:
    system = ap.simulate.random_system(14, 2.5, seed=4)
    sample = system.linear_gaussian(300, seed=4)
    columns = {name: np.array(sample[name]) for name in sample.names[::-1]}
    if missing == "pairwise":
        columns[sample.names[3]][:40] = np.nan
    sepsets = ap.learn(columns, method="icd", missing=missing).sepsets
    assert list(sepsets.items()) == [(pair, sepsets[pair]) for pair in sepsets]
    assert len(sepsets) == len(list(sepsets)) > 20
    assert any(len(why.given) > 1 for why in sepsets.values())
    if missing == "pairwise":
        assert len({why.n for why in sepsets.values()}) > 1
