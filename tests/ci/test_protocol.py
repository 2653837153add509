"""One suite that every test from data passes: shape, range, symmetry, batches, size under the null, power."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from anypag.ci.additive import Additive
from anypag.ci.base import CITest, PValues, Queries
from anypag.ci.discrete import ChiSquared, GSquared, PermutationChiSquared
from anypag.ci.gaussian import FisherZ
from anypag.ci.mixed import DegenerateGaussian
from anypag.run.engine import Search

Array = npt.NDArray[np.float64]
COLUMNS = 7
LEAST = 1e-3
"""Of some sixty p-values of the KS test one below 0.01 is to be expected, one below 0.001 is not."""


class Measured(CITest, Protocol):
    """What the tests from data offer beyond the protocol."""

    n: int

    def strength(self, queries: Queries) -> PValues: ...

    def effective_n(self, queries: Queries) -> npt.NDArray[np.int64]: ...


def gaussian(rng: np.random.Generator, rows: int, effect: float) -> Array:
    """Columns 2 and 3 cause 0 and 1, the others nothing; `effect` is what 0 adds to 1."""
    return effects_on_two(rng, rng.normal(size=(rows, COLUMNS - 2)), effect)


def discrete(rng: np.random.Generator, rows: int, effect: float) -> Array:
    """The same with two levels, three in column 3."""
    values = effects_on_two(rng, rng.integers(0, [2, 3, 2, 2, 2], size=(rows, COLUMNS - 2)), effect)
    values[:, :2] = values[:, :2] > 0.6
    return values


def mixed(rng: np.random.Generator, rows: int, effect: float) -> Array:
    """The same, with columns 1, 3 and 5 discrete."""
    causes = rng.normal(size=(rows, COLUMNS - 2))
    causes[:, [1, 3]] = rng.integers(0, [3, 2], size=(rows, 2))
    values = effects_on_two(rng, causes, effect)
    values[:, 1] = values[:, 1] > 0.4
    return values


def effects_on_two(rng: np.random.Generator, causes: npt.NDArray[Any], effect: float) -> Array:
    common = causes[:, :2].sum(axis=1) * 0.4
    first = common + rng.normal(size=len(causes))
    second = common + effect * first + rng.normal(size=len(causes))
    return np.column_stack([first, second, causes])


def with_gaps(draw: Callable[[np.random.Generator, int, float], Array]) -> Callable[..., Array]:
    """The same, with one value in twenty missing."""

    def drawn(rng: np.random.Generator, rows: int, effect: float) -> Array:
        values = draw(rng, rows, effect)
        values[rng.random(values.shape) < 0.05] = np.nan
        return values

    return drawn


CASES: dict[str, tuple[Callable[[Array], Measured], Callable[..., Array]]] = {
    "fisherz": (FisherZ, gaussian),
    "fisherz-drop": (lambda values: FisherZ(values, missing="drop"), with_gaps(gaussian)),
    "fisherz-pairwise": (lambda values: FisherZ(values, missing="pairwise"), with_gaps(gaussian)),
    "permutation": (PermutationChiSquared, discrete),
    "permutation-drop": (lambda values: PermutationChiSquared(values, missing="drop"), with_gaps(discrete)),
    "permutation-pairwise": (lambda values: PermutationChiSquared(values, missing="pairwise"), with_gaps(discrete)),
    "gsq": (GSquared, discrete),
    "gsq-drop": (lambda values: GSquared(values, missing="drop"), with_gaps(discrete)),
    "gsq-pairwise": (lambda values: GSquared(values, missing="pairwise"), with_gaps(discrete)),
    "chisq": (ChiSquared, discrete),
    "mixed": (DegenerateGaussian, mixed),
    "mixed-drop": (lambda values: DegenerateGaussian(values, missing="drop"), with_gaps(mixed)),
    "mixed-pairwise": (lambda values: DegenerateGaussian(values, missing="pairwise"), with_gaps(mixed)),
    "mixed-all-discrete": (DegenerateGaussian, discrete),
    "additive": (Additive, gaussian),
    "additive-mixed": (Additive, mixed),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[Callable[[Array], Measured], Callable[..., Array]]:
    return CASES[request.param]


@pytest.fixture
def bound(case: tuple[Callable[[Array], Measured], Callable[..., Array]]) -> Measured:
    make, draw = case
    return make(draw(np.random.default_rng(1), 400, 0.3))


def some_queries(r: int, count: int = 60) -> Queries:
    rng = np.random.default_rng(r)
    picks = np.array([rng.permutation(COLUMNS)[: r + 2] for _ in range(count)])
    return Queries(picks[:, 0], picks[:, 1], picks[:, 2:])


def test_is_a_test(bound: Measured) -> None:
    assert isinstance(bound, CITest)
    assert bound.names == tuple(f"X{i}" for i in range(COLUMNS))
    assert bound.exact is False
    assert bound.batch > 1


@pytest.mark.parametrize("r", range(5))
def test_shape_and_range(bound: Measured, r: int) -> None:
    queries = some_queries(r)
    p = bound.pvalues(queries)
    assert p.shape == (60,) and p.dtype == np.float64
    assert ((p >= 0) & (p <= 1)).all()
    strength = bound.strength(queries)
    assert strength.shape == (60,) and (strength >= 0).all()
    rows = bound.effective_n(queries)
    assert rows.shape == (60,) and ((rows > 0) & (rows <= 400)).all()


@pytest.mark.parametrize("r", range(5))
def test_same_bits_with_x_and_y_swapped_and_z_in_any_order(bound: Measured, r: int) -> None:
    queries = some_queries(r)
    shuffled = np.random.default_rng(0).permuted(queries.z, axis=1)
    for same in (Queries(queries.y, queries.x, queries.z), Queries(queries.x, queries.y, shuffled)):
        assert np.array_equal(bound.pvalues(queries), bound.pvalues(same))
        assert np.array_equal(bound.strength(queries), bound.strength(same))


@pytest.mark.parametrize("r", range(5))
def test_a_batch_equals_one_by_one(bound: Measured, r: int) -> None:
    queries = some_queries(r)
    one_by_one = [bound.pvalues(queries.take(slice(i, i + 1)))[0] for i in range(60)]
    assert np.array_equal(bound.pvalues(queries), one_by_one)


@pytest.mark.parametrize("r", [0, pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)])
def test_p_values_are_uniform_under_the_null(
    case: tuple[Callable[[Array], Measured], Callable[..., Array]], r: int
) -> None:
    """Columns 2, 3, ... are independent of each other, whatever is given among themselves."""
    make, draw = case
    rng = np.random.default_rng(10 + r)
    z = range(4, 4 + r)
    p = [make(draw(rng, 1500, 0.0)).pvalues(Queries.one(2, 3, z))[0] for _ in range(300)]
    assert stats.kstest(p, "uniform").pvalue > LEAST


def test_p_values_are_uniform_when_z_separates(case: tuple[Callable[[Array], Measured], Callable[..., Array]]) -> None:
    make, draw = case
    rng = np.random.default_rng(3)
    p = [make(draw(rng, 1500, 0.0)).pvalues(Queries.one(0, 1, [2, 3]))[0] for _ in range(200)]
    assert stats.kstest(p, "uniform").pvalue > LEAST


def test_a_known_effect_is_found(case: tuple[Callable[[Array], Measured], Callable[..., Array]]) -> None:
    make, draw = case
    rng = np.random.default_rng(4)
    p = [make(draw(rng, 1000, 0.8)).pvalues(Queries.one(0, 1, [2]))[0] for _ in range(20)]
    assert max(p) < 1e-3
    weak = make(draw(rng, 1000, 0.0)).strength(Queries.one(2, 3))
    strong = make(draw(rng, 1000, 1.0)).strength(Queries.one(0, 1))
    assert strong > weak


def test_a_users_test_declares_its_rows() -> None:
    class Neighbours:
        names, n = ("A", "B", "C"), 7

        def pvalues(self, queries: Queries) -> Any:
            return np.ones(len(queries))

    class Declaring(Neighbours):
        n_rows = 500

    assert Search(Neighbours()).problem.n_rows is None
    assert Search(Declaring()).problem.n_rows == 500
