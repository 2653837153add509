"""The definition of an algorithm: its first state, its step, and its facts from the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from anypag.catalogue import METHODS, Method
from anypag.choices import DECLARED, Choices, is_default, require
from anypag.ci.base import CITest
from anypag.search.problem import Problem
from anypag.search.progress import Tick
from anypag.search.state import State, StepInfo

Step = Callable[[State, Problem, Tick], tuple[State, StepInfo]]


@dataclass(frozen=True)
class Algorithm:
    """A search algorithm. `learn(method=...)` takes it by its name or as an object.

    Args:
        name: the name in results and checkpoints.
        facts: the facts about it in the catalogue (`anypag.catalogue`).
        init: a function of a problem that returns the state before the first step.
        step: a function of a state, a problem and a tick (a callback); it returns the next state and what was done. It
            must not change the state that it is given, and must call the tick before every batch of tests.
        on_data: defaults for choices that the user left open. They are used unless the test is exact (an oracle).
        state: the class of its states: `State`, or a subclass with more fields.
    """

    name: str
    facts: Method
    init: Callable[[Problem], State]
    step: Step
    on_data: Mapping[str, Any] = field(default_factory=dict)
    state: type[State] = State

    def refuse_unused(self, choices: Choices) -> None:
        """Raise ParameterError if a choice was made that this algorithm does not use."""
        for name, declared in DECLARED.items():
            value = getattr(choices, name)
            if declared.by_method and name not in self.facts.uses and not is_default(name, value):
                require(False, name, f"left out: method {self.name!r} does not use it", value)

    def filled_in(self, choices: Choices, test: CITest) -> Choices:
        """The choices, open ones filled in. An open `sepset` is "first" if the test takes one question at a time."""
        preset = {"sepset": "first", "max_sets": 0, **({} if test.exact else self.on_data)}
        preset |= {"sepset": "first"} if test.batch == 1 else {}
        is_open = {name for name in preset if name in self.facts.uses and getattr(choices, name) is None}
        return replace(choices, **{name: preset[name] for name in is_open})


def algorithm(method: str | Algorithm) -> Algorithm:
    """The algorithm with this name; an `Algorithm` is returned unchanged."""
    if not isinstance(method, str):
        return method
    require(method in METHODS, "method", f"one of {', '.join(map(repr, METHODS))}", method)
    facts = METHODS[method]
    found: Algorithm = getattr(import_module(facts.module), facts.declared_as)
    return found
