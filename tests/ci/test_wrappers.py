"""Questions, counting, caching, functions as tests, the n-oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag import DAG, Oracle, Queries, from_callable, n_oracle
from anypag.ci.base import CITest, PValues, as_test, strength_of
from anypag.ci.wrappers import Cached, Counted
from anypag.errors import CITestError, GraphError

NAMES = tuple("ABCDEF")
Question = tuple[int, int, tuple[int, ...]]


class Recorded:
    """A test whose answer depends on the question alone; it writes down what it is asked."""

    exact = False
    names = NAMES

    def __init__(self, batch: int = 1) -> None:
        self.batch = batch
        self.asked: list[Question] = []

    def pvalues(self, queries: Queries) -> PValues:
        questions = as_questions(queries)
        self.asked += questions
        return np.array([(hash(question) % 1000) / 1000 for question in questions])


def as_questions(queries: Queries) -> list[Question]:
    """x < y, z ascending."""
    rows = zip(queries.x.tolist(), queries.y.tolist(), queries.z.tolist(), strict=True)
    return [(min(x, y), max(x, y), tuple(sorted(z))) for x, y, z in rows]


@st.composite
def batches(draw: st.DrawFn) -> Queries:
    """A few questions of one size over six variables, some of them the same in another order."""
    r = draw(st.integers(0, 3))
    rows = draw(st.lists(st.permutations(range(6)), min_size=1, max_size=8))
    return Queries([q[0] for q in rows], [q[1] for q in rows], [q[2 : 2 + r] for q in rows])


# --- questions -------------------------------------------------------------------------------------------------------


def test_shapes_are_checked() -> None:
    with pytest.raises(CITestError, match=r"got shapes \(2,\), \(1,\) and \(2, 1\)\."):
        Queries([0, 1], [2], [[3], [4]])
    with pytest.raises(CITestError, match=r"got shapes \(1,\), \(1,\) and \(2, 1\)\."):
        Queries([0], [2], [[3], [4]])


def test_one_question() -> None:
    query = Queries.one(3, 1, [2, 0])
    assert (len(query), query.r, query.z.tolist()) == (1, 2, [[2, 0]])
    assert Queries.one(3, 1).z.shape == (1, 0)


def test_some_of_the_questions() -> None:
    queries = Queries([0, 1, 2], [3, 3, 3], [[4], [5], [4]])
    assert queries.take(np.array([2, 0])).x.tolist() == [2, 0]
    assert queries.take(slice(1, 3)).z.tolist() == [[5], [4]]


# --- counting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "is_distinct"),
    [(Recorded(1), True), (Recorded(50), False), (Oracle(DAG.from_string("A --> B; B --> C")), True)],
)
def test_by_default_distinct_where_a_question_costs(test: CITest, is_distinct: bool) -> None:
    assert Counted(test).distinct == is_distinct


def test_what_is_evaluated_is_counted() -> None:
    test = Counted(Recorded())
    test.pvalues(Queries([0, 1], [2, 2], np.empty((2, 0))))
    test.add(3)
    assert test.evaluated == 5


def test_an_exception_of_the_test_is_the_cause() -> None:
    def fails(x: int, y: int, z: tuple[int, ...]) -> float:
        raise KeyError("no such column")

    with pytest.raises(CITestError, match="The test raised KeyError: 'no such column'") as caught:
        Counted(from_callable(fails, NAMES)).pvalues(Queries.one(0, 1))
    assert isinstance(caught.value.__cause__, KeyError)


# --- caching ---------------------------------------------------------------------------------------------------------


@given(st.lists(batches(), max_size=8))
def test_nothing_is_asked_twice(asked: list[Queries]) -> None:
    inner, plain = Recorded(), Recorded()
    cached = Cached(inner)
    for queries in asked:
        assert np.array_equal(cached.pvalues(queries), plain.pvalues(queries))
    assert len(inner.asked) == len(set(inner.asked)) == len(set(plain.asked))


def test_what_is_known_beforehand_is_not_asked() -> None:
    inner = Recorded()
    cached = Cached(inner, {(0, 1, (2, 3)): 0.25})
    assert cached.pvalues(Queries.one(1, 0, [3, 2])).tolist() == [0.25]
    assert inner.asked == []


def test_a_wrong_answer_is_not_kept() -> None:
    cached = Cached(from_callable(lambda x, y, z: 2.0, NAMES))
    with pytest.raises(CITestError, match=r"the test answered 2\.0 for A ⟂ B"):
        cached.pvalues(Queries.one(0, 1))
    assert cached.known == {}


# --- functions and other objects as tests ----------------------------------------------------------------------------


@pytest.mark.parametrize(("called_with", "seen"), [("indices", (2, 0, (1, 3))), ("names", ("C", "A", ("B", "D")))])
def test_a_function_gets_indices_or_names(called_with: str, seen: object) -> None:
    calls = []

    def p(*question: object) -> float:
        calls.append(question)
        return 0.5

    test = from_callable(p, NAMES, called_with=called_with)  # type: ignore[arg-type]
    assert test.pvalues(Queries.one(2, 0, [1, 3])).tolist() == [0.5]
    assert calls == [seen]
    assert isinstance(test, CITest)
    assert (test.exact, test.batch, test.names) == (False, 1, NAMES)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(CITestError, match=r"A function f\(x, y, z\) -> p was wanted; got 3\."):
        from_callable(3, NAMES)  # type: ignore[arg-type]
    with pytest.raises(CITestError, match="'called_with' must be 'indices' or 'names'; got 'columns'"):
        from_callable(lambda x, y, z: 0.5, NAMES, called_with="columns")  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="Names must differ"):
        from_callable(lambda x, y, z: 0.5, ["A", "A"])


class Modest:
    """Names and p-values, no word about `exact` and `batch`; and a measure of strength."""

    names = list("AB")  # noqa: RUF012

    def pvalues(self, queries: Queries) -> PValues:
        return np.full(len(queries), 0.5)

    def strength(self, queries: Queries) -> PValues:
        return np.full(len(queries), 7.0)


def test_a_test_that_says_little_is_taken_as_one_on_data_asked_one_by_one() -> None:
    test = as_test(Modest())
    assert (test.exact, test.batch, test.names) == (False, 1, ("A", "B"))
    assert test.pvalues(Queries.one(0, 1)).tolist() == [0.5]


def test_a_whole_test_is_taken_as_it_is() -> None:
    test = Recorded()
    assert as_test(test) is test


def test_strength_is_found_under_any_wrapping() -> None:
    query = Queries.one(0, 1)
    test = as_test(Modest())
    for wrapped in (test, Counted(test), Cached(test), Counted(Cached(n_oracle(test, 1)))):
        measured = strength_of(wrapped, query)
        assert measured is not None
        assert measured.tolist() == [7.0]
    assert strength_of(Counted(Recorded()), query) is None


# --- the n-oracle ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2])
def test_an_n_oracle_calls_everything_dependent_beyond_n(n: int) -> None:
    oracle = Oracle(DAG.from_string("A --> B; B --> C; A --> D; D --> C"))
    test = n_oracle(oracle, n)
    for z in ([], [1], [1, 3]):
        query = Queries.one(0, 2, z)
        assert test.pvalues(query) == (oracle.pvalues(query) if len(z) <= n else 0.0)
    assert (test.exact, test.names) == (True, oracle.names)


def test_n_below_zero_is_refused() -> None:
    with pytest.raises(CITestError, match=r"must be 0 or more; got -1\."):
        n_oracle(Recorded(), -1)
