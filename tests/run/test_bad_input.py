"""What cannot be is refused in a sentence, before any test is run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anypag import DAG, PAG, AnypagError, Oracle, Queries, iterate, learn
from anypag.catalogue import METHODS
from anypag.ci.base import PValues
from anypag.errors import CITestError, GraphError, ParameterError

CHAIN = DAG.from_string("A --> B; B --> C; C --> D")


class Untouched(Oracle):
    """A test that must not be asked."""

    def pvalues(self, queries: Queries) -> PValues:
        raise AssertionError("a test was run")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "alpha 0": ({"alpha": 0}, "The option 'alpha' must be a number between 0 and 1 (0.01, say); got 0."),
    "alpha 1": ({"alpha": 1.0}, "The option 'alpha' must be a number between 0 and 1 (0.01, say); got 1.0."),
    "alpha NaN": ({"alpha": float("nan")}, "must be a number between 0 and 1 (0.01, say); got nan."),
    "alpha text": ({"alpha": "0.01"}, "must be a number between 0 and 1 (0.01, say); got '0.01'."),
    "max_r": ({"max_r": -1}, "The option 'max_r' must be None or a whole number from 0 on; got -1."),
    "max_r half": ({"max_r": 1.5}, "The option 'max_r' must be None or a whole number from 0 on; got 1.5."),
    "max_r True": ({"max_r": True}, "The option 'max_r' must be None or a whole number from 0 on; got True."),
    "max_sets": ({"max_sets": -5}, "The option 'max_sets' must be None or a whole number from 0 on; got -5."),
    "max_sets elsewhere": (
        {"method": "fci", "max_sets": 10},
        "The option 'max_sets' must be left out: method 'fci' does not use it; got 10.",
    ),
    "sepset": ({"sepset": "best"}, "The option 'sepset' must be None, 'first' or 'largest-p'; got 'best'."),
    "sepset of the paper": (
        {"method": "icd-paper", "sepset": "largest-p"},
        "The option 'sepset' must be left out: method 'icd-paper' does not use it; got 'largest-p'.",
    ),
    "method": ({"method": "pc"}, f"The option 'method' must be one of {', '.join(map(repr, METHODS))}; got 'pc'."),
    "r0": ({"r0": -1}, "The option 'r0' must be a whole number from 0 on; got -1."),
    "r0 too large": ({"r0": 3}, "The option 'r0' must be at most 2, the size of the largest condition sets; got 3."),
    "r0 above max_r": ({"r0": 2, "max_r": 1}, "The option 'r0' must be at most 1,"),
    "r0 elsewhere": (
        {"method": "fci", "r0": 1},
        "The option 'r0' must be left out: method 'fci' does not use it; got 1.",
    ),
    "initial elsewhere": (
        {"method": "rfci", "initial": PAG.from_string("A; B; C; D")},
        "The option 'initial' must be left out: method 'rfci' does not use it; got PAG(",
    ),
    "initial over other names": (
        {"initial": PAG.from_string("A o-o B; C; E; F")},
        "The 'initial' PAG must be over the same variables as the data; it lacks ['D'] and has ['E', 'F'] too many.",
    ),
    "initial no PAG": ({"initial": CHAIN}, "The option 'initial' must be a PAG; got DAG("),
    "test with a test": ({"test": "gsq"}, "The option 'test' must be left out: a test was given in place of data;"),
    "names with a test": ({"names": ["A"]}, "The option 'names' must be left out: a test was given in place of data"),
    "kinds with a test": (
        {"kinds": {"A": "discrete"}},
        "The option 'kinds' must be left out: a test was given in place of",
    ),
    "missing with a test": (
        {"missing": "drop"},
        "The option 'missing' must be left out: a test was given in place of data",
    ),
}

ONLY_LEARN: dict[str, tuple[dict[str, Any], str]] = {
    "time_budget": ({"time_budget": 0}, "The option 'time_budget' must be None or a number above 0; got 0."),
    "time_budget text": ({"time_budget": "5"}, "The option 'time_budget' must be None or a number above 0; got '5'."),
    "max_tests": ({"max_tests": -3}, "The option 'max_tests' must be None or a number above 0; got -3."),
    "stop": ({"stop": 3}, "The option 'stop' must be None or a function of the state and the step's info; got 3."),
    "progress": ({"progress": "bar"}, "The option 'progress' must be True, False or a function; got 'bar'."),
    "resume": ({"resume": True}, "The option 'resume' must be left out: there is no 'checkpoint' to continue from;"),
}


@pytest.mark.parametrize("name", [*WRONG, *ONLY_LEARN])
def test_learn_refuses(name: str) -> None:
    options, message = {**WRONG, **ONLY_LEARN}[name]
    with pytest.raises(ParameterError) as caught:
        learn(Untouched(CHAIN), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", WRONG)
def test_iterate_refuses_at_once(name: str) -> None:
    """When it is called, not when the first item is asked for."""
    options, message = WRONG[name]
    with pytest.raises(ParameterError) as caught:
        iterate(Untouched(CHAIN), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_variables(n: int) -> None:
    test = Untouched(DAG(np.zeros((2, 2)), ["A", "B"]), latent=["A", "B"][n:])
    with pytest.raises(ParameterError) as caught:
        learn(test, method="icd")
    assert str(caught.value) == f"A search needs two variables or more; got {n}: {['A', 'B'][:n]}."


class Odd:
    """A test that answers what it is told to."""

    exact, batch, names = False, 4, ("A", "B", "C")

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def pvalues(self, queries: Queries) -> PValues:
        return self._answer(queries)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda q: [np.nan] * len(q), "A p-value must lie between 0 and 1; the test answered nan for A ⟂ B | {}."),
        (lambda q: [1.5] * len(q), "A p-value must lie between 0 and 1; the test answered 1.5 for A ⟂ B | {}."),
        (lambda q: [-0.1] * len(q), "A p-value must lie between 0 and 1; the test answered -0.1 for A ⟂ B | {}."),
        (lambda q: np.zeros(len(q) + 1), "A test must answer 3 questions with an array of shape (3,); got shape (4,)."),
        (lambda q: 0.5, "A test must answer 3 questions with an array of shape (3,); got shape ()."),
        (lambda q: None, "A test must answer 3 questions with an array of shape (3,); got shape ()."),
        (lambda q: ["low"] * len(q), "A test must answer with numbers between 0 and 1; got ['low', 'low', 'low']."),
    ],
)
def test_answers_that_are_no_p_values(answer: Any, message: str) -> None:
    with pytest.raises(CITestError) as caught:
        learn(Odd(answer), method="icd")
    assert message in str(caught.value)
    assert caught.value.result is not None
    assert len(caught.value.result.pag.edges()) == 3


def test_names_that_are_no_names() -> None:
    class Twice(Odd):
        names = ("A", "B", "A")

    with pytest.raises(GraphError, match="Names must differ; 'A' comes twice"):
        learn(Twice(lambda q: pytest.fail("a test was run")), method="icd")


def test_something_that_is_no_test() -> None:
    class Nameless:
        def pvalues(self, queries: Queries) -> PValues:
            raise AssertionError("a test was run")

    with pytest.raises(CITestError, match="A test has `names` and `pvalues"):
        learn(Nameless(), method="icd")


def test_every_refusal_is_an_anypag_error_and_a_value_error() -> None:
    with pytest.raises(ValueError, match="alpha") as caught:
        learn(Untouched(CHAIN), method="icd", alpha=2)
    assert isinstance(caught.value, AnypagError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selection_bias": "no"}, "'selection_bias' must be True or False; got 'no'"),
        ({"kinds": ["a"]}, "'kinds' must be None or a mapping such as"),
    ],
)
def test_what_is_nearly_an_option_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        learn({"a": [1.0, 2.5, 0.1, 4.0, 1.1] * 5, "b": [7.0, 0.5, 3.5, 1.0, 2.0] * 5}, **options)
