"""Agreement with causal-learn, and its tests as tests of ours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import anypag as ap
from anypag.ci.base import CITest, Queries
from anypag.ci.discrete import ChiSquared, GSquared
from anypag.ci.gaussian import FisherZ
from anypag.ci.resolve import from_causal_learn
from anypag.errors import CITestError


class LikeCausalLearn:
    """What an adapter may rely on: the data, and a call with two indices and a list."""

    def __init__(self, answer: float | Exception) -> None:
        self.data = np.zeros((10, 3))
        self.answer = answer

    def __call__(self, x: int, y: int, condition_set: list[int]) -> float:
        assert isinstance(condition_set, list)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_an_adapted_test_is_a_test() -> None:
    test = from_causal_learn(LikeCausalLearn(0.25), ["a", "b", "c"])
    assert isinstance(test, CITest)
    assert test.names == ("a", "b", "c") and not test.exact
    assert test.pvalues(Queries([0, 1], [1, 2], [[2], [0]])).tolist() == [0.25, 0.25]
    assert from_causal_learn(LikeCausalLearn(0.25)).names == ("X0", "X1", "X2")


def test_a_search_takes_it_in_place_of_data_or_beside_them() -> None:
    cit = LikeCausalLearn(0.25)
    alone = ap.learn(cit, names=["a", "b", "c"], method="icd").pag
    beside = ap.learn({"a": [0.0, 1.0], "b": [1.0, 3.0], "c": [2.0, 2.5]}, test=cit, method="icd").pag
    assert alone == beside and alone.names == ("a", "b", "c") and not list(alone.edges())


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (ValueError("matrix is singular"), "test of a and b given c failed: matrix is singular"),
        (float("nan"), "test of a and b given c answered nan, which is no p-value"),
    ],
)
def test_a_failure_says_which_test_it_was(answer: float | Exception, message: str) -> None:
    with pytest.raises(CITestError) as caught:
        from_causal_learn(LikeCausalLearn(answer), ["a", "b", "c"]).pvalues(Queries.one(0, 1, [2]))
    assert message in str(caught.value)


def test_anything_else_is_refused() -> None:
    with pytest.raises(CITestError, match=r"A test object of causal-learn was wanted.*got str"):
        from_causal_learn("fisherz")


def causal_learn(data: npt.NDArray[Any], method: str) -> Any:
    reason = "causal-learn is not installed; it comes with the extra [bench]"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cit = pytest.importorskip("causallearn.utils.cit", reason=reason)
        return cit.CIT(data, method)


CORRELATED = np.random.default_rng(0).normal(size=(300, 8)) @ np.random.default_rng(1).normal(size=(8, 8))
LEVELS = np.digitize(CORRELATED, [-2.0, 1.0])


@pytest.mark.parametrize("r", range(5))
@pytest.mark.parametrize(
    ("make", "data", "method"),
    [(FisherZ, CORRELATED, "fisherz"), (GSquared, LEVELS, "gsq"), (ChiSquared, LEVELS, "chisq")],
    ids=["fisherz", "gsq", "chisq"],
)
def test_agrees_with_causal_learn(make: type[CITest], data: npt.NDArray[Any], method: str, r: int) -> None:
    theirs = from_causal_learn(causal_learn(data, method))
    picks = np.array([np.random.default_rng(seed).permutation(8)[: r + 2] for seed in range(40)])
    queries = Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
    ours = make(data)  # type: ignore[call-arg]
    np.testing.assert_allclose(ours.pvalues(queries), theirs.pvalues(queries), rtol=0, atol=1e-10)
