"""Slow, obvious twins of the linear systems in `anypag._kernels.gaussian`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def fit(s: Floats, arrow: Flags, spouse: Flags, sweeps: int) -> tuple[Floats, Floats]:
    """B and Ω by so many sweeps of regressions, each written with whole matrices."""
    n = len(s)
    b, omega = np.zeros((n, n)), np.diag(np.diag(s)).astype(np.float64)
    for j in range(n):
        parents = np.flatnonzero(arrow[:, j])
        b[j, parents] = np.linalg.solve(s[np.ix_(parents, parents)], s[parents, j])
        omega[j, j] = s[j, j] - b[j, parents] @ s[parents, j]
    for _ in range(sweeps):
        for i in range(n):
            others = np.delete(np.arange(n), i)
            parents, spouses = np.flatnonzero(arrow[:, i]), np.flatnonzero(spouse[i])
            inverse = np.linalg.inv(omega[np.ix_(others, others)])
            pseudo = np.zeros((n, n))
            pseudo[others] = inverse @ (np.eye(n) - b)[others]
            rows = np.vstack([np.eye(n)[parents], pseudo[spouses]])
            found = np.linalg.solve(rows @ s @ rows.T, rows @ s[:, i])
            b[i, parents] = found[: len(parents)]
            omega[i, spouses] = omega[spouses, i] = found[len(parents) :]
            held = omega[i, others]
            omega[i, i] = s[i, i] - found @ (rows @ s[:, i]) + held @ inverse @ held
    return b, omega


def total_effects(b: Floats, is_set: Flags) -> Floats:
    """(I - B)⁻¹ with the equations of nodes that are set cut, but for the one whose effect is asked for."""
    cut = np.where(is_set[:, None], 0.0, b)
    effects = np.asarray(np.linalg.inv(np.eye(len(b)) - cut).T, np.float64)
    np.fill_diagonal(effects, 0.0)
    return effects


def log_likelihood(s: Floats, b: Floats, omega: Floats) -> float:
    """Per row, up to a constant."""
    cause = np.linalg.inv(np.eye(len(s)) - b)
    implied = cause @ omega @ cause.T
    return float(-np.linalg.slogdet(implied)[1] - np.trace(np.linalg.solve(implied, s))) / 2
