"""The scikit-learn way, without scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from anypag import FCI, ICD, Auto, Bayes, learn
from anypag.errors import ParameterError
from anypag.simulate import random_system

SAMPLE = random_system(9, seed=2).linear_gaussian(400, seed=2)


def cloned(estimator: Any) -> Any:
    """What `sklearn.base.clone` does: build from `get_params`, and require the very same objects back."""
    params = estimator.get_params(deep=False)
    copy = type(estimator)(**params)
    assert all(copy.get_params()[name] is value for name, value in params.items())
    return copy


@pytest.mark.parametrize("kind", [Auto, ICD, FCI, Bayes])
def test_parameters_are_those_of_the_constructor(kind: Any) -> None:
    assert list(kind().get_params()) == list(inspect.signature(kind).parameters)


@pytest.mark.parametrize(("kind", "method"), [(Auto, "auto"), (ICD, "icd"), (FCI, "fci"), (Bayes, "bayes")])
def test_fit_is_learn(kind: Any, method: Any) -> None:
    estimator = kind(alpha=0.05, max_r=3)
    assert estimator.fit(SAMPLE) is estimator
    result = learn(SAMPLE, method=method, alpha=0.05, max_r=3)
    assert estimator.pag_ == result.pag
    assert estimator.result_.tests == result.tests
    assert estimator.feature_names_in_.tolist() == list(SAMPLE.names)
    assert estimator.n_features_in_ == len(SAMPLE.names)


@pytest.mark.parametrize("kind", [Auto, ICD])
def test_the_posterior_is_that_of_the_result(kind: Any) -> None:
    estimator = kind() if kind is ICD else kind(effort=0.1)
    assert not hasattr(estimator, "posterior_")
    estimator.fit(SAMPLE)
    assert estimator.posterior_ is estimator.result_.posterior
    assert (estimator.posterior_ is None) is (kind is ICD)


def test_fit_takes_an_array_and_ignores_y() -> None:
    estimator = ICD().fit(np.asarray(SAMPLE), None)
    assert estimator.n_features_in_ == len(SAMPLE.names)
    assert len(estimator.pag_.edges()) == len(ICD().fit(SAMPLE).pag_.edges())


def test_a_clone_is_not_fitted() -> None:
    values = np.array([1.0])
    estimator = ICD(alpha=0.2, test=values).set_params(alpha=0.05)
    copy = cloned(estimator)
    assert copy.alpha == 0.05
    assert copy.test is values
    assert not hasattr(cloned(ICD().fit(SAMPLE)), "pag_")


def test_set_params() -> None:
    estimator = FCI()
    assert estimator.set_params(alpha=0.1, max_r=2) is estimator
    assert (estimator.alpha, estimator.max_r) == (0.1, 2)
    with pytest.raises(ParameterError, match=r"FCI has the parameters alpha, .*; got 'beta'\."):
        estimator.set_params(beta=1)


def test_parameters_are_checked_when_it_is_fitted() -> None:
    estimator = ICD(alpha=3)
    with pytest.raises(ParameterError, match="'alpha' must be a number between 0 and 1"):
        estimator.fit(SAMPLE)


def test_the_text_names_the_choices() -> None:
    assert "alpha=0.05" in repr(ICD(alpha=0.05))
