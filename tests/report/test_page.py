"""The report as a file: self-contained, nothing breaks out of it, whatever the result it is made from."""

import json
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.catalogue import METHODS, TESTS
from anypag.ci.data_test import DataTest
from anypag.cli.options import spelled
from anypag.data.findings import Audit, Finding
from anypag.explain.sampled import LIKELY
from anypag.markup import shown_share
from anypag.report import report_html, write_report
from anypag.report.content import MOST_DIFFERENCES
from anypag.report.page import as_json
from anypag.results.files import load_result, save_result
from anypag.results.result import Result
from report_examples import contradicting
from result_examples import resting_on

HOSTILE = "<img src=x onerror=alert(1)>"
BREAKOUT = "</script><script>alert(1)</script>\u2028<!--"


def learned(text: str, **options: object) -> Result:
    return ap.learn(ap.Oracle(ap.DAG.from_string(text)), **options)  # type: ignore[arg-type]


def with_audit(result: ap.Result, finding: Finding) -> Result:
    return resting_on(load_result(save_result(result)), audit=Audit.of([finding]))


def content_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.S)
    assert found is not None
    content: dict[str, object] = json.loads(found[1])
    return content


def test_the_page_needs_nothing_from_outside() -> None:
    page = report_html(learned("A --> B; B --> C"))
    assert set(re.findall(r"https?://[^\"' )]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|<img|<iframe|\bsrc=|@import|url\(", page)
    assert "default-src 'none'" in page


@pytest.mark.parametrize("name", [HOSTILE, BREAKOUT, "{a} {b}", '"quoted" & more', "line\nbreak"])
def test_hostile_names_stay_inside_their_strings(name: str) -> None:
    dag = ap.DAG.from_string("A --> B; C --> B; B --> D").relabel({"B": name, "A": name + "2"})
    finding = Finding("warning", "odd", (name,), f"About {name}.", f"Rename {name}.")
    page = report_html(with_audit(ap.learn(ap.Oracle(dag)), finding), call=f"learn {name}")
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "\u2028" not in page
    assert name in content_of(page)["names"]  # type: ignore[operator]


@settings(max_examples=200)
@given(
    st.recursive(
        st.text() | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_embedded_json_reads_back_and_never_leaves_its_element(value: object) -> None:
    text = as_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")


def test_frames_are_the_history_and_the_words_are_those_of_explain() -> None:
    result = ap.learn(ap.simulate.random_system(12, 2.5, seed=5).linear_gaussian(500, seed=5), method="icd")
    content = content_of(report_html(result))
    lines, frames, edges = content["lines"], content["frames"], content["edges"]
    assert isinstance(lines, list) and isinstance(frames, list) and isinstance(edges, list)
    names = result.pag.names
    for item, frame in zip(result.history, frames, strict=True):
        shown = [
            ap.Edge(names[lines[k][0]], names[lines[k][1]], ap.Mark(a), ap.Mark(b)) for k, a, b, _ in frame["edges"]
        ]
        assert ap.PAG.from_edges(shown, names) == item.pag
    from anypag.explain import explain

    for edge, row in zip(result.pag.edges(), edges, strict=True):
        assert row["summary"] == explain(result, edge.a, edge.b).summary


def test_a_run_that_stopped_before_its_first_iteration() -> None:
    result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C; C --> D")), time_budget=1e-9)
    assert not result.history
    end = content_of(report_html(result))["made"]["end"]  # type: ignore[index]
    assert (
        end == "Stopped early: the time budget is spent before the first iteration was finished; nothing is known yet."
    )


def test_a_saved_result_gives_the_same_report() -> None:
    result = ap.learn(ap.simulate.random_system(8, 2.0, seed=1).linear_gaussian(300, seed=1), method="icd")
    assert content_of(report_html(load_result(save_result(result)))) == content_of(report_html(result))


def test_an_early_stop_is_said() -> None:
    result = learned("M --> A; M --> C; D --> A; E --> C", stop=lambda state, info: True)
    end = content_of(report_html(result))["made"]["end"]  # type: ignore[index]
    assert end.startswith("Stopped early: `stop` said so. The graph is complete up to r = 0 (10 tests, ")
    assert end.endswith(" s). If the test is perfect, at such a stop every claim is right.")


def test_an_early_stop_of_a_search_by_score_speaks_of_no_tests() -> None:
    data = ap.simulate.random_system(8, 2.0, seed=1).linear_gaussian(300, seed=1)
    result = ap.learn(data, method="bayes", stop=lambda state, info: True)
    end = content_of(report_html(result))["made"]["end"]  # type: ignore[index]
    assert end.startswith("Stopped early: `stop` said so. The graph is the one that scores best so far (0 tests, ")
    assert "condition sets would" not in report_html(result)
    edge = result.pag.edges()[0]
    assert "condition sets" not in str(result.explain(edge.a, edge.b))


def test_the_call_the_choices_and_the_versions_are_there() -> None:
    made = content_of(report_html(learned("A --> B; B --> C", alpha=0.05), call="anypag learn x.csv"))["made"]
    assert isinstance(made, dict)
    assert made["call"] == "anypag learn x.csv"
    assert made["choices"]["method"].startswith("icd: by tests alone: A score is needed")
    assert made["choices"]["alpha"] == "0.05"
    assert made["choices"]["selection_bias"] == "yes"
    assert {"Python", "anypag", "numpy", "numba"} <= made["versions"].keys()


def test_an_older_report_stays_when_the_new_one_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(ap.AnypagError, match="pip install igraph"):
        write_report(learned("A --> B"), path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_effects_are_those_of_effect() -> None:
    result = learned("A --> C; B --> C; C --> D; A --> D", selection_bias=False)
    shown = content_of(report_html(result))["effects"]
    assert isinstance(shown, dict)
    assert shown["none"] is None
    rows = {(i, j): rest for i, j, *rest in shown["pairs"]}
    names = result.pag.names
    for i, cause in enumerate(names):
        for j, outcome in enumerate(names):
            if i != j:
                found = result.effect(cause, outcome)
                row = rows.get((i, j))
                assert (row is None) == (found.status == "zero")
                assert row is None or row[1:] == [found.reason, found.formula]


def test_no_effect_is_said_only_where_there_is_none() -> None:
    """Of a large graph pairs without an edge are not worked out, but `V0` may still cause `V2`."""
    result = learned("; ".join(f"V{k} --> V{k + 1}" for k in range(24)), selection_bias=False)
    shown: Any = content_of(report_html(result))["effects"]
    rows = {(result.pag.names[i], result.pag.names[j]): heading for i, j, heading, *_ in shown["pairs"]}
    assert rows["V0", "V2"] == "not worked out" and rows["V24", "V0"] == "not worked out"
    colliding = learned("; ".join(f"V{k} --> V{k + 1}; W{k} --> V{k + 1}" for k in range(12)), selection_bias=False)
    shown = content_of(report_html(colliding))["effects"]
    rows = {(colliding.pag.names[i], colliding.pag.names[j]): heading for i, j, heading, *_ in shown["pairs"]}
    assert rows["V1", "V5"] == "not worked out"
    assert ("V5", "V1") not in rows and colliding.effect("V5", "V1").status == "zero"


def test_what_each_test_needs_is_said() -> None:
    saved = load_result(save_result(learned("A --> C; B --> C")))
    for module, name, _ in TESTS.values():
        fits = getattr(import_module(module), name).fits
        assert fits != DataTest.fits
        content: Any = content_of(report_html(resting_on(saved, test=name, exact=False)))
        assert f"The test fits the data: {fits}." in content["assumed"]
    content = content_of(report_html(resting_on(saved, test="Mine", exact=False)))
    assert "The test fits the data: as its author says." in content["assumed"]


@pytest.mark.parametrize(("method", "behind"), [("icd", "tests"), ("boss", "scores")])
def test_what_is_wrong_is_what_the_search_went_by(method: str, behind: str) -> None:
    saved = replace(load_result(save_result(contradicting())), method=method, facts=METHODS[method])
    content: Any = content_of(report_html(saved))
    assert f"at least one of the {behind} behind it must be wrong." in content["made"]["valid"]


@pytest.mark.parametrize(("options", "why"), [({"selection_bias": False, "max_r": 0}, "The search stopped early")])
def test_why_there_are_no_effects(options: dict[str, object], why: str) -> None:
    shown = content_of(report_html(learned("A --> C; B --> C; C --> D", **options)))["effects"]
    assert isinstance(shown, dict)
    assert why in shown["none"]
    assert shown["pairs"] == []


def test_where_the_sample_may_be_selected_the_page_says_what_effect_says() -> None:
    result = learned("A --> C; B --> C; C --> D; A --> D")
    shown: Any = content_of(report_html(result))["effects"]
    told = {(result.pag.names[i], result.pag.names[j]): [heading, why] for i, j, heading, why, _ in shown["pairs"]}
    assert shown["none"] is None and "among those in the sample" in shown["zero"][1]
    assert told["C", "D"][0] == "identified, by adjustment"
    assert "among those in the sample" in told["C", "D"][1]
    assert told["A", "C"][0] == "not answered"
    with pytest.raises(ap.AnypagError, match="among those in the sample"):
        result.effect("A", "C")


def test_sampled_effects_are_those_of_effect() -> None:
    data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C; C --> D"), 400, seed=1)
    result = ap.learn(data, method="bayes", effort=0.1, selection_bias=False)
    page: Any = content_of(report_html(result, data=data))
    shown = page["effects"]["sampled"]
    assert len(shown) == 12
    for i, j, heading, lines, picture in shown:
        found = result.effect(result.pag.names[i], result.pag.names[j], data=data)
        assert str(found).startswith(heading)
        assert lines[0] in str(found)
        assert picture == found.plot()
    bare: Any = content_of(report_html(result))
    assert all("median" not in row[4] and "no effect" in row[4] for row in bare["effects"]["sampled"])


def test_contradictions_and_withdrawn_marks_are_in_the_page() -> None:
    content: Any = content_of(report_html(contradicting()))
    assert content["consistency"]["is_alarm"]
    assert content["consistency"]["banner"][1].endswith("these cannot all be true.")
    assert content["consistency"]["lines"] == [0, 1, 2]
    assert content["consistency"]["withdrawn"] == [[0], []]
    assert content["consistency"]["if_right"] == "If the tests are right:"
    assert all(edge["contradictions"] for edge in content["edges"])
    calm: Any = content_of(report_html(learned("A --> B; B --> C")))
    assert calm["consistency"] == {"banner": [], "is_alarm": False, "lines": [], "if_right": None, "withdrawn": []}


def test_the_command_line_reads_its_own_words_and_what_to_do_about_contradictions() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    with pytest.warns(ap.AnypagWarning):
        curved = ap.learn({"x": x, "y": x**2 + rng.normal(size=300), "z": rng.normal(size=300)}, method="icd")
    as_python: Any = content_of(report_html(curved))["audit"]
    as_typed: Any = content_of(report_html(curved, spell=spelled))["audit"]
    assert 'test="additive"' in as_python[0]["more"] and "--test additive" in as_typed[0]["more"]
    banner: Any = content_of(report_html(contradicting()))["consistency"]
    assert banner["banner"][-1].startswith("What to do: ")


def test_the_page_says_what_the_audit_did_not_check() -> None:
    table = {"x": [0.5, 1.5, 2.5, 0.5], "y": [0.5, 0.25, 0.5, 3.5], "n": [20, 11, 13, 17]}
    result = ap.learn(ap.counted(table, "n"), method="icd")
    content: Any = content_of(report_html(result))
    assert result.audit is not None and content["notes"] == list(result.audit.all_notes)
    assert "rows in time order (a table of counts has no order of rows)." in content["notes"][-1]
    assert "content.notes" in report_html(result)


def test_a_graph_with_knowledge_says_what_was_and_was_not_found_out() -> None:
    system = ap.Oracle(ap.DAG.from_string("A --> B; B --> C"))
    result = ap.learn(system, method="icd", knowledge=ap.Knowledge.from_text("A ~> B"))
    content: Any = content_of(report_html(result))
    assert result.valid is None and not result.contradictions
    assert content["made"]["valid"].startswith("No two claims of the graph contradict each other.")


@pytest.fixture(scope="module")
def sampled() -> Result:
    system = ap.simulate.random_system(7, 2.5, seed=1)
    data = ap.simulate.linear_gaussian(system.dag, 150, latent=system.latent, seed=1)
    return ap.learn(data, method="bayes", effort=0.1)


def test_the_most_probable_graphs_stand_beside_each_other_with_what_differs(sampled: Result) -> None:
    """Compared with the posterior, pair by pair."""
    content: Any = content_of(report_html(sampled))
    posterior = sampled.posterior
    assert posterior is not None
    classes = posterior.classes()
    assert len(content["probable"]["graphs"]) == 3 < len(classes)
    for (told, _, differences), (pag, share) in zip(content["probable"]["graphs"], classes, strict=False):
        assert told == shown_share(share)
        differs = np.triu((pag.marks != sampled.pag.marks) | (pag.marks != sampled.pag.marks).T)
        assert len(differences) == min(differs.sum(), MOST_DIFFERENCES + 1)
    assert any(f"{len(classes)} different ones" in sentence for sentence in content["probable"]["about"])


def test_what_is_told_in_the_page_is_as_sure_as_its_probability(sampled: Result) -> None:
    content: Any = content_of(report_html(sampled))
    said, names = sampled.probabilities, content["names"]
    assert said is not None
    assert content["by_scores"]
    assert content["consistency"]["if_right"] == "If the scores are right:"
    for edge, row in zip(sampled.pag.edges(), content["edges"], strict=True):
        assert row["probability"] == said.of_edge(edge.a, edge.b, edge.symbol)
        assert row["joined"] == said.of_any_edge(edge.a, edge.b)
        assert row["summary"] == sampled.explain(edge.a, edge.b).summary
        assert row["meanings"] == [end.meaning for end in sampled.explain(edge.a, edge.b).ends]
    assert content["probable"]["has_unlikely"] == any(round(row["probability"], 2) < LIKELY for row in content["edges"])
    assert content["apart"]
    for i, j, *_, probability, notes in content["apart"]:
        explanation = sampled.explain(names[i], names[j])
        assert probability == explanation.probability
        assert tuple(notes) == (explanation.notes if probability < 1 else ())


def test_a_report_of_a_file_shows_the_same_probable_graphs(sampled: Result) -> None:
    saved = load_result(save_result(sampled))
    now, then = (content_of(report_html(result))["probable"] for result in (sampled, saved))
    assert now == then
    assert content_of(report_html(learned("A --> B; B --> C")))["probable"] is None
