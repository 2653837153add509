"""Tests of other packages, as tests of this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anypag.ci.base import CITest, from_callable
from anypag.data.columns import checked_column_names
from anypag.errors import CITestError


def is_causal_learn_test(thing: Any) -> bool:
    """Is it a test object of causal-learn, bound to its data?"""
    data = getattr(thing, "data", None) if callable(thing) else None
    return isinstance(data, np.ndarray) and data.ndim == 2


def from_causal_learn(cit: Any, names: Sequence[str] | None = None) -> CITest:
    """A test of causal-learn: what `causallearn.utils.cit.CIT(data, method)` returns.

    `learn(cit)` and `learn(table, test=cit)` do this by themselves. Its graphs are taken as they are wherever a graph
    is (`compare`, pictures, files), and `anypag.as_graph` makes one of ours of them.

    Args:
        cit: a test object of causal-learn, bound to its data.
        names: of the columns of its data; X0, X1, ... if not given.

    Raises:
        CITestError: it is no such object; or, when asked, the test itself fails or has no answer.
    """
    if not is_causal_learn_test(cit):
        raise CITestError(
            f"A test object of causal-learn was wanted, such as CIT(data, 'kci'); got {type(cit).__name__}."
        )
    checked = checked_column_names(names, cit.data.shape[1])

    def pvalue(x: int, y: int, z: tuple[int, ...]) -> float:
        asked = f"{checked[x]} and {checked[y]} given {', '.join(checked[i] for i in z) or 'nothing'}"
        try:
            p = float(cit(x, y, list(z)))
        except (ValueError, AssertionError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise CITestError(f"causal-learn's test of {asked} failed: {error}") from error
        if not 0.0 <= p <= 1.0:
            raise CITestError(f"causal-learn's test of {asked} answered {p}, which is no p-value.")
        return p

    return from_callable(pvalue, checked)
