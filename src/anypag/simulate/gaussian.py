"""Linear Gaussian systems: every variable is a weighted sum of its parents plus standard normal noise."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import scipy.linalg

from anypag.arrays import Floats
from anypag.errors import ParameterError
from anypag.graphs.base import Node
from anypag.graphs.pag import DAG
from anypag.simulate.sample import Sample, Seed, checked_count, checked_parts, generator

Weights = npt.NDArray[np.float64]
"""(n, n): the weight of the row in the equation of the column, 0 where there is no edge."""


def linear_gaussian(
    dag: DAG,
    n_samples: int,
    *,
    latent: Iterable[Node] = (),
    selection: Iterable[Node] = (),
    weights: npt.ArrayLike | None = None,
    seed: Seed,
) -> Sample:
    """Draw from `x_j = Σ_i weights[i, j] x_i + noise_j` with independent standard normal noise.

    Selection: rows are drawn given that all selection variables are 0. If selection variables have no children, that is
    the same as keeping a row with probability Π exp(-m²/2). The product has a factor for each selection variable, and m
    is the weighted sum of its parents. Selected rows are still exactly Gaussian (rows cut at a threshold would not be,
    and tests of partial correlation would then be wrong). They are drawn directly, so strong selection is not slow.

    Args:
        dag: the causal graph, latent and selection nodes included.
        n_samples: how many (selected) rows.
        latent: nodes that are not measured.
        selection: nodes that decide whether a row is in the sample.
        weights: (n, n), non-zero exactly where the DAG has an edge; drawn by `random_weights` if left out.
        seed: a whole number or a `numpy.random.Generator`.

    Returns:
        The observed columns.

    >>> dag = DAG.from_string("L --> A; L --> B; A --> S; B --> S")
    >>> linear_gaussian(dag, 100, latent=["L"], selection=["S"], seed=1)
    Sample(100 rows of 'A', 'B')
    """
    n_samples = checked_count(n_samples)
    observed, selected = checked_parts(dag, latent, selection)
    random = generator(seed, "linear_gaussian")
    weights = random_weights(dag, seed=random) if weights is None else _checked_weights(dag, weights)
    values = _propagated(dag, weights, random.standard_normal((len(dag), n_samples)))
    if selected:
        values = _given_zero(values, selected, _propagated(dag, weights, np.eye(len(dag))))
    return Sample(values[observed].T, [dag.names[i] for i in observed])


def random_weights(dag: DAG, *, low: float = 0.5, high: float = 2.0, seed: Seed) -> Weights:
    """A weight for every edge, uniform between `low` and `high`, with a random sign.

    Returns:
        (n, n), the weight of the edge from the row to the column, 0 where there is no edge.

    >>> random_weights(DAG.from_string("A --> B"), seed=1).round(2)
    array([[ 0.  , -1.27],
           [ 0.  ,  0.  ]])
    """
    if not 0 < low <= high < np.inf:
        raise ParameterError(f"Weights are drawn with 0 < low <= high; got low = {low!r}, high = {high!r}.")
    random = generator(seed, "random_weights")
    edges = np.nonzero(dag.adjacency)
    sizes = random.uniform(low, high, len(edges[0]))
    weights = np.zeros((len(dag), len(dag)))
    weights[edges] = sizes * random.choice((-1.0, 1.0), len(edges[0]))
    return weights


def implied_covariance(dag: DAG, weights: npt.ArrayLike) -> Floats:
    """The covariance of all variables of the linear system, (I - W)⁻ᵀ (I - W)⁻¹.

    >>> implied_covariance(DAG.from_string("A --> B"), [[0, 2], [0, 0]])
    array([[1., 2.],
           [2., 5.]])
    """
    effects = _propagated(dag, _checked_weights(dag, weights), np.eye(len(dag)))
    return effects @ effects.T


def _propagated(dag: DAG, weights: Weights, noise: Floats) -> Floats:
    """(variables, rows): the values of the system, given noise of the same shape."""
    values = noise.copy()
    for node in map(dag.index, dag.topological_order()):
        parents = np.flatnonzero(weights[:, node])
        values[node] += weights[parents, node] @ values[parents]
    return values


def _given_zero(values: Floats, selected: list[int], effects: Floats) -> Floats:
    """(variables, rows): the values given that selection variables are 0. These are `values` minus a regression on
    these variables, by a QR of `effects` (of each noise on each variable), because covariances may be ill-conditioned.
    """
    basis, triangle = scipy.linalg.qr(effects[selected].T, mode="economic")
    coefficients = scipy.linalg.solve_triangular(triangle, basis.T @ effects.T)
    return np.asarray(values - coefficients.T @ values[selected])


def _checked_weights(dag: DAG, weights: npt.ArrayLike) -> Weights:
    array = np.asarray(weights, np.float64)
    if array.shape != (len(dag), len(dag)) or not np.isfinite(array).all():
        raise ParameterError(
            f"Weights are finite numbers, one row and one column per node, shape {(len(dag), len(dag))}; "
            f"got shape {array.shape}."
        )
    wrong = np.argwhere((array != 0) != (dag.adjacency != 0))
    if len(wrong):
        i, j = wrong[0]
        edge = f"{dag.names[i]} --> {dag.names[j]}"
        what = "is an edge and has weight 0" if dag.adjacency[i, j] else f"is no edge and has weight {array[i, j]}"
        raise ParameterError(f"Weights are non-zero exactly where the DAG has an edge; {edge} {what}.")
    return array
