"""Settings: every change can be kept and read again; statements are about columns that are switched on."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag.errors import AnypagError, ParameterError
from anypag.knowledge.statements import PairStatement, Tiers
from anypag.studio.settings import OFFERED, WORDS, Settings, in_words, offered

NAMES = ("a", "b c", 'd"e', "~>", "selection", "ü")
names = st.sampled_from(NAMES)
changes: st.SearchStrategy[list[Any]] = st.one_of(
    st.tuples(st.just("off"), names, st.booleans()).map(list),
    st.tuples(st.just("off"), st.lists(names), st.just(True)).map(list),
    st.tuples(st.just("kind"), names, st.sampled_from(["continuous", "discrete", None])).map(list),
    st.tuples(st.just("gap"), st.sampled_from(["-999", "?", "NA"])).map(list),
    st.tuples(st.just("reading"), st.just("header"), st.booleans()).map(list),
    st.tuples(st.just("choice"), st.just("alpha"), st.sampled_from([0.05, 0.01, None])).map(list),
    st.tuples(st.just("tiers"), st.permutations(NAMES).map(lambda some: [list(some[:2]), list(some[2:4])])).map(list),
    st.tuples(st.just("say"), st.sampled_from(sorted(WORDS)), names, names).map(list),
    st.just(["say", "within_tiers"]),
    st.tuples(st.just("unsay"), st.integers(0, 2)).map(list),
)


def after(steps: list[list[Any]]) -> Settings:
    settings = Settings()
    for step in steps:
        try:
            settings = settings.changed(*step)
        except ParameterError:
            continue
    return settings


@given(st.lists(changes, max_size=8))
def test_what_is_kept_is_read_again(steps: list[list[Any]]) -> None:
    settings = after(steps)
    assert Settings.of(json.loads(json.dumps(asdict(settings)))) == settings


@given(st.lists(changes, max_size=8))
def test_statements_are_about_columns_that_are_on(steps: list[list[Any]]) -> None:
    settings = after(steps)
    on = set(settings.columns(NAMES))
    for one in settings.statements_on(on):
        if isinstance(one, Tiers):
            assert len(one.tiers) > 1 and {name for tier in one.tiers for name in tier} <= on
        if isinstance(one, PairStatement):
            assert {*(one.left or ()), *(one.right or ())} <= on
    assert all(in_words(text) for text in settings.statements)
    settings.contradiction(NAMES)


@pytest.mark.parametrize("kept", [None, [], {"off": 3}, {"kinds": {"a": 1}}, {"statements": ["x"]}, {"tiers": [1]}])
def test_a_damaged_file_is_refused(kept: Any) -> None:
    with pytest.raises((AnypagError, TypeError)):
        Settings.of(kept)


def test_the_page_offers_choices_with_their_help() -> None:
    shown = {one["name"]: one for one in offered(Settings().changed("choice", "alpha", 0.05))}
    assert tuple(shown) == OFFERED
    assert shown["alpha"]["value"] == 0.05 and shown["alpha"]["default"] == 0.01 and shown["alpha"]["help"]
    assert "auto" in shown["method"]["values"]
