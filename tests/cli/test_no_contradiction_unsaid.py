"""Every output of every command is read back: whatever claims in it contradict each other, it says so.

Claims are found in the words of the outputs (`A is a cause of B`, ...) and in the edges they show; that they contradict
each other is decided by definition, in `naive_claims` below, and not by what the program thinks of itself.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from commands import anypag

import anypag as ap
from anypag.graphs.marks import EDGE_SYMBOLS, Mark
from anypag.graphs.reasoning.contradictions import Assertion, contradictions
from anypag.results.result import Result

SAYS_SO = re.compile(r"cannot all be true|No system of variables, hidden ones included, has exactly this graph")
EDGE = re.compile(r"^\s*(v\d+) ([o<-]-[o>-]) (v\d+)", re.MULTILINE)
INDEPENDENT = re.compile(r"(v\d+) and (v\d+) are independent: neither is a cause of the other")


def write(path: Path, columns: dict[str, object]) -> Path:
    """A table whose columns are v0, v1, ..., so that words can be read back."""
    import polars

    frame = polars.DataFrame({f"v{i}": list(column) for i, column in enumerate(columns.values())})  # type: ignore[call-overload]
    frame.write_csv(path)
    return path


def table_of(name: str, folder: Path) -> Path:
    path = folder / f"{name}.csv"
    if name.startswith("simulated"):
        seed = int(name.split()[1])
        system = ap.simulate.random_system(30 if seed == 21 else 12, 2.5, n_selection=int(seed == 1), seed=seed)
        rows = 200 if seed == 21 else 60
        sample = system.discrete(150, seed=seed) if seed == 3 else system.linear_gaussian(rows, seed=seed)
        return write(path, dict(sample))
    from sklearn import datasets

    bundle = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = bundle.frame
    columns = {column: frame[column].to_numpy() for column in frame.columns}
    if name != "diabetes":
        columns["target"] = [f"kind {k}" for k in columns["target"]]
    return write(path, columns)


def statements(edges: Iterable[tuple[str, str, str]], words: str) -> list[Assertion]:
    """What edges and words of an output say."""
    said = [Assertion("independent", a, b) for a, b in INDEPENDENT.findall(words)]
    for a, symbol, b in edges:
        for at, other, mark in zip((a, b), (b, a), EDGE_SYMBOLS[symbol], strict=True):
            if mark != Mark.CIRCLE:
                said.append(Assertion("cause" if mark == Mark.TAIL else "not", at, other))
    return said


def naive_claims(said: Iterable[Assertion]) -> bool:
    """Do they contradict each other: a chain of causes from A to B, and A no cause of B, or A and B independent?

    Tails at variables without an arrowhead may be about selection, and count for nothing here.
    """
    said = set(said)
    nobody_selects = {s.a for s in said if s.kind == "not"}
    leads = {(s.a, s.b) for s in said if s.kind == "cause" and s.a in nobody_selects}
    while True:
        longer = leads | {(a, d) for a, b in leads for c, d in leads if b == c}
        if longer == leads:
            break
        leads = longer
    denied = {(s.a, s.b) for s in said if s.kind == "not"}
    apart = {(s.a, s.b) for s in said if s.kind == "independent"}
    shared = {(b, d) for a, b in leads for c, d in leads if a == c and b != d}
    return bool(
        leads & denied or any(a == b for a, b in leads) or (leads | shared) & (apart | {p[::-1] for p in apart})
    )


def read_edges(text: str) -> list[tuple[str, str, str]]:
    return [(a, symbol, b) for a, symbol, b in EDGE.findall(text) if symbol in EDGE_SYMBOLS]


def check(name: str, edges: Iterable[tuple[str, str, str]], words: str) -> None:
    if naive_claims(statements(edges, words)):
        assert SAYS_SO.search(words), f"{name} contradicts itself and does not say so"


TABLES = ["iris", "wine", "diabetes", "breast_cancer", *(f"simulated {seed}" for seed in (0, 1, 2, 3, 21))]


@pytest.mark.parametrize("name", TABLES)
def test_whatever_contradicts_itself_says_so(name: str, tmp_path: Path) -> None:
    data, alpha = table_of(name, tmp_path), "0.05" if name.startswith("simulated") else "0.01"
    files = [tmp_path / f"out.{ending}" for ending in ("json", "csv", "svg", "html", "txt")]
    outs: list[str | Path] = [part for path in files for part in ("--out", path)]
    learned = anypag("learn", "--method", "icd", data, "--alpha", alpha, "--singular", "keep", *outs)
    assert learned.code == 0, learned.err
    assert "If the tests are right:" in learned.out
    result = ap.read_result(files[0])
    assert isinstance(result, Result)
    edges = [(edge.a, edge.symbol, edge.b) for edge in result.pag.edges()]
    document = json.loads(files[0].read_text())["meta"]["anypag"]
    assert document["valid"] is result.valid
    assert [row[0] for row in document["contradictions"]] == [str(item) for item in result.contradictions]

    check("learn", read_edges(learned.out), learned.out)
    check("str", edges, str(result))
    check("json", edges, files[0].read_text())
    check("txt, by what learn said of it", edges, learned.out)
    shown = anypag("show", files[0]).out
    check("show", edges, shown)
    check("show --json", edges, anypag("show", files[0], "--json").out)
    check("convert", edges, anypag("convert", files[0], tmp_path / "again.dot").out)
    table = files[1].read_text()
    rows = list(csv.DictReader(io.StringIO(table)))
    check("csv", [(row["from"], row["edge"], row["to"]) for row in rows if row["edge"]], table)
    if result.contradictions:
        assert 'class="banner"' in files[2].read_text()
        page = json.loads(files[3].read_text().split('id="content">')[1].split("</script>")[0])
        assert page["consistency"]["is_alarm"] and SAYS_SO.search(" ".join(page["consistency"]["banner"]))
    for item in result.contradictions[:3]:
        for a, b in item.pairs:
            text = anypag("explain", files[0], a, b).out.splitlines()
            assert any(line.strip() == f"In a contradiction: {item}" for line in text[1:5])


def test_this_test_would_notice() -> None:
    said = statements([("v0", "<->", "v9"), ("v0", "-->", "v1"), ("v1", "-->", "v2"), ("v0", "<->", "v2")], "")
    assert naive_claims(said)
    with pytest.raises(AssertionError, match="contradicts itself"):
        check("x", [("v0", "-->", "v1"), ("v1", "-->", "v2"), ("v0", "<->", "v2")], "all is well")


def test_conflicts_of_evidence_leave_circles_on_iris(tmp_path: Path) -> None:
    result = ap.learn(table_of("iris", tmp_path), method="icd")
    assert contradictions(result.pag) == ((), True)
    assert result.conflicts
    assert result.valid is False


def test_one_of_the_tables_does_contradict_itself(tmp_path: Path) -> None:
    result = ap.learn(table_of("simulated 21", tmp_path), method="icd", alpha=0.05)
    edges = [(edge.a, edge.symbol, edge.b) for edge in result.pag.edges()]
    words = "\n".join(result.edge_table()["in_words"])
    assert naive_claims(statements(edges, words))
    assert str(result.contradictions[0]).endswith("are independent: these cannot all be true.")
