"""A step is a function: the same state and problem give an equal state and an equal info, however often it is made."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anypag as ap
from anypag.catalogue import METHODS, TEST_METHODS
from anypag.checkpoint.checkpoint import state_parts
from anypag.choices import Choices
from anypag.ci.base import Queries
from anypag.run.engine import Search
from anypag.search.inquiry import Asked, Inquiry
from anypag.search.state import State
from search_examples import random_system

SYSTEM = random_system(np.random.default_rng(9), 8)  # dense enough that questions of three sizes are asked
SAMPLE = SYSTEM.linear_gaussian(300, seed=3)
ORACLE = ap.Oracle(SYSTEM.dag, SYSTEM.latent, SYSTEM.selection)


def one_at_a_time() -> Any:
    """A user's function: the answers of Fisher's z, asked one by one."""
    test = ap.FisherZ(SAMPLE)
    return ap.from_callable(lambda x, y, z: float(test.pvalues(Queries.one(x, y, z))[0]), test.names)


def assert_equal(one: State, other: State) -> None:
    (facts, arrays), (other_facts, other_arrays) = state_parts(one), state_parts(other)
    assert facts == other_facts and arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[name], err_msg=name)


def assert_pure(search: Search) -> None:
    """Each step of a run, made once more when the run is over, gives the state and the info that it gave in the run."""
    run = list(search.steps())  # the first step comes after the nodes are ordered
    for before, (after, info) in zip([search.start, *(state for state, _ in run)], run, strict=False):
        again, again_info = search.algorithm.step(before, search.problem, lambda _: None)
        assert replace(again_info, n_evaluated=0) == replace(info, n_evaluated=0)
        assert_equal(again, after)


@pytest.mark.parametrize("method", METHODS)
def test_a_step_on_data(method: str) -> None:
    effort: dict[str, Any] = {"effort": 0.1} if "effort" in METHODS[method].uses else {}
    assert_pure(Search(SAMPLE, Choices(method=method, **effort)))


@pytest.mark.parametrize("method", TEST_METHODS)
def test_a_step_with_an_oracle(method: str) -> None:
    assert_pure(Search(ORACLE, Choices(method=method)))


@pytest.mark.parametrize("method", TEST_METHODS)
def test_a_step_with_a_test_that_takes_one_question_at_a_time(method: str) -> None:
    assert_pure(Search(one_at_a_time(), Choices(method=method, max_r=2)))


@pytest.mark.parametrize("method", TEST_METHODS)
@pytest.mark.parametrize("made", [lambda: ORACLE, one_at_a_time])
def test_a_step_that_remembers_questions_in_its_test_is_seen(
    method: str, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts that are differences on a counter in the problem: equal from the first repeat on, but not to the run."""
    as_it_is = Inquiry.__init__

    def remembering(self: Any, problem: Any, *rest: Any) -> None:
        as_it_is(self, problem, *rest)
        self._asked = vars(problem.test).setdefault("_asked", self._asked)
        self._asked.tests = {}

    monkeypatch.setattr(Inquiry, "__init__", remembering)
    with pytest.raises(AssertionError):
        assert_pure(Search(made(), Choices(method=method, max_r=2)))


def test_counts_are_those_of_a_run_without_repeats() -> None:
    """What is counted in a run is what a run from a state in its middle counts, on a test that has been used."""
    search = Search(ORACLE, Choices(method="icd"))
    whole = list(search.steps())
    again = list(search.steps(whole[0][0]))
    assert [info.tests for _, info in again] == [info.tests for _, info in whole[1:]]


@pytest.mark.parametrize("threads", [2, 3])
def test_the_questions_counted_do_not_depend_on_threads(threads: int) -> None:
    one, several = (list(Search(ORACLE, Choices(method="icd", threads=k)).steps())[-1][0] for k in (1, threads))
    assert_equal(one, several)


# --- the count of one step -------------------------------------------------------------------------------------------


@st.composite
def batches(draw: st.DrawFn) -> Queries:
    r = draw(st.integers(0, 3))
    rows = draw(st.lists(st.permutations(range(6)), min_size=1, max_size=6))
    table = np.array(rows)
    return Queries(table[:, 0], table[:, 1], table[:, 2 : 2 + r])


def as_questions(queries: Queries) -> list[tuple[frozenset[int], frozenset[int]]]:
    rows = zip(queries.x.tolist(), queries.y.tolist(), queries.z.tolist(), strict=True)
    return [(frozenset((x, y)), frozenset(z)) for x, y, z in rows]


@given(st.lists(batches(), max_size=8), st.integers(0, 8))
def test_distinct_questions_are_counted_as_a_set_would(asked: list[Queries], cut: int) -> None:
    """In two steps, of which the second takes over the first's questions."""
    first = Asked(None, distinct=True)
    for queries in asked[:cut]:
        first.count(queries)
    second = Asked(first.keys, distinct=True)
    for queries in asked[cut:]:
        second.count(queries)
    before, both = ({one for queries in part for one in as_questions(queries)} for part in (asked[:cut], asked))
    assert first.tests == Counter(len(z) for _, z in before)
    assert second.tests == Counter(len(z) for _, z in both - before)


@given(st.lists(batches(), max_size=6), st.randoms())
def test_the_order_of_questions_leaves_no_trace(asked: list[Queries], random: Any) -> None:
    forth, back = Asked(None, distinct=True), Asked(None, distinct=True)
    for queries in asked:
        forth.count(queries)
    for queries in random.sample(asked, len(asked)):
        back.count(queries)
    np.testing.assert_array_equal(forth.keys, back.keys)


def test_many_questions_outgrow_the_table() -> None:
    z = np.random.default_rng(0).integers(2, 40, size=(20_000, 3))
    z = z[(np.diff(np.sort(z, axis=1), axis=1) > 0).all(axis=1)]
    asked = Asked(None, distinct=True)
    asked.count(Queries(np.zeros(len(z)), np.ones(len(z)), z))
    assert asked.tests == {3: len({tuple(sorted(row)) for row in z.tolist()})}


def test_without_distinct_every_question_counts() -> None:
    asked = Asked(None, distinct=False)
    for _ in range(3):
        asked.count(Queries.one(0, 1, [2]))
    assert asked.tests == {1: 3} and asked.keys is None
