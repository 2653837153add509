"""A graphics card in place of the CPU: the same decisions, a sentence where it cannot be had, close calls counted.

There is no card where tests run, so NumPy takes its place; `tests/ci/test_cuda.py` is for machines that have one.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.ci import gpu
from anypag.ci.gaussian import FisherZ
from anypag.ci.gpu import CardError, cuda_card, cuda_code
from anypag.cli.main import main
from anypag.errors import AnypagWarning, ParameterError
from numpy_card import NumpyCard


def data(seed: int, columns: int = 15, rows: int = 300) -> Any:
    system = ap.simulate.random_system(columns, 2.5, seed=seed)
    return system.linear_gaussian(rows, seed=seed).rows


def told(result: ap.Result) -> Any:
    steps = [(item.r, item.info.tests, str(item.pag)) for item in result.history]
    return steps, {pair: (why.given, why.r) for pair, why in result.sepsets.items()}


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> NumpyCard:
    made = NumpyCard()
    monkeypatch.setattr(gpu, "cuda_card", lambda: made)
    return made


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("threads", [1, 3])
def test_decisions_are_those_of_the_cpu(card: NumpyCard, seed: int, threads: int) -> None:
    there, here = (ap.learn(data(seed), method="icd", device=device, threads=threads) for device in ("cuda", "cpu"))
    assert told(there) == told(here)
    assert {"products", "pairs", "singles"} <= card.calls.keys()
    for pair, why in there.sepsets.items():
        assert why.p == pytest.approx(here.sepsets[pair].p, rel=1e-9)


def test_the_same_matrix_gives_the_same_bits(card: NumpyCard) -> None:
    test = FisherZ(data(1), device="cuda")
    plain = FisherZ.from_covariance(test.correlation, test.n, test.names)
    assert np.array_equal(plain.correlation, test.correlation)
    there, here = ap.learn(test, method="icd"), ap.learn(plain, method="icd")
    assert there.pag == here.pag and dict(there.sepsets) == dict(here.sepsets)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(2, 60), st.sampled_from([0, 1, 300]))
def test_rows_in_parts_and_columns_of_any_size(seed: int, p: int, rows: int, chunk: int) -> None:
    """Sums of several chunks, and columns whose scale grows from one to the next, as the CPU has them."""
    from anypag.data import moments

    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, p)) * 10.0 ** rng.integers(-250, 250, p)
    values[rows // 2 :] *= 2.0 ** rng.integers(0, 9)
    names = [f"v{i}" for i in rng.permutation(p)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moments, "CHUNK", chunk or 10**9)
        there, here = (moments.moments_of(values, names, on=who) for who in (NumpyCard(), None))
    assert there.correlation == pytest.approx(here.correlation, abs=1e-12)
    assert there.deviation == pytest.approx(here.deviation, rel=1e-12)
    assert there.mean == pytest.approx(here.mean, rel=1e-9)


def test_nodes_that_tie_are_decided_as_on_the_cpu(card: NumpyCard) -> None:
    """Copies of a column separate equally well."""
    rng = np.random.default_rng(3)
    common = rng.normal(size=200)
    columns = [common + rng.normal(size=200) for _ in range(4)]
    values = np.column_stack([common, common * 2, -common, *columns])
    there, here = (ap.learn(values, device=device, singular="keep", max_r=1) for device in ("cuda", "cpu"))
    assert told(there) == told(here)


@pytest.mark.filterwarnings("always::anypag.errors.AnypagWarning")
def test_every_door_tells_of_close_calls(card: NumpyCard, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = data(2)
    p = np.sort([why.p for why in ap.learn(values, method="icd").sepsets.values()])[0]
    options: dict[str, Any] = {"method": "icd", "test": "fisherz", "device": "cuda", "alpha": float(p) + 1e-12}
    for search in (ap.learn, lambda *given, **more: list(ap.iterate(*given, **more)), partial(ap.bootstrap, n=2)):
        with pytest.warns(AnypagWarning, match="^3 p-values were within 1e-9 of alpha: the CPU"):
            search(values, **options)
    np.savetxt(tmp_path / "table.csv", values, "%.17g", ",", header=",".join(f"x{k}" for k in range(13)), comments="")
    typed = [f"--{name}={value}" for name, value in options.items()]
    main(["learn", str(tmp_path / "table.csv"), *typed])
    assert (
        "\nwarning: 3 p-values were within 1e-9 of alpha: the CPU might decide otherwise.\n" in capsys.readouterr().out
    )
    main(["learn", str(tmp_path / "table.csv"), *typed, "--quiet"])
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("fails_after", [0, 1, 2])
def test_a_card_whose_memory_is_full(fails_after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "cuda_card", lambda: NumpyCard(fails_after))
    with pytest.raises(CardError, match="memory of the graphics card is too small"):
        ap.learn(data(0), method="icd", device="cuda")
    with pytest.warns(AnypagWarning, match="The CPU takes over, as device = 'auto' allows"):
        found = ap.learn(data(0), method="icd", device="auto")
    assert told(found) == told(ap.learn(data(0), method="icd"))


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(CardError, match=r"needs CuPy, which is not installed: pip install 'anypag\[gpu\]'"):
        ap.learn(data(0), method="icd", device="cuda")
    with pytest.warns(AnypagWarning, match="The CPU takes over"):
        assert told(ap.learn(data(0), method="icd", device="auto")) == told(ap.learn(data(0), method="icd"))


@pytest.mark.parametrize("count", [0, RuntimeError("cudaErrorInsufficientDriver: driver is too old")])
def test_without_a_card_or_a_driver(count: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def get_device_count() -> int:
        if isinstance(count, Exception):
            raise count
        return int(count)

    runtime = SimpleNamespace(getDeviceCount=get_device_count)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    with pytest.raises(CardError, match=r"No graphics card can be used here: (there is none|CUDA says .* too old)"):
        cuda_card()


def test_what_has_no_use_for_a_card() -> None:
    levels = np.random.default_rng(0).integers(0, 2, (50, 3))
    with pytest.raises(ParameterError, match="left out: PermutationChiSquared computes on the CPU"):
        ap.learn(levels, method="icd", device="cuda")
    with pytest.raises(ParameterError, match="'cpu', 'cuda' or 'auto'"):
        FisherZ(data(0), device="gpu")  # type: ignore[arg-type]


def test_resamples_use_the_card(card: NumpyCard) -> None:
    table = data(0)
    here = ap.bootstrap(table, method="icd", n=3, test="fisherz")
    card.calls.clear()
    there = ap.bootstrap(table, method="icd", n=3, test="fisherz", device="cuda")
    assert there.graphs == here.graphs
    assert card.calls["products"] == 4  # once for the whole, once for each resample


def test_resamples_leave_a_card_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "cuda_card", lambda: NumpyCard(2))
    here = ap.bootstrap(data(0), method="icd", n=3, test="fisherz")
    with pytest.warns(AnypagWarning, match="The CPU takes over, as device = 'auto' allows"):
        assert ap.bootstrap(data(0), method="icd", n=3, test="fisherz", device="auto").graphs == here.graphs


def test_a_table_in_an_engine_uses_the_card(card: NumpyCard) -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(data(0))  # noqa: F841  # DuckDB finds it by its name
    columns = ", ".join(f'"{k}" as X{k}' for k in range(data(0).shape[1]))
    test = FisherZ(duckdb.sql(f"select {columns} from frame"), device="cuda")
    assert test.device == "cuda" and card.has(test.correlation)


def test_missing_values_and_a_card(card: NumpyCard) -> None:
    values = np.array(data(0))
    values[3, 2] = np.nan
    with pytest.raises(ParameterError, match="each test uses other rows"):
        ap.learn(values, method="icd", device="cuda", missing="pairwise")
    assert told(ap.learn(values, method="icd", device="cuda", missing="drop")) == told(
        ap.learn(values, method="icd", missing="drop")
    )


def test_the_source_names_what_the_module_calls() -> None:
    for name in ("mirror", "correlate", "count_pairs", "write_pairs", "singles"):
        assert f"__global__ void {name}(" in cuda_code()
