"""The scikit-learn way: `ICD(alpha=0.01).fit(X).pag_`. A thin shell over `learn`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from anypag.data.table import Missing
from anypag.errors import ParameterError
from anypag.graphs.pag import PAG
from anypag.run.engine import learn
from anypag.run.methods import Method
from anypag.run.result import Result


@dataclass(eq=False)
class _Estimator:
    """Stores its parameters; `fit` learns."""

    alpha: float = 0.01
    test: Any = "auto"
    max_r: int | None = None
    time_budget: float | None = None
    selection_bias: bool = True
    missing: Missing = "error"
    threads: int = 1

    def fit(self, X: Any, y: None = None) -> Self:  # noqa: N803
        """Learn from a table; the graph is then in `pag_`, the whole result in `result_`."""
        self.result_: Result = learn(
            X,
            method=self._method(),
            alpha=self.alpha,
            test=self.test,
            max_r=self.max_r,
            time_budget=self.time_budget,
            selection_bias=self.selection_bias,
            missing=self.missing,
            threads=self.threads,
        )
        self.pag_: PAG = self.result_.pag
        self.feature_names_in_ = self.pag_.names
        self.n_features_in_ = len(self.pag_)
        return self

    def _method(self) -> Method:
        raise NotImplementedError

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


@dataclass(eq=False)
class ICD(_Estimator):
    """Iterative causal discovery, as a scikit-learn estimator.

    Args: as for `anypag.learn`.

    >>> import anypag as ap
    >>> ap.ICD(alpha=0.05).get_params()["alpha"]
    0.05
    """

    def _method(self) -> Method:
        return "icd"


@dataclass(eq=False)
class FCI(_Estimator):
    """FCI, as a scikit-learn estimator.

    Args: as for `anypag.learn`.
    """

    def _method(self) -> Method:
        return "fci"
