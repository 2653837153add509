"""`anypag effect`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import anypag, write_chain

import anypag as ap
from anypag.data.files.scan import Reading
from anypag.results.result import Result


@pytest.fixture
def learned(tmp_path: Path) -> tuple[Path, Path]:
    """A result, and the data it was learned from: a --> c <-- b, c --> d."""
    data, pag = write_chain(tmp_path / "data.csv", rows=2000), tmp_path / "pag.json"
    assert anypag("learn", "--method", "icd", data, "--no-selection-bias", "--out", pag).code == 0
    return pag, data


def test_an_effect_from_a_graph(learned: tuple[Path, Path]) -> None:
    ended = anypag("effect", learned[0], "c", "d")
    assert ended.code == 0
    assert "The effect of c on d: identified, by adjustment" in ended.out
    assert "Minimal adjustment sets: none needed." in ended.out
    assert "Adjusting for a and b closes every path" in ended.out
    assert "In this graph each of these sets is as valid as the one above, which has all allowed columns" in ended.out
    assert "do as well" not in anypag("effect", learned[0], "c", "d", "--within", "d").out


def test_an_effect_from_data(learned: tuple[Path, Path]) -> None:
    pag, data = learned
    document = anypag("effect", pag, "c", "d", "--data", data, "--json").document
    assert document["status"] == "adjustment"
    assert document["minimal_sets"] == [[]]
    entry = document["estimate"]["entries"][0]
    assert entry["low"] < 1 < entry["high"]
    assert "too narrow if the graph was learned from the same rows" in document["notes"][0]


def test_given_within_and_several(learned: tuple[Path, Path]) -> None:
    pag, _ = learned
    assert "given a: identified" in anypag("effect", pag, "c", "d", "--given", "a").out
    assert anypag("effect", pag, "c", "d", "--within", "a,b", "--json").document["adjustment_set"] == ["a", "b"]
    assert anypag("effect", pag, "a,c", "d", "--json").document["cause"] == ["a", "c"]
    assert anypag("effect", pag, "d", "a", "--json").document["status"] == "zero"


def test_a_range(learned: tuple[Path, Path]) -> None:
    pag, data = learned
    ended = anypag("effect", pag, "a", "d", "--data", data)
    assert "not identified" in ended.out
    assert "Over all 4 graphs with these independences" in ended.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cc", "d"], "There is no node 'cc'"),
        (["c", "c"], "'c' is in two of them"),
        (["c", "d", "--assume", "c !<-> d"], "give a result of --method auto"),
        (["c", "d", "--model", "linear"], "The option --model goes with --data"),
    ],
)
def test_what_is_refused(learned: tuple[Path, Path], arguments: list[str], message: str) -> None:
    ended = anypag("effect", learned[0], *arguments)
    assert ended.code != 0
    assert message in ended.err


def test_selection_is_spelled_as_it_is_typed(tmp_path: Path) -> None:
    graph = tmp_path / "graph.txt"
    graph.write_text("a o-> c; b o-> c; c --> d\n")
    refused = anypag("effect", graph, "a", "d")
    assert refused.code == 1
    assert "say --no-selection-bias." in refused.err
    assert anypag("effect", graph, "a", "d", "--no-selection-bias").code == 0
    assert "among those in the sample" in anypag("effect", graph, "c", "d").out


def test_a_model_for_columns_of_both_kinds(tmp_path: Path) -> None:
    graph, data = tmp_path / "graph.txt", tmp_path / "data.csv"
    graph.write_text("a o-> c; b o-> c; c --> d\n")
    head, *lines = (line.split(",") for line in write_chain(data).read_text().splitlines())
    in_two = [[a, b, str(int(float(c) > 0)), d] for a, b, c, d in lines]
    data.write_text("\n".join(map(",".join, [head, *in_two])) + "\n")
    told = anypag("effect", graph, "c", "d", "--no-selection-bias", "--data", data)
    assert "d, c = 1 against 0: " in told.out and "without interactions" in told.out
    unsettled = anypag("effect", graph, "a", "c", "--no-selection-bias", "--data", data)
    assert unsettled.code == 0
    assert "a o-> c: this edge may hide a common cause of both" in unsettled.out
    assert "(--model linear on the command line)" in unsettled.out
    graph.write_text("a o-> b; e o-> b; b --> c\n")
    data.write_text("\n".join(map(",".join, [[*head, "e"], *([*row, f"{k % 7}.5"] for k, row in enumerate(in_two))])))
    refused = anypag("effect", graph, "b", "c", "--no-selection-bias", "--data", data)
    assert refused.code == 1
    assert "Say --model linear to treat levels as numbers" in refused.err
    graph.write_text("a o-> c; b o-> c; c --> d\n")
    ended = anypag("effect", graph, "c", "d", "--no-selection-bias", "--data", data, "--model", "linear", "--json")
    assert ended.document["estimate"]["entries"][0]["value"] > 1


@pytest.fixture
def peculiar(tmp_path: Path) -> Path:
    """A file in latin-1 with "n/a" for gaps, a column of dates, and a cause in levels."""
    random, path = np.random.default_rng(0), tmp_path / "peculiar.csv"
    size = random.normal(size=600)
    smoker = (size + random.normal(size=600) > 0).astype(int)
    height = 2 * smoker + random.normal(size=600)
    lines = [
        f"2024-01-{k % 28 + 1:02},{size[k]:.4f},{'n/a' if k % 20 == 0 else ('nein', 'ja')[smoker[k]]},{height[k]:.4f}"
        for k in range(600)
    ]
    path.write_bytes("\n".join(["Datum,Größe,smoker,height", *lines]).encode("latin-1") + b"\n")
    return path


READ = ("--encoding", "latin-1", "--gaps", "n/a")


def test_data_are_read_as_those_of_the_search_were(peculiar: Path, tmp_path: Path) -> None:
    pag = tmp_path / "pag.json"
    learned = anypag(
        "learn",
        "--method",
        "icd",
        peculiar,
        *READ,
        "--drop",
        "Datum",
        "--missing",
        "drop",
        "--no-selection-bias",
        "--out",
        pag,
    )
    assert learned.code == 0, learned.err
    ended = anypag("effect", pag, "smoker", "height", "--data", peculiar, "--model", "linear")
    assert ended.code == 0, ended.err  # "n/a" would be a third label, and the dates no data
    result = ap.read_result(pag)
    assert isinstance(result, Result)
    assert result.reading == Reading("latin-1", ("", "n/a"))
    in_python = result.effect("smoker", "height", data=peculiar, model="linear")
    assert in_python.possible is not None and in_python.possible.entries


def test_options_say_how_the_data_of_an_effect_are_read(peculiar: Path, tmp_path: Path) -> None:
    graph = tmp_path / "graph.txt"
    graph.write_text("Größe o-> smoker; A o-> smoker; smoker --> height\n")
    asked = ("effect", graph, "smoker", "height", "--no-selection-bias", "--within", "Größe")
    ended = anypag(*asked, "--data", peculiar, *READ)
    assert (
        "height, smoker = nein against ja: -" in ended.out and "30 rows with missing values were left out" in ended.out
    )
    other = tmp_path / "other.csv"
    other.write_text(peculiar.read_text("latin-1").replace("n/a", "?"))
    assert "smoker = nein against ?" in anypag(*asked, "--data", other).out
    assert "against ?" not in anypag(*asked, "--data", other, "--gaps", "?").out
    told = anypag(*asked, "--data", other, "--gaps", "?", "--kinds", "height=discrete")
    assert "'height' is discrete" in told.err
    refused = anypag(*asked, "--gaps", "?")
    assert refused.code != 0 and "--gaps goes with --data" in refused.err


def test_counts_are_remembered(tmp_path: Path) -> None:
    data, pag = tmp_path / "counts.csv", tmp_path / "pag.json"
    data.write_text("x,y,n\n0,0,300\n0,1,100\n1,0,100\n1,1,300\n")
    assert anypag("learn", "--method", "icd", data, "--counts", "n", "--no-selection-bias", "--out", pag).code == 0
    told = anypag("effect", pag, "x", "y", "--data", data, "--json").document
    assert told["possible"]["entries"][0]["high"] == 0.75
    plain = tmp_path / "plain.csv"
    plain.write_text("x,y\n" + "0,0\n1,1\n" * 20)
    assert anypag("effect", pag, "x", "y", "--data", plain).code == 0


def test_counts_that_are_typed_take_the_place_of_weights(tmp_path: Path) -> None:
    data, pag = tmp_path / "both.csv", tmp_path / "pag.json"
    data.write_text("x,y,n,w\n" + "0,0,30,2\n0,1,10,1\n1,0,10,1\n1,1,30,2\n" * 60)
    made = ("learn", "--method", "icd", data, "--drop", "n", "--weights", "w", "--no-selection-bias", "--out", pag)
    assert anypag(*made).code == 0
    told = anypag("effect", pag, "x", "y", "--data", data, "--counts", "n", "--json").document
    assert told["possible"]["entries"][0]["high"] == 0.75


def test_a_graph_of_your_own(learned: tuple[Path, Path], tmp_path: Path) -> None:
    _, data = learned
    edges = "c -> d; a -> c; b -> c"
    ended = anypag("effect", "--dag", edges, "c", "d", "--data", data)
    assert "The effect of c on d: identified, by adjustment" in ended.out
    assert "d per unit of c: 1" in ended.out or "d per unit of c: 0.9" in ended.out
    assert "too narrow" not in ended.out
    (tmp_path / "mine.txt").write_text(edges)
    assert anypag("effect", "--dag", tmp_path / "mine.txt", "c", "d", "--data", data).out == ended.out
    (tmp_path / "arrow.txt").write_text("c --> d")
    assert "--dag" in anypag("effect", tmp_path / "arrow.txt", "c", "d", "--no-selection-bias").err
    assert "CAUSE and OUTCOME" in anypag("effect", "--dag", edges, "x", "c", "d").err
    assert "OUTCOME" in anypag("effect", tmp_path / "arrow.txt", "c").err


def test_what_is_assumed(tmp_path: Path) -> None:
    data, pag = write_chain(tmp_path / "data.csv", rows=500), tmp_path / "pag.json"
    anypag("learn", data, "--no-selection-bias", "--method", "bayes", "--effort", "0.2", "--out", pag)
    ended = anypag("effect", pag, "a", "c", "--data", data, "--assume", "a !<-> c")
    assert "Assumed: a !<-> c." in ended.out and "Without that: " in ended.out


def test_learners_groups_and_clusters(learned: tuple[Path, Path], tmp_path: Path) -> None:
    pag, data = learned
    document = anypag("effect", pag, "c", "d", "--data", data, "--learner", "splines", "--by", "a", "--json").document
    assert document["estimate"]["model"] == "partially linear"
    assert len(document["along"]["entries"]) == 4 and document["robustness"]["e_value"] > 1
    lines = data.read_text(encoding="utf-8").splitlines()
    wider = tmp_path / "wider.csv"
    rows = [f"{line},{k // 2}" for k, line in enumerate(lines[1:])]
    wider.write_text("\n".join([f"{lines[0]},person", *rows]), encoding="utf-8")
    ended = anypag("effect", pag, "c", "d", "--data", wider, "--cluster", "person")
    assert ended.code == 0 and "d per unit of c: " in ended.out
    named = ("--learner", "splines,sklearn.linear_model.LinearRegression", "--json")
    assert anypag("effect", pag, "c", "d", "--data", data, *named).document["estimate"]["model"] == "partially linear"
    assert "'forest'" in anypag("effect", pag, "c", "d", "--data", data, "--learner", "forest").err
    assert "--method auto" in anypag("effect", pag, "c", "d", "--data", data, "--confounding", "0.7").err
    assert "--data" in anypag("effect", pag, "c", "d", "--by", "a").err
    ended = anypag(
        "learn", "--method", "icd", wider, "--bootstrap", "3", "--cluster", "person", "--no-selection-bias", "--json"
    )
    assert ended.code == 0 and "person" not in ended.document["result"]["graph"]["nodes"]
    assert "--cluster goes with --bootstrap" in anypag("learn", "--method", "icd", wider, "--cluster", "person").err


def test_a_result_of_several_data_sets(tmp_path: Path) -> None:
    """The file of the observed set gives the numbers, as `effect(data=pool)` does; so do files of all sets."""
    rng = np.random.default_rng(0)
    a, noise = rng.normal(size=(2, 2, 300))
    pool: dict[str, tuple[Any, ...]] = {"observed": (a[0], a[0] + noise[0]), "drug": (a[1], a[1] + noise[1] + 1)}
    files = {name: tmp_path / f"{name}.csv" for name in (*pool, "all")}
    pool["all"] = tuple(np.concatenate([pool["observed"][k], pool["drug"][k]]) for k in range(2))
    for name, columns in pool.items():
        np.savetxt(files[name], np.column_stack(columns), delimiter=",", header="a,b", comments="")
    sets = [f"{name}={files[name]}" for name in ("observed", "drug")]
    result = tmp_path / "pool.json"
    anypag("learn", *sets, "--effort", "0.2", "--out", result)
    document = anypag("effect", result, "a", "b", "--data", files["observed"], "--json").document
    read = ap.pooled({name: files[name] for name in ("observed", "drug")})
    learned = ap.read_result(result)
    assert isinstance(learned, Result)
    found = learned.effect("a", "b", data=read)
    assert document == {**found.to_dict(), "minimal_sets": document["minimal_sets"], "notes": document["notes"]}
    told = anypag("effect", result, "a", "b", "--data", files["observed"])
    assert "the set 'observed': the numbers come from its 300 rows." in told.out
    every = [part for one in sets for part in ("--data", one)]
    document = anypag("effect", result, "drug", "b", *every, "--json").document
    assert document["notes"][-1] == learned.effect("drug", "b", data=read).notes[-1]
    own = ("--data", files["observed"])
    wrong: dict[str, tuple[Any, ...]] = {
        "as many rows as all data sets": ("a", "b", "--data", files["all"]),
        "These rows are the data set 'drug'": ("a", "b", "--data", files["drug"]),
        "compares data sets: give the rows of all": ("drug", "b", *own),
        "the new search uses all data sets": ("a", "b", *own, "--assume", "a !<-> b"),
    }
    for why, asked in wrong.items():
        assert why in anypag("effect", result, *asked).err
    assert "Assumed: a !<-> b" in anypag("effect", result, "a", "b", *every, "--assume", "a !<-> b").out
