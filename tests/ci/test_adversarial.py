"""Bad data: an error of ours that can be read, or a right answer. Nothing else, and never NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from anypag.catalogue import TESTS
from anypag.choices import Choices
from anypag.ci.base import Queries, strength_of
from anypag.ci.data_test import DataTest
from anypag.ci.resolve import resolve_test
from anypag.errors import AnypagError

Array = npt.NDArray[np.float64]

NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 0.1, 2.5, np.nan, np.inf, -np.inf, 1e150, -1e150, 1e-150, 1e308, -1e308, 5e-324, 2.0**53]
)
THINGS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=2), st.just([1]), st.just(1j)
)
SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=12)
FLAT = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12)
ARRAYS = st.one_of(
    arrays(np.float64, FLAT, elements=NUMBERS),
    arrays(np.float64, FLAT, elements=st.floats(allow_nan=False, allow_infinity=False)),
    arrays(np.float64, FLAT, elements=st.floats(-1, 1)),
    arrays(st.sampled_from([np.int8, np.uint8, np.int64, np.uint64, np.bool_, np.float16, np.float32]), SHAPES),
    arrays(st.sampled_from(["U2", "S2", "datetime64[D]", "complex128"]), SHAPES),
    arrays(object, SHAPES, elements=THINGS),
)


def ask_everything(test: DataTest) -> None:
    """Every answer must be a p-value, whatever is asked."""
    p = len(test.names)
    rng = np.random.default_rng(0)
    for r in range(min(p - 1, 4)):
        picks = np.array([rng.permutation(p)[: r + 2] for _ in range(8)])
        queries = Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
        pvalues = test.pvalues(queries)
        assert ((pvalues >= 0) & (pvalues <= 1)).all()
        measured = strength_of(test, queries)  # kernel tests have no measure of dependence
        assert measured is None or np.isfinite(measured).all()
        rows = test.effective_n(queries)
        assert ((rows >= 0) & (rows <= test.n)).all()
        swapped = Queries(queries.y, queries.x, queries.z[:, ::-1])
        assert np.array_equal(pvalues, test.pvalues(swapped))


def attempt(data: Any, **options: Any) -> None:
    try:
        test = resolve_test(data, Choices(**options))
    except AnypagError as error:
        assert len(str(error)) > 20 and str(error)[0].isupper()
    else:
        assert isinstance(test, DataTest)
        ask_everything(test)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=ARRAYS,
    test=st.sampled_from(["auto", *TESTS]),
    missing=st.sampled_from(["error", "drop", "pairwise"]),
    singular=st.sampled_from(["error", "keep"]),
)
@example(data=np.empty((0, 3)), test="auto", missing="error", singular="error")
@example(data=np.ones((5, 1)), test="auto", missing="error", singular="error")
@example(data=np.arange(5.0)[:, None], test="auto", missing="error", singular="error")
@example(data=np.array([[1e308, -1e308]] * 3 + [[-1e308, 1e308]] * 3), test="fisherz", missing="drop", singular="keep")
def test_any_array(data: npt.NDArray[Any], test: str, missing: str, singular: str) -> None:
    attempt(data, test=test, missing=missing, singular=singular)


MAKERS: dict[str, Callable[[np.random.Generator, Array], Array]] = {
    "normal": lambda rng, before: rng.normal(size=len(before)),
    "huge": lambda rng, before: rng.normal(size=len(before)) * 1e300,
    "tiny": lambda rng, before: rng.normal(size=len(before)) * 1e-300,
    "levels": lambda rng, before: rng.integers(0, 3, size=len(before)).astype(float),
    "copy": lambda rng, before: before[:, -1],
    "almost a copy": lambda rng, before: before[:, -1] * (1 + 1e-9 * rng.normal(size=len(before))),
    "offset": lambda rng, before: 1e12 + rng.normal(size=len(before)) * 1e-3,
    "one that differs": lambda rng, before: np.eye(len(before))[0],
    "sum": lambda rng, before: before.sum(axis=1),
}


@settings(max_examples=300, deadline=None)
@given(
    makers=st.lists(st.sampled_from(sorted(MAKERS)), min_size=1, max_size=6),
    rows=st.integers(4, 40),
    share_missing=st.sampled_from([0.0, 0.1, 0.5]),
    test=st.sampled_from(["auto", *TESTS]),
    missing=st.sampled_from(["drop", "pairwise"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_columns_that_are_hard_but_usable(
    makers: list[str], rows: int, share_missing: float, test: str, missing: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 1))
    for maker in makers:
        values = np.column_stack([values, MAKERS[maker](rng, values)])
    values[rng.random(values.shape) < share_missing] = np.nan
    attempt(values, test=test, missing=missing, singular="keep")


@settings(max_examples=100, deadline=None)
@given(
    scale=st.lists(st.sampled_from([1e-150, 1e-300, 1.0, 1e150, 1e300]), min_size=4, max_size=4),
    offset=st.sampled_from([0.0, 1.0, -1e3]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_scale_gives_the_right_answer(scale: list[float], offset: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4)) + offset
    queries = Queries([0, 1, 0], [1, 2, 3], [[2, 3], [0, 3], [1, 2]])
    for name in ("fisherz", "mixed"):
        plain, scaled = (resolve_test(data, Choices(method="icd", test=name)) for data in (values, values * scale))
        np.testing.assert_allclose(scaled.pvalues(queries), plain.pvalues(queries), rtol=1e-6, atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(names=st.lists(st.text(max_size=3), min_size=0, max_size=5), columns=st.integers(0, 5))
def test_any_names(names: list[str], columns: int) -> None:
    attempt(np.random.default_rng(0).normal(size=(20, columns)), names=names)


@settings(max_examples=60, deadline=None)
@given(
    table=st.dictionaries(st.text(max_size=2), st.lists(THINGS, min_size=8, max_size=8), min_size=0, max_size=4),
    missing=st.sampled_from(["error", "drop", "pairwise"]),
)
def test_any_columns(table: dict[str, list[Any]], missing: str) -> None:
    attempt({name: np.array([*column, None], dtype=object)[:-1] for name, column in table.items()}, missing=missing)


@pytest.mark.parametrize("names", [["a", "a"], ["a"], [1, 2], ["a", ""]])
def test_bad_names_are_refused(names: Any) -> None:
    with pytest.raises(AnypagError, match=r"[Nn]ame"):
        resolve_test(np.random.default_rng(0).normal(size=(20, 2)), Choices(method="icd", names=names))
