"""Agreement with the tests of causal-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from anypag.ci.base import CITest, Queries, from_callable
from anypag.ci.discrete import ChiSquared, GSquared
from anypag.ci.gaussian import FisherZ


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
    cit = causal_learn(data, method)
    theirs = from_callable(lambda x, y, z: cit(x, y, list(z)), [f"X{i}" for i in range(8)])
    picks = np.array([np.random.default_rng(seed).permutation(8)[: r + 2] for seed in range(40)])
    queries = Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
    ours = make(data)  # type: ignore[call-arg]
    np.testing.assert_allclose(ours.pvalues(queries), theirs.pvalues(queries), rtol=0, atol=1e-10)
