"""The value of a formula on an exact table, by looping over arrays that always have all axes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anypag.effects.identify.expressions import Expression, P, Product, Quotient, Sum

Values = npt.NDArray[np.float64]


def value(expression: Expression, joint: Values) -> Values:
    """(2 or 1, ...) one axis a variable, of length 1 where the value does not depend on it."""
    axes = range(joint.ndim)
    if isinstance(expression, P):
        both = joint.sum(axis=tuple(v for v in axes if not (expression.of | expression.given) >> v & 1), keepdims=True)
        below = joint.sum(axis=tuple(v for v in axes if not expression.given >> v & 1), keepdims=True)
        return np.asarray(both / below)
    if isinstance(expression, Product):
        result = np.ones((1,) * joint.ndim)
        for factor in expression.factors:
            result = result * value(factor, joint)
        return result
    if isinstance(expression, Quotient):
        return value(expression.top, joint) / value(expression.bottom, joint)
    assert isinstance(expression, Sum)
    body = value(expression.body, joint)
    for v in axes:
        if expression.over >> v & 1:
            assert body.shape[v] == joint.shape[v], "a sum over a variable that the body does not depend on"
    return np.asarray(body.sum(axis=tuple(v for v in axes if expression.over >> v & 1), keepdims=True))
