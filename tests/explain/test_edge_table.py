"""The edge table: all pairs, in columns that dataframe libraries take, and as CSV."""

import csv
import io
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import anypag as ap
from anypag.explain import COLUMNS, edge_csv, edge_table, explain, write_edge_table
from anypag.results.result import Result


def learned() -> Result:
    system = ap.simulate.random_system(9, 2.0, seed=3)
    return ap.learn(system.linear_gaussian(400, seed=3), method="icd")


def test_every_pair_once_the_edges_first() -> None:
    result = learned()
    table = edge_table(result)
    n = len(result.pag)
    assert tuple(table) == COLUMNS
    assert {len(column) for column in table.values()} == {n * (n - 1) // 2}
    n_edges = len(result.pag.edges())
    assert [edge != "" for edge in table["edge"]] == [True] * n_edges + [False] * (n * (n - 1) // 2 - n_edges)
    pairs = zip(table["from"], table["edge"], table["to"], strict=True)
    edges = [str(edge.forward()) for edge in result.pag.edges()]
    assert [f"{a} {symbol} {b}" for a, symbol, b in pairs][:n_edges] == edges


def test_rows_agree_with_the_result() -> None:
    result = learned()
    table = edge_table(result)
    rules = {(reason.at, reason.other): f"R{reason.rule}" for reason in result.marks}
    for row in (dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)):
        a, b = row["from"], row["to"]
        if row["edge"]:
            assert row["p"] == result.kept_p(a, b)
            assert (row["rule_from"], row["rule_to"]) == (rules.get((a, b)), rules.get((b, a)))
            assert row["given"] is None and row["r"] is None
        else:
            found = result.sepsets[a, b]
            assert (row["given"], row["p"], row["r"], row["n"]) == (list(found.given), found.p, found.r, found.n)
            assert row["mark_from"] == row["mark_to"] == "none"


def test_tests_and_rules_of_auto_are_those_by_tests() -> None:
    data = ap.simulate.random_system(9, 2.0, seed=3).linear_gaussian(400, seed=3)
    result = ap.learn(data, effort=0.1)
    tests, table = result.by_tests, edge_table(result)
    assert tests is not None and tests is not result
    rules = {(reason.at, reason.other): (reason.mark, f"R{reason.rule}") for reason in tests.marks}
    filled = set()
    for row in (dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)):
        a, b = row["from"], row["to"]
        ours, theirs = result.pag.edge(a, b), tests.pag.edge(a, b)
        found = None if ours else tests.sepsets.get((a, b))
        p = tests.kept_p(a, b) if ours and theirs else found and found.p
        assert (row["p"], row["given"], row["r"]) == (p, found and list(found.given), found and found.r)
        for end, at, other in (("from", a, b), ("to", b, a)):
            mark, rule = rules.get((at, other), (None, None))
            own = ours and (ours.mark_a if end == "from" else ours.mark_b)
            assert row[f"rule_{end}"] == (rule if ours and theirs and mark == own else None)
            filled |= {row[f"rule_{end}"]}
        filled |= {row["given"] is not None, ours is not None and row["p"] is None}
        assert row["in_words"] == explain(result, a, b).summary
    assert {True, False, None, "R0"} <= filled


def test_dataframes_take_it_as_it_is() -> None:
    table = edge_table(learned())
    assert pd.DataFrame(table).shape == pl.DataFrame(table).shape == (len(table["from"]), len(COLUMNS))


def test_edges_alone() -> None:
    result = learned()
    assert len(edge_table(result, non_edges=False)["edge"]) == len(result.pag.edges())


def test_csv_holds_odd_names(tmp_path: Path) -> None:
    pag = ap.PAG.from_string('"a, ""b"""'.replace('""', '\\"') + ' o-> "c;\\nd"')
    path = tmp_path / "edges.csv"
    write_edge_table(pag, path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["from"], row["edge"], row["to"]) for row in rows] == [(pag.names[0], "o->", pag.names[1])]


def test_separating_sets_in_csv_can_be_told_apart() -> None:
    dag = ap.DAG.from_string('A --> "b; c"; A --> d; "b; c" --> E; d --> E')
    rows = list(csv.DictReader(io.StringIO(edge_csv(ap.learn(ap.Oracle(dag))))))
    assert [row["given"] for row in rows if (row["from"], row["to"]) == ("A", "E")] == ['"b; c"; d']


def test_results_have_it_as_methods() -> None:
    result = learned()
    assert result.edge_table(non_edges=False) == edge_table(result, non_edges=False)
    a, b = next(iter(result.sepsets))
    assert result.explain(a, b) == explain(result, a, b)


def test_a_table_without_rows_has_its_columns() -> None:
    for graph, non_edges in (("A; B; C", False), ("A", True)):
        pag = ap.PAG.from_string(graph)
        assert edge_table(pag, non_edges=non_edges) == {column: [] for column in COLUMNS}
        assert edge_csv(pag, non_edges=non_edges) == ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-2", "@SUM(A1)", "\tx", "\rx"])
def test_no_cell_begins_a_formula(name: str) -> None:
    result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; C --> B; B --> D").relabel({"A": name, "B": f"{name}!"})))
    rows = list(csv.DictReader(io.StringIO(edge_csv(result), newline="")))
    starts = {row[column][:1] for row in rows for column in ("from", "to", "in_words", "given")}
    assert not starts & set("=+-@\t\r")
    assert {row["from"] for row in rows} | {row["to"] for row in rows} == {f"'{name}", f"'{name}!", "C", "D"}
    table = edge_table(result)
    assert set(table["from"]) | set(table["to"]) == {name, f"{name}!", "C", "D"}
