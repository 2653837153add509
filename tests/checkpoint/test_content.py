"""Hashes of content: a test with other answers has another one; counting in a function changes none."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numba import njit

import anypag as ap
from anypag.checkpoint.content import content_hash

Test = Callable[[int, int, tuple[int, ...]], float]


def module_of(source: str) -> dict[str, Any]:
    """The names that a module with this source would have."""
    names: dict[str, Any] = {"__name__": "own", "np": np, "pd": pd, "functools": functools, "njit": njit}
    exec(source, names)
    return names


def hash_of(source: str, name: str = "f") -> str:
    return content_hash(ap.from_callable(module_of(source)[name], ["a", "b"]))


CHANGED = {
    "a constant": ("def f(x, y, z): return 0.5", "def f(x, y, z): return 0.25"),
    "a function of numpy": ("def f(x, y, z): return np.sin(x)", "def f(x, y, z): return np.cos(x)"),
    "a default": ("def f(x, y, z, c=1): return c / 4", "def f(x, y, z, c=2): return c / 4"),
    "a default by name": ("def f(x, y, z, *, c=1): return c / 4", "def f(x, y, z, *, c=2): return c / 4"),
    "a constant inside": (
        "def f(x, y, z): return max(map(lambda i: i / 5, z))",
        "def f(x, y, z): return max(map(lambda i: i / 6, z))",
    ),
    "a set of constants": ("def f(x, y, z): return x in {1, 2}", "def f(x, y, z): return x in {1, 3}"),
    "a value of the module": ("C = 2\ndef f(x, y, z): return 1 / C", "C = 3\ndef f(x, y, z): return 1 / C"),
    "an array of the module": (
        "C = np.zeros(3)\ndef f(x, y, z): return C[x]",
        "C = np.array([0, 0, 1.0])\ndef f(x, y, z): return C[x]",
    ),
    "another function of the module": (
        "def g(x): return 0.5\ndef f(x, y, z): return g(x)",
        "def g(x): return 0.6\ndef f(x, y, z): return g(x)",
    ),
    "a method": (
        "class T:\n  names = ('a', 'b')\n  def pvalues(self, q): return 0.5 + np.zeros(len(q))\nf = T().pvalues",
        "class T:\n  names = ('a', 'b')\n  def pvalues(self, q): return 0.6 + np.zeros(len(q))\nf = T().pvalues",
    ),
    "a member of an object": (
        "class T:\n  def __init__(self): self.c = 0.5\n  def p(self, x, y, z): return self.c\nf = T().p",
        "class T:\n  def __init__(self): self.c = 0.6\n  def p(self, x, y, z): return self.c\nf = T().p",
    ),
}

OF_A_CLASS = {
    "a number": "k = 5",
    "a dict": "k = {'a': 5}",
    "an array": "k = np.array([5])",
    "a list of a base class": "...\nclass T(T):\n  k = [5]",
    "a property": "@property\n  def k(self): return 5",
    "a cached property": "@functools.cached_property\n  def k(self): return 5",
    "a method that remembers": "@functools.lru_cache\n  def k(self): return 5",
    "a compiled method": "@njit\n  def k(self): return 5",
    "a static method": "@staticmethod\n  def k(): return 5",
    "a default of a method": "def k(self, c=5): return c",
    "a class that holds itself": "pass\nT.us, T.k = [T], 5",
}
for about, member in OF_A_CLASS.items():
    made = f"class T:\n  {member}\n"
    for holder, of in {"object": "T()", "class": "T"}.items():
        source = f"{made}def f(x, y, z, held={of}): return 1"
        CHANGED[f"{about} in the class of an argument: {holder}"] = (source, source.replace("5", "7"))


@pytest.mark.parametrize("what", CHANGED)
def test_another_function_has_another_hash(what: str) -> None:
    before, after = CHANGED[what]
    assert hash_of(before) == hash_of(before)
    assert hash_of(before) != hash_of(after)
    assert hash_of(f"# a line more\n\n{before}") == hash_of(before)


def closing_over(thing: Any) -> Test:
    def f(x: int, y: int, z: tuple[int, ...]) -> float:
        return float(thing is None)

    return f


FRAME = pl.DataFrame({"a": [1.0, None, 3.0], "b": ["x", "y", None]})
OTHER = pl.DataFrame({"a": [1.0, None, 3.5], "b": ["x", "y", None]})
FRAMES = {
    "polars": (FRAME, OTHER),
    "pandas": (FRAME.to_pandas(), OTHER.to_pandas()),
    "pyarrow": (FRAME.to_arrow(), OTHER.to_arrow()),
    "a series": (FRAME["a"], OTHER["a"]),
    "a series of pandas": (pd.Series([1, 2]), pd.Series([1, 3])),
    "text": (FRAME["b"], FRAME["b"].fill_null("")),
    "an array": (np.zeros(2), np.ones(2)),
    "a list of arrays": ([np.zeros(2)], [np.ones(2)]),
    "a dict of frames": ({"a": FRAME}, {"a": OTHER}),
    "a whole number": (1, 2),
    "a ufunc": (np.sin, np.cos),
    "a builtin": (min, max),
    "a class": (ValueError, TypeError),
    "a path": (Path("a"), Path("b")),
    "a fraction": (Fraction(1, 2), Fraction(1, 3)),
    "a day": (date(2024, 1, 1), date(2024, 1, 2)),
    "a partial": (functools.partial(pow, 2), functools.partial(pow, 3)),
}


@pytest.mark.parametrize("what", FRAMES)
def test_another_thing_closed_over_has_another_hash(what: str) -> None:
    one, other = FRAMES[what]
    assert content_hash(closing_over(one)) != content_hash(closing_over(other))
    if hasattr(one, "copy") or hasattr(one, "clone"):
        same = one.copy() if hasattr(one, "copy") else one.clone()
        assert content_hash(closing_over(one)) == content_hash(closing_over(same))


def test_compiled_and_wrapped_functions_are_seen_through() -> None:
    def plain(c: float) -> FunctionType:
        names: dict[str, Any] = {}
        exec(f"def f(x, y, z): return {c}", names)
        return names["f"]  # type: ignore[no-any-return]

    for wrap in (njit, functools.lru_cache, functools.partial):
        assert content_hash(wrap(plain(0.5))) == content_hash(wrap(plain(0.5)))
        assert content_hash(wrap(plain(0.5))) != content_hash(wrap(plain(0.6)))


def test_counting_and_remembering_change_nothing() -> None:
    def counting() -> Test:
        count, known = 0, {}

        def f(x: int, y: int, z: tuple[int, ...]) -> float:
            nonlocal count
            count += 1
            known[x, y] = 0.5
            return 0.5

        return f

    test = counting()
    before = content_hash(test)
    test(0, 1, ())
    assert content_hash(test) == before


class KNN:
    """A test of a user: settings that are whole numbers, a list, a memory."""

    names = ("a", "b", "c")

    def __init__(self, k: int, columns: list[int] | None = None) -> None:
        self.k, self.columns = k, columns or [0]
        self.known: dict[int, int] = {}

    def pvalues(self, queries: ap.Queries) -> np.ndarray:
        self.known[len(self.known)] = self.k
        return np.full(len(queries), 1 / self.k)


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k: int) -> None:
        self.k = k


class Declared(KNN):
    def identity(self) -> str:
        return f"neighbours {self.k}"


def test_whole_numbers_and_lists_among_the_members_are_settings() -> None:
    assert content_hash(KNN(5)) == content_hash(KNN(5)) != content_hash(KNN(7))
    assert content_hash(KNN(5, [1, 2])) != content_hash(KNN(5, [1, 3]))
    assert content_hash(Slotted(5)) == content_hash(Slotted(5)) != content_hash(Slotted(7))


def test_an_object_that_declares_its_identity_may_count_and_remember() -> None:
    test = Declared(5)
    before = content_hash(test)
    test.pvalues(ap.Queries([0], [1], [[2]]))
    assert content_hash(test) == before != content_hash(Declared(7))


def test_what_cannot_be_looked_into_has_no_checkpoint_unless_it_says_what_it_is(tmp_path: Path) -> None:
    locked = KNN(5)
    locked.known = threading.Lock()  # type: ignore[assignment]
    with pytest.raises(ap.AnypagError, match=r"lock that it uses cannot be inspected. Give .* identity"):
        ap.learn(locked, method="icd", checkpoint=tmp_path / "c")

    def f(x: int, y: int, z: tuple[int, ...]) -> float:
        return 0.5 if locked else 0.25

    with pytest.raises(ap.AnypagError, match="version"):
        content_hash(ap.from_callable(f, ["a", "b"]))
    assert content_hash(ap.from_callable(f, ["a", "b"], version="1"), declared=True)


def test_the_checkpoint_of_another_setting_or_another_algorithm_is_refused(tmp_path: Path) -> None:
    ap.learn(KNN(5), method="icd", checkpoint=tmp_path / "c")
    with pytest.raises(ap.AnypagError, match="the data are not the same"):
        ap.learn(KNN(7), method="icd", checkpoint=tmp_path / "c", resume=True)
    from anypag.search.by_tests.icd import ALGORITHM

    def other(step: Any) -> Any:
        return lambda state, problem, tick: step(state, problem, tick)

    own = replace(ALGORITHM, name="own")
    ap.learn(Declared(5), method=own, checkpoint=tmp_path / "d")
    ap.learn(Declared(5), method=own, checkpoint=tmp_path / "d", resume=True)
    with pytest.raises(ap.AnypagError, match="the algorithm is not the same"):
        ap.learn(Declared(5), method=replace(own, step=other(own.step)), checkpoint=tmp_path / "d", resume=True)


def test_what_refers_to_itself_comes_to_an_end() -> None:
    names = module_of("def g(x): return f(x, 1, ())\ndef f(x, y, z): return g(x)")
    assert content_hash(names["f"]) == content_hash(names["f"])

    class Node:
        def __init__(self) -> None:
            self.me = [self]
            self.also = self

    assert content_hash(Node()) == content_hash(Node())


def test_the_users_own_version_counts() -> None:
    def f(x: int, y: int, z: tuple[int, ...]) -> float:
        return 0.5

    one, other = (ap.from_callable(f, ["a", "b"], version=word) for word in ("1", "2"))
    assert content_hash(one) != content_hash(other)
