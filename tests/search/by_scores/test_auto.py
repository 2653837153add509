"""Tests first, then the posterior: one run that has a graph at every moment and keeps what the tests found."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from resuming import stopped_and_resumed

import anypag as ap
from anypag.choices import Choices
from anypag.cli.tell import what_next
from anypag.errors import AnypagWarning, ParameterError
from anypag.explain.summary import take_away
from anypag.report.content import content
from anypag.results.result import Result
from anypag.run import bind
from anypag.run.engine import Search
from anypag.search.progress import Progress

SHORT = 0.1
SYSTEM = ap.simulate.random_system(8, 2.0, seed=0)
DATA = {
    name: np.asarray(column)
    for name, column in ap.simulate.linear_gaussian(SYSTEM.dag, 400, latent=SYSTEM.latent, seed=0).items()
}
NAMES = list(DATA)
KNOWN = ap.Knowledge.from_text(f"tiers: {NAMES[0]} | {' '.join(NAMES[1:])}")
LEVELS = {name: (values > 0).astype(int) for name, values in list(DATA.items())[:5]}
PHASES = ["iteration", "orders", "cooling", "sampling"]


def auto(data: Any = DATA, **choices: Any) -> Result:
    return ap.learn(data, method="auto", **{"effort": SHORT, **choices})


WHOLE = auto()


def phases_of(result: Result) -> list[str]:
    return list(dict.fromkeys(item.info.phase for item in result.history))


def assert_same_tests(one: Result | None, other: Result | None) -> None:
    """All that a search by tests found, to the bit."""
    assert one is not None and other is not None
    assert one.pag == other.pag and dict(one.sepsets.items()) == dict(other.sepsets.items())
    assert one.marks == other.marks and one.conflicts == other.conflicts and one.tests == other.tests
    assert one.knowledge == other.knowledge and one.complete == other.complete and one.strengths == other.strengths
    assert [(step.info, step.pag) for step in one.history] == [(step.info, step.pag) for step in other.history]
    ends = [edge[:2] for edge in one.pag.edges()]
    np.testing.assert_array_equal([one.kept_p(*pair) for pair in ends], [other.kept_p(*pair) for pair in ends])


def assert_same(one: Result, other: Result) -> None:
    assert one.pag == other.pag and one.probabilities == other.probabilities
    assert one.posterior is not None and other.posterior is not None
    for part in ("pags", "counts", "diagrams", "for_effects"):
        np.testing.assert_array_equal(getattr(one.posterior.sample, part), getattr(other.posterior.sample, part))


def test_the_posterior_shows_itself_in_one_line() -> None:
    posterior = WHOLE.posterior
    assert posterior is not None
    said = f"{posterior.n_samples:,} graphs sampled, {len(posterior.classes()):,} different ones"
    assert repr(posterior) == f"<Posterior: {len(NAMES)} variables, {said}>"


@pytest.mark.parametrize("data", [DATA, LEVELS], ids=["numbers", "levels"])
@pytest.mark.parametrize("known", [None, KNOWN], ids=["nothing known", "tiers"])
def test_the_answer_is_that_of_bayes_and_the_tests_are_those_of_icd(data: Any, known: ap.Knowledge | None) -> None:
    said = None if known is None else ap.Knowledge.from_text(f"tiers: {NAMES[0]} | {' '.join(list(data)[1:])}")
    found = auto(data, knowledge=said)
    assert_same(found, ap.learn(data, method="bayes", effort=SHORT, knowledge=said))
    assert_same_tests(found.by_tests, ap.learn(data, method="icd", knowledge=said))
    assert found.method == "auto" and found.chosen == ("auto", bind.POSTERIOR)


def test_there_is_a_graph_after_every_r_then_one_of_scores_that_is_valid() -> None:
    by_tests = iter(ap.iterate(DATA, method="icd"))
    is_scored = False
    for state, info in ap.iterate(DATA, method="auto", effort=SHORT):
        is_scored = is_scored or state.posterior is not None  # type: ignore[attr-defined]
        if info.phase == "iteration":
            latest, as_info = next(by_tests)
            assert state.pag == latest.pag and info == as_info
        elif is_scored:
            assert state.pag.validate()
        else:
            assert info.phase == "orders" and state.pag == latest.pag
    assert is_scored and state.pag == WHOLE.pag
    assert next(by_tests, None) is None


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_run_stopped_after_any_step_goes_on_to_the_same_answer(every: int, tmp_path: Path) -> None:
    for stop_after in range(0, len(WHOLE.history) - 1, every):
        resumed = stopped_and_resumed(DATA, tmp_path / f"{stop_after}.db", stop_after, SHORT, "auto")
        assert_same(resumed, WHOLE)
        assert_same_tests(resumed.by_tests, WHOLE.by_tests)


@pytest.mark.parametrize("phase", ["candidates", *PHASES[1:]])
@pytest.mark.parametrize("ends", [KeyboardInterrupt, None], ids=["Ctrl-C", "time"])
def test_ctrl_c_or_the_budget_in_any_phase_leaves_the_last_graph(
    phase: str, ends: type[BaseException] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over = False

    def end(progress: Progress) -> None:
        nonlocal is_over
        if progress.phase == phase and (progress.r > 0 or phase != "candidates"):
            if ends is not None:
                raise ends
            is_over = True

    monkeypatch.setattr("anypag.run.clock.Clock.seconds", property(lambda _: 10.0 if is_over else 0.0))
    found = auto(progress=end, time_budget=None if ends else 1.0)
    assert found.stopped == ("interrupt" if ends else "time") and not found.complete
    steps = list(ap.iterate(DATA, method="auto", effort=SHORT))[: len(found.history)]
    assert steps and found.pag == steps[-1][0].pag
    assert found.from_scores is (phase in {"cooling", "sampling"}) is (found.posterior is not None)
    alone = found.by_tests
    assert alone is found.before_scores if found.from_scores else alone is not None and alone.pag == found.pag
    assert alone is not None and alone.complete is (phase != "candidates")
    assert str(found) and all(str(found.explain(a, b)) for a in NAMES[:2] for b in NAMES[2:])
    if found.from_scores:
        assert_same_tests(found.by_tests, WHOLE.by_tests)


def test_between_tests_and_scores_nothing_says_that_tests_may_remove_more() -> None:
    data = ap.simulate.random_system(8, seed=1).linear_gaussian(400, seed=1)
    steps = len(ap.learn(data, method="icd").history)
    asked = iter(range(100))
    result = ap.learn(data, stop=lambda *_: next(asked) >= steps - 1)
    assert not result.complete and not result.from_scores and result.tests_done
    assert result.by_tests is not None and result.by_tests.complete
    assert what_next(result) == "The tests are done; the search by scores had not begun to change the graph."
    edge = result.pag.edges()[0]
    assert "may still remove" not in str(result.explain(edge.a, edge.b))
    first = ap.learn(data, stop=lambda *_: True)
    assert not first.tests_done and "every claim is right" in content(first, None)["made"]["end"]


def test_the_order_of_columns_does_not_matter() -> None:
    turned = auto({name: DATA[name] for name in reversed(NAMES)})
    assert turned.pag == WHOLE.pag and turned.compared == WHOLE.compared
    assert turned.by_tests is not None and WHOLE.by_tests is not None
    assert turned.by_tests.pag == WHOLE.by_tests.pag
    assert {frozenset(pair): set(why.given) for pair, why in turned.by_tests.sepsets.items()} == {
        frozenset(pair): set(why.given) for pair, why in WHOLE.by_tests.sepsets.items()
    }


def test_one_line_says_where_the_tests_alone_differ() -> None:
    few = ap.simulate.linear_gaussian(SYSTEM.dag, 60, latent=SYSTEM.latent, seed=0)
    found = auto(few)
    assert found.by_tests is not None
    pairs = {
        frozenset((a, b)): (found.pag.edge(a, b), found.by_tests.pag.edge(a, b))
        for a in found.pag.names
        for b in found.pag.names
        if a < b
    }
    joined = [both for both in pairs.values() if any(both)]
    n_differ = sum(one != other for one, other in joined)
    assert n_differ
    assert found.compared == f"Searching by tests alone differs in {n_differ} of {len(joined)} pairs."
    assert found.compared in str(found)


CHOSEN: dict[str, tuple[Any, dict[str, Any], str]] = {
    "an oracle": (ap.Oracle(SYSTEM.dag, SYSTEM.latent), {}, "Oracle gives none"),
    "a function": (ap.from_callable(lambda x, y, z: 0.5, ["A", "B", "C"]), {}, "gives none"),
    "a kernel test": ({name: DATA[name][:60] for name in NAMES[:3]}, {"test": "kci"}, "KCI gives none"),
    "max_r": (DATA, {"max_r": 1}, "'max_r' was chosen, which only a search by tests has"),
    "two of them": (DATA, {"max_r": 1, "r0": 1}, "'max_r' and 'r0' were chosen"),
    "r0": (DATA, {"r0": 1}, "'r0' was chosen"),
    "initial": (DATA, {"initial": ap.PAG.from_string(str(WHOLE.pag))}, "'initial' was chosen"),
    "singular": (DATA, {"singular": "keep"}, "functions of others"),
    "gaps": ({**DATA, NAMES[0]: [np.nan, *DATA[NAMES[0]][1:]]}, {"missing": "pairwise"}, "some are missing"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CHOSEN)
def test_where_there_is_no_posterior_it_goes_by_tests_and_says_why(case: str) -> None:
    data, choices, why = CHOSEN[case]
    found = ap.learn(data, method="auto", **choices)
    assert found.method == found.choices.method == "icd" and found.posterior is None and found.by_tests is found
    assert found.chosen is not None and why in str(found.chosen)
    assert_same_tests(found, ap.learn(data, method="icd", **choices))


def test_more_columns_than_the_posterior_takes_are_searched_by_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bind, "SECONDS_A_PAIR", 10.0)
    found = ap.learn(DATA, method="auto")
    assert found.method == "icd" and found.chosen is not None
    assert f"as the posterior of {len(NAMES)} variables and 400 rows would take about" in str(found.chosen)
    monkeypatch.undo()
    monkeypatch.setattr(bind, "SECONDS_A_CELL", 1.0)
    assert auto().method == "auto" and ap.learn(LEVELS, method="auto").method == "icd"


def test_rows_that_repeat_others_do_not_count_towards_too_long() -> None:
    """A score was thought to take four minutes for rows that are counted in seconds."""
    every = np.indices((2,) * 7).reshape(7, -1)
    table = {**dict(zip("abcdefg", every, strict=True)), "n": 30_000 + np.arange(128)}
    assert Search(ap.counted(table, "n"), Choices()).algorithm.name == "auto"
    rows = {name: np.tile(column, 9_000) for name, column in zip("abcdefg", every, strict=True)}
    assert Search(rows, Choices()).algorithm.name == "auto"


def test_a_posterior_that_takes_long_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bind, "SECONDS_A_PAIR", 10.0)
    told = rf"The posterior of {len(NAMES)} variables and 400 rows takes about .*\. With 'time_budget' it ends earlier"
    with pytest.warns(AnypagWarning, match=told):
        assert ap.learn(DATA, method="bayes").chosen is None
    with warnings.catch_warnings():
        warnings.simplefilter("error", AnypagWarning)
        ap.learn(DATA, method="boss")
        monkeypatch.undo()
        ap.learn(DATA, method="bayes")


def test_a_column_with_many_levels_beside_numbers_is_named_where_it_would_take_too_long() -> None:
    random = np.random.default_rng(0)
    table = {**DATA, "village": [f"v{k}" for k in random.integers(0, 44, 400)]}
    found = ap.learn(table, method="auto")
    assert found.method == "icd" and found.chosen is not None
    assert "most of it for the 44 levels of 'village'" in str(found.chosen)


def test_effort_is_not_used_where_the_data_leave_only_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bind, "SECONDS_A_PAIR", 10.0)
    found = ap.learn(DATA, effort=2)
    assert found.method == "icd" and found.choices.effort == 1.0
    assert found.chosen is not None and "would take about" in str(found.chosen.why)
    assert_same_tests(found, ap.learn(DATA, method="icd"))
    assert ap.bootstrap(DATA, 2, effort=2).result.method == "icd"


def test_effort_and_an_option_of_tests_do_not_go_together() -> None:
    with pytest.raises(ParameterError, match="Leave out 'max_r' or 'effort'") as told:
        ap.learn(DATA, max_r=1, effort=2)
    assert "method" not in str(told.value) and "icd" not in str(told.value)


def test_alpha_is_that_of_the_tests_and_switches_nothing() -> None:
    found = auto(alpha=0.2)
    assert found.method == "auto"
    assert_same_tests(found.by_tests, ap.learn(DATA, method="icd", alpha=0.2))


def test_a_resample_makes_the_choice_of_the_whole_data() -> None:
    assert Search.again(Search(DATA, WHOLE.choices).problem.bound_test, WHOLE.choices).algorithm.name == "auto"
    resampled = ap.bootstrap(DATA, 2, method="auto", effort=SHORT)
    assert resampled.result.chosen == WHOLE.chosen and len(resampled.graphs) == 2
    assert ap.bootstrap(DATA, 2, method="auto", max_r=1).result.method == "icd"


def test_too_many_tests_end_the_first_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.search.by_scores.auto.MOST_TESTS", 1)
    found = auto()
    assert found.complete and found.by_tests is not None and found.by_tests.r == 0
    assert not found.by_tests.complete and phases_of(found) == PHASES


def test_explanations_join_both() -> None:
    assert WHOLE.by_tests is not None
    for a, b in pairwise(NAMES):
        told, alone = WHOLE.explain(a, b), WHOLE.by_tests.explain(a, b)
        assert told.by_tests == alone and told.probability is not None and alone.probability is None
        given = "the same" if told.edge == alone.edge else f"`{alone.edge}`" if alone.edge else "no edge"
        assert f"Searching by tests alone gives {given}: " in str(told)
        assert all(end.why in str(told) for end in alone.ends if end.why)
        assert alone.separation is None or f"p = {alone.separation.p:.3g} (alpha = 0.01)" in str(told)
        assert told.to_dict()["by_tests"] == alone.to_dict()


def test_what_hangs_on_one_test_near_alpha_is_told() -> None:
    assert WHOLE.by_tests is not None
    (pair, why), *_ = WHOLE.by_tests.sepsets.items()
    for alpha, is_near in ((why.p / 2, True), (why.p / 20, False)):
        told = str(auto(alpha=alpha).explain(*pair))
        assert ("depends on one test near alpha" in told) is is_near, told


def test_a_graph_of_scores_without_samples_has_a_check_but_no_probabilities() -> None:
    """One graph says nothing of probabilities: a run stopped while cooling told of few errors."""
    random = np.random.default_rng(0)
    x = random.normal(size=800)
    bent = {"x": x, "y": x**2 + random.normal(size=800), "z": x**2 + random.normal(size=800)}
    whole = auto(bent)
    cooling = next(k for k, item in enumerate(whole.history) if item.info.phase == "cooling")
    found = auto(bent, stop=lambda state, info: info.phase == "cooling")
    assert len(found.history) == cooling + 1 and found.from_scores and found.probabilities is None
    posterior = found.posterior
    assert posterior is not None and posterior.reported is None and posterior.expected_errors is None
    assert posterior.mark_probability("x", "y") is None and posterior.shares.shape == (4, 3, 3)
    assert found.misfit == whole.misfit is not None
    (line,) = found.misfit_told
    assert line == whole.misfit_told[0].replace("rely on the probabilities", "rely on the graph")
    assert line in str(found) and take_away(found).endswith("assume: no edge is sure.")
    assert str(found.explain("x", "y")).count("do not rely on the graph.") == 1
    assert auto(bent, stop=lambda state, info: info.phase == "orders").misfit is None  # one order of several settled
    assert auto(bent, stop=lambda *_: True).misfit is None
