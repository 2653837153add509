"""One suite that every algorithm of the catalogue passes, and one that a user brings along."""

from __future__ import annotations

import ast
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import anypag as ap
from anypag.catalogue import METHODS, TEST_METHODS, AtTheEnd, Method, OnTheWay, Promises
from anypag.checkpoint.checkpoint import state_parts
from anypag.choices import DECLARED, Choices
from anypag.explain.summary import end_told
from anypag.report import report_html
from anypag.report.content import content
from anypag.run.engine import Search
from anypag.search.algorithm import Algorithm, algorithm
from anypag.search.by_scores import boss
from anypag.search.by_tests import icd
from anypag.search.problem import Problem
from anypag.search.progress import Progress, Tick
from anypag.search.state import State, StepInfo
from search_examples import random_system

SYSTEM = random_system(np.random.default_rng(7), 8)
SAMPLE = SYSTEM.linear_gaussian(300, seed=7)


@pytest.mark.parametrize("method", METHODS)
def test_an_algorithm_says_what_it_is(method: str) -> None:
    found = algorithm(method)
    facts = METHODS[method]
    assert found.name == method and found.facts is facts and facts.about and algorithm(found) is found
    assert facts.uses <= {name for name, choice in DECLARED.items() if choice.by_method}
    assert set(found.on_data) <= facts.uses


FACTS = {"icd", "bayes", "boss", "gfci", "fci+", "icd-paper", "anytime-fci", "fci", "rfci"}
MAY_NAME_METHODS = {"catalogue.py", "choices.py", "run/engine.py", "run/estimators.py"}


def names_of_methods(source: str) -> set[str]:
    """The names of methods that a file compares something with, or collects."""
    nodes = list(ast.walk(ast.parse(source)))
    compared = [one for node in nodes if isinstance(node, ast.Compare) for one in (node.left, *node.comparators)]
    collected = [one for node in nodes if isinstance(node, ast.Set | ast.Tuple | ast.List) for one in node.elts]
    return {str(one.value) for one in (*compared, *collected) if isinstance(one, ast.Constant)} & FACTS


def test_nobody_but_the_catalogue_keeps_lists_of_methods() -> None:
    root = Path(ap.__file__).parent
    for path in root.rglob("*.py"):
        if str(path.relative_to(root)) not in MAY_NAME_METHODS:
            assert names_of_methods(path.read_text()) == set(), path
    assert names_of_methods('if method == "boss": pass\nNAMES = {"icd", "x"}') == {"boss", "icd"}


@pytest.mark.parametrize("method", METHODS)
def test_states_stay_in_the_phases_it_names_and_are_never_changed(method: str) -> None:
    search = Search(SAMPLE, Choices(method=method, max_r=3))
    held = []
    for state, info in search.steps():
        assert state.phase in search.algorithm.facts.phases and info.n_edges == state.n_edges
        arrays = {name: None if part is None else part.copy() for name, part in state_parts(state)[1].items()}
        held.append((state, arrays))
    assert held[-1][0].done and not any(state.done for state, _ in held[:-1])
    for state, arrays in held:
        for name, part in state_parts(state)[1].items():
            np.testing.assert_array_equal(part, arrays[name])


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", METHODS)
def test_a_run_goes_on_from_any_step_of_its_checkpoint(method: str, every: int, tmp_path: Path) -> None:
    whole = ap.learn(SAMPLE, method=method, max_r=3)
    for k in range(1, len(whole.history), every):
        path = tmp_path / f"{k}.anypag"
        left = iter(range(k - 1))
        ap.learn(SAMPLE, method=method, max_r=3, checkpoint=path, stop=lambda *_, left=left: next(left, None) is None)
        result = ap.learn(SAMPLE, method=method, max_r=3, checkpoint=path, resume=True)
        assert result.pag == whole.pag and dict(result.sepsets) == dict(whole.sepsets)
        assert [item.info for item in result.history] == [item.info for item in whole.history]


def test_every_field_of_a_state_is_stored_or_follows_from_others() -> None:
    assert {item.name for item in fields(State) if "stored" not in item.metadata} == {"nodes", "earlier_edges"}


def test_a_users_own_algorithm_runs_like_any_other(tmp_path: Path) -> None:
    """With budgets, a checkpoint, a saved result and a phase of its own."""

    def step(state: State, problem: Problem, tick: Tick) -> tuple[State, StepInfo]:
        after, info = icd.step(state, problem, tick)
        return replace(after, phase="mine"), info

    facts = replace(icd.ALGORITHM.facts, module="", about="as icd", phases=("iteration", "mine"))
    mine = replace(icd.ALGORITHM, name="mine", facts=facts, step=step)
    path = tmp_path / "run.anypag"
    enough_for_one = ap.learn(SAMPLE, method="icd").history[0].info.n_tests
    cut = ap.learn(SAMPLE, method=mine, checkpoint=path, max_tests=enough_for_one)
    assert (cut.method, cut.stopped, len(cut.history)) == ("mine", "tests", 1)
    result = ap.learn(SAMPLE, method=mine, checkpoint=path, resume=True)
    assert result.complete and result.pag == ap.learn(SAMPLE, method="icd").pag
    result.save(tmp_path / "pag.json")
    assert ap.read_result(tmp_path / "pag.json").method == "mine"  # type: ignore[union-attr]


def test_a_users_own_algorithm_declares_its_own_facts(tmp_path: Path) -> None:
    """What a result says of its method rests on the facts of the algorithm, not on its name; also after reading."""
    of_boss = replace(METHODS["boss"], module="", about="mine")
    theirs = ap.learn(SAMPLE, method="boss")
    for name in ("mine", "icd"):  # a name of the catalogue lends no facts either
        own = replace(boss.ALGORITHM, name=name, facts=of_boss)
        learned = ap.learn(SAMPLE, method=own)
        learned.save(tmp_path / "pag.json")
        read = ap.read_result(tmp_path / "pag.json")
        for found in (learned, read):
            assert isinstance(found, ap.Result)
            assert found.from_scores and found.facts == of_boss and found.cautions == theirs.cautions
            assert str(found.explain("V1", "V2")) == str(theirs.explain("V1", "V2"))
            assert end_told(found).partition(" (")[0] == end_told(theirs).partition(" (")[0]
            assert not found.history[0].info.has_r


def test_a_users_own_steps_may_have_no_r(tmp_path: Path) -> None:
    def step(state: State, problem: Problem, tick: Tick) -> tuple[State, StepInfo]:
        tick(Progress(-1, "walks", 0, 1, 0))
        after, info = icd.step(state, problem, tick)
        return after, replace(info, has_r=False)

    facts = Method("", "walks", Promises(OnTheWay.CLAIMS, AtTheEnd.SOUND), uses=frozenset({"r0"}))
    seen: list[str] = []
    walks = Algorithm("walks", facts, icd.ALGORITHM.init, step)
    result = ap.learn(SAMPLE, method=walks, r0=1, max_r=1, progress=lambda progress: seen.append(progress.where))
    assert "walks" in seen and not any(item.info.has_r for item in result.history)
    result.save(tmp_path / "pag.json")
    read = ap.read_result(tmp_path / "pag.json")
    assert isinstance(read, ap.Result) and [item.info for item in read.history] == [
        item.info for item in result.history
    ]
    with pytest.raises(ap.AnypagError, match="With walks every claim is right; some edges may stay"):
        ap.learn(SAMPLE, method=walks).effect("V1", "V2", selection_bias=False)
    choices = content(result, None)["made"]["choices"]
    assert choices.keys() >= {"r0", "alpha"} and choices.keys().isdisjoint({"possible_dsep", "effort"})


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("method", TEST_METHODS)
def test_the_tables_of_the_page_say_what_it_promises(method: str) -> None:
    promises = METHODS[method].promises
    lines = (ROOT / "docs/algorithm.md").read_text().splitlines()
    counted, told = (line.strip("| ").split(" | ") for line in lines if line.startswith(f"| `{method}` |"))
    assert told[2].startswith(promises.on_the_way)
    _, _, wrong_graphs, on_the_way, _ = counted
    assert (on_the_way == "(no promise)") == (promises.on_the_way is OnTheWay.NOTHING)
    assert ("claims" in wrong_graphs) == (promises.at_the_end is AtTheEnd.SOUND)


def test_a_report_of_a_stopped_run_says_what_holds() -> None:
    assert "If the test is perfect, at such a stop every claim is right." in report_html(ap.learn(SAMPLE, max_r=0))
