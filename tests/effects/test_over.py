"""One effect over several graphs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.effects.over_graphs import EffectOver
from anypag.errors import ContradictionError
from anypag.graphs.base import MixedGraph

TEXTS = (
    "A o-> X; B o-> X; X --> Y; A --> Y",
    "A o-> X; B o-> X; X --> Y",
    "A o-> X; B o-> X; X <-> Y; C o-> Y",
    "A o-o X; X o-o Y; B",
    "A --> B; B o-o X; X o-o Y",
)


def effect_over(graphs: Iterable[MixedGraph], cause: str, outcome: str, data: Any) -> EffectOver:
    """The effect in each graph; one that contradicts itself counts as refused."""

    def answer(graph: MixedGraph) -> ap.Effect | None:
        try:
            return ap.effect(graph, cause, outcome, selection_bias=False)
        except ContradictionError:
            return None

    return EffectOver.of(map(answer, graphs), "graphs").estimated(data)


def test_counts_and_range() -> None:
    graphs = [ap.PAG.from_string(text, ["A", "B", "C", "X", "Y"]) for text in TEXTS]
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 5000))
    x = a + b + rng.normal(size=5000)
    data = {"A": a, "B": b, "C": c, "X": x, "Y": x + a + rng.normal(size=5000)}
    found = effect_over(graphs, "X", "Y", data)
    assert found.statuses == {"adjustment": 2, "zero": 1, "unidentified": 1, "refused": 1}
    assert (found.n, found.n_identified) == (5, 3)
    (values,) = found.values.values()
    np.testing.assert_allclose(values, (1, 1, 0), atol=0.05)
    first, second = str(found).splitlines()
    assert first == "Identified in 3 of 5 graphs, 1 of which says that there is no effect; 1 contradicts itself."
    assert second.startswith("  Y per unit of X: median 1.0")
    assert second.split("from ")[1].startswith("0 to 1.0")


def test_tables_have_a_range_for_each_probability() -> None:
    rows = {name: np.tile([0, 1, 1, 0], 50) for name in "AB"} | {"X": np.tile([0, 1], 100), "Y": np.tile([1, 0], 100)}
    graphs = [ap.PAG.from_string(text, ["A", "B", "C", "X", "Y"]) for text in TEXTS[1:3]]
    found = effect_over(graphs, "X", "Y", rows | {"C": np.tile([0, 0, 1, 1], 50)})
    assert list(found.values) == [f"P(Y = {y} | do(X = {x}))" for x in (0, 1) for y in (0, 1)]
    assert found.values["P(Y = 1 | do(X = 0))"] == (1.0, 0.5)


def study(rows: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    age, stress = rng.normal(size=(2, rows))
    smoking = age + stress + rng.normal(size=rows)
    cancer = 0.7 * smoking + 0.5 * age + rng.normal(size=rows)
    return {"age": age, "stress": stress, "smoking": smoking, "cancer": cancer}


def test_a_result_with_resamples_tells_them() -> None:
    data = study(600, 0)
    boot = ap.bootstrap(data, 12, selection_bias=False)
    found = boot.effect("smoking", "cancer", data=data)
    over = effect_over(boot.graphs, "smoking", "cancer", data)
    assert found.over is not None
    assert (found.over.n, found.over.statuses, found.over.values) == (12, over.statuses, over.values)
    assert found.over.n_identified >= 6
    smallest, median, largest = found.to_dict()["resamples"]["values"]["cancer per unit of smoking"].values()
    assert smallest <= median <= largest
    assert median == pytest.approx(0.7, abs=0.15)
    assert f"Identified in {over.n_identified} of 12 resamples" in str(found)
    assert boot.effect("smoking", "cancer").over is not None
    assert boot.effect("smoking", "cancer").over.values == {}  # type: ignore[union-attr]
    assert ap.effect(boot.result.pag, "smoking", "cancer", selection_bias=False).over is None


def test_a_saved_result_has_the_graphs_of_its_resamples(tmp_path: Path) -> None:
    boot = ap.bootstrap(study(300, 1), 8, selection_bias=False)
    boot.save(tmp_path / "pag.json")
    again = ap.read_result(tmp_path / "pag.json")
    assert not isinstance(again, MixedGraph)
    assert again.stability is not None
    assert again.stability.graphs == boot.graphs
    assert again.effect("smoking", "cancer").over == boot.effect("smoking", "cancer").over


def test_marks_that_rest_on_knowledge_are_left_out_in_resamples_too() -> None:
    known = ap.Knowledge.from_text("stress ~> cancer")
    boot = ap.bootstrap(study(600, 0), 6, selection_bias=False, knowledge=known)
    without = ap.bootstrap(study(600, 0), 6, selection_bias=False)
    told, bare = (one.effect("stress", "smoking").over for one in (boot, without))
    assert told is not None
    assert bare is not None
    assert told.statuses.get("adjustment", 0) == bare.statuses.get("adjustment", 0)


def weak(rows: int, seed: int) -> dict[str, Any]:
    """Half of the rows do not see that the cause has one."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, rows))
    x = 0.2 * a + 0.2 * b + rng.normal(size=rows)
    return {"a": a, "b": b, "x": x, "y": x + rng.normal(size=rows)}


def test_a_split_says_whether_all_rows_say_the_same() -> None:
    data = study(4000, 0)
    same = ap.learn(data, selection_bias=False).effect("smoking", "cancer", data=data, split=0.5)
    assert "The graph of all rows gives an answer of the same kind." in same.notes
    data = weak(600, 1)
    result = ap.learn(data, selection_bias=False)
    parted = result.effect("x", "y", data=data, split=0.5)
    assert parted.status != result.effect("x", "y").status
    told = str(parted)
    assert "The graph of all rows says otherwise: identified, by adjustment for " in told
    assert "The two graphs differ in" in told and "An answer that changes with the rows is settled by neither" in told
    boot = ap.bootstrap(data, 4, selection_bias=False).result
    assert "Of all rows: Identified in " in str(boot.effect("x", "y", data=data, split=0.5))
