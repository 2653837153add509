"""The estimators in the hands of scikit-learn itself."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

import anypag as ap

KINDS = [ap.ICD, ap.FCI, ap.Bayes]
TABLE = pd.DataFrame(np.asarray(ap.simulate.random_system(7, seed=1).linear_gaussian(300, seed=1)), columns=None)
TABLE.columns = [f"x{i}" for i in range(TABLE.shape[1])]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_fitted_after_fit_and_not_before(kind: Any) -> None:
    with pytest.raises(NotFittedError):
        check_is_fitted(kind())
    check_is_fitted(kind().fit(TABLE))


@pytest.mark.parametrize("kind", KINDS)
def test_a_clone_has_the_parameters_and_is_not_fitted(kind: Any) -> None:
    fitted = kind(alpha=0.2, max_r=1).fit(TABLE)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)


@pytest.mark.parametrize("kind", KINDS)
def test_it_takes_every_choice_of_learn(kind: Any) -> None:
    of_learn = set(inspect.signature(ap.learn).parameters) - {"data_or_test", "method"}
    assert set(kind().get_params()) == of_learn


def test_a_pipeline_shows_sets_and_fits_it() -> None:
    pipeline = make_pipeline(StandardScaler(), ap.ICD(alpha=0.05)).set_output(transform="pandas")
    assert "ICD(alpha=0.05)" in repr(pipeline)
    assert "ICD" in pipeline._repr_html_()
    pipeline.set_params(icd__alpha=0.01).fit(TABLE)
    check_is_fitted(pipeline[-1])
    assert "ICD" in pipeline._repr_html_()
    assert pipeline[-1].feature_names_in_.tolist() == list(TABLE.columns)
    assert pipeline[-1].pag_ == ap.learn(TABLE, method="icd").pag


def test_names_are_an_array_as_scikit_learn_has_them() -> None:
    names = ap.ICD().fit(TABLE).feature_names_in_
    assert isinstance(names, np.ndarray)
    assert names.dtype == object
    np.testing.assert_array_equal(names, StandardScaler().fit(TABLE).feature_names_in_)


def test_there_is_no_score_and_it_says_why() -> None:
    assert not hasattr(ap.ICD(), "score")
    with pytest.raises(AttributeError, match=r"ICD has no score: .* held-out .*anypag\.bootstrap"):
        ap.ICD().score  # noqa: B018
    with pytest.raises(TypeError, match="score"):
        GridSearchCV(ap.ICD(), {"alpha": [0.01, 0.05]}).fit(TABLE)


def test_a_notebook_shows_the_graph_once_there_is_one() -> None:
    assert ap.ICD(alpha=0.05)._repr_html_() == "<pre>ICD(alpha=0.05)</pre>"
    assert "<svg" in ap.ICD().fit(TABLE)._repr_html_()
