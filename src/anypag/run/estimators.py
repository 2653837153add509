"""Estimators in the style of scikit-learn, which call `learn`: `ICD(alpha=0.01).fit(X).pag_`.

scikit-learn need not be installed. The classes have all that scikit-learn asks of an estimator: named parameters,
fitted attributes with a trailing underscore, tags, and an HTML representation.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from anypag.choices import Device, DSep, Sepset, Stop, is_default
from anypag.data.columns import Transform
from anypag.data.findings import Singular
from anypag.data.table import Missing
from anypag.errors import ParameterError
from anypag.graphs.pag import PAG
from anypag.knowledge.knowledge import Knowledge
from anypag.markup import preformatted
from anypag.results.result import Result
from anypag.run.engine import learn
from anypag.search.progress import Tick

if TYPE_CHECKING:
    from anypag.search.by_scores.posterior import Posterior


@dataclass(eq=False, kw_only=True, repr=False)
class _Estimator:
    """An estimator whose parameters are the choices of `learn`; `fit` calls `learn`."""

    _method: ClassVar[str]

    alpha: float = 0.01
    test: Any = "auto"
    max_r: int | None = None
    time_budget: float | None = None
    max_tests: int | None = None
    stop: Stop | None = None
    checkpoint: str | os.PathLike[str] | None = None
    resume: bool = False
    progress: bool | Tick = False
    initial: PAG | None = None
    r0: int = 0
    max_sets: int | None = None
    sepset: Sepset | None = None
    possible_dsep: DSep = "all"
    dsep_max_r: int | None = None
    effort: float = 1.0
    selection_bias: bool = True
    knowledge: Knowledge | None = None
    names: Sequence[str] | None = None
    kinds: Mapping[str, str] | None = None
    missing: Missing = "auto"
    transform: Transform = "none"
    singular: Singular = "auto"
    device: Device = "cpu"
    threads: int = 1
    n_jobs: int | None = None

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: N803
        """Learn from a table; the graph is then in `pag_`, the whole result in `result_`."""
        self.result_: Result = learn(X, method=self._method, **self.get_params())
        self.pag_: PAG = self.result_.pag
        self.feature_names_in_ = np.array(self.pag_.names, dtype=object)
        self.n_features_in_ = len(self.pag_)
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Change parameters, by name."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ParameterError(f"{type(self).__name__} has the parameters {', '.join(known)}; got {name!r}.")
            setattr(self, name, value)
        return self

    @property
    def posterior_(self) -> Posterior | None:
        """The sampled graphs, after `fit` of "auto" or "bayes"; None for methods that sample none."""
        return self.result_.posterior

    @property
    def score(self) -> Any:
        """Always raises: graphs have no score on held-out rows."""
        raise AttributeError(
            f"{type(self).__name__} has no score: no number computed from held-out rows says how right a graph of "
            "causes is. See instead how stable it is (anypag.bootstrap), or how probable (posterior_ of anypag.Auto)."
        )

    def __repr__(self) -> str:
        """The parameters that differ from their defaults."""
        changed = [item for item in fields(self) if not is_default(item.name, getattr(self, item.name))]
        return f"{type(self).__name__}({', '.join(f'{item.name}={getattr(self, item.name)!r}' for item in changed)})"

    def _repr_html_(self) -> str:
        return self.result_._repr_html_() if self.__sklearn_is_fitted__() else preformatted(repr(self))

    def __sklearn_is_fitted__(self) -> bool:
        """Was `fit` called? scikit-learn's `check_is_fitted` asks this."""
        return hasattr(self, "result_")

    def __sklearn_tags__(self) -> Any:
        """The tags of the estimator; only scikit-learn calls this."""
        from sklearn.utils import InputTags, Tags, TargetTags

        takes = InputTags(allow_nan=self.missing != "error", categorical=True, string=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=takes)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Accepted for pipelines; it has no effect, because the output is a graph."""
        return self


class Auto(_Estimator):
    """Tests, then a posterior over graphs if a score fits: an estimator with the arguments of `anypag.learn`.

    >>> import anypag as ap
    >>> ap.Auto(alpha=0.05).get_params()["alpha"]
    0.05
    """

    _method = "auto"


class ICD(_Estimator):
    """Iterative causal discovery: an estimator with the arguments of `anypag.learn`.

    >>> import anypag as ap
    >>> ap.ICD(alpha=0.05).get_params()["alpha"]
    0.05
    """

    _method = "icd"


class FCI(_Estimator):
    """FCI: an estimator with the arguments of `anypag.learn`."""

    _method = "fci"


class Bayes(_Estimator):
    """A posterior over graphs (`posterior_`): an estimator with the arguments of `anypag.learn`.

    >>> import anypag as ap
    >>> ap.Bayes(effort=2.0).get_params()["effort"]
    2.0
    """

    _method = "bayes"
