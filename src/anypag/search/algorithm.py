"""What an algorithm is: where it starts, what one step does, and what may be relied on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib import import_module
from typing import Any

from anypag.catalogue import METHODS
from anypag.choices import DECLARED, Choices, is_default, require
from anypag.ci.base import CITest
from anypag.errors import Option, ParameterError
from anypag.search.problem import Problem
from anypag.search.progress import Tick
from anypag.search.state import State, StepInfo

Step = Callable[[State, Problem, Tick], tuple[State, StepInfo]]


class OnTheWay(StrEnum):
    """What holds, with a perfect test, in a graph that a stopped run leaves."""

    CLAIMS = "every claim is right"
    MISSING_EDGES = "missing edges are right; marks come at the end"
    NOTHING = "claims can be wrong"


class AtTheEnd(StrEnum):
    """What holds, with a perfect test, in the graph of a finished run."""

    COMPLETE = "the whole graph is right"
    SOUND = "every claim is right; some edges may stay that FCI removes"
    NOTHING_HIDDEN = "right in the limit of many rows if nothing is hidden"
    COMPLETE_IN_THE_LIMIT = "the whole graph is right in the limit of many rows"


@dataclass(frozen=True)
class Promises:
    """What may be relied on at a stop and at the end."""

    on_the_way: OnTheWay
    at_the_end: AtTheEnd


@dataclass(frozen=True)
class Algorithm:
    """A search, to be given to `learn(method=...)` by its name or as it is.

    Args:
        name: as results and checkpoints have it.
        about: what it is, in a few words.
        init: the state before the first step.
        step: one step: from a state, a problem and a tick to the next state and what was done. It must not change the
            state it is given, and calls the tick before every batch of tests.
        promises: what may be relied on.
        phases: the names that `state.phase` can have.
        uses: the choices declared `by_method` that it reads.
        on_data: values for choices that are left open, where the test is not exact.
        orders_nodes: numbers the nodes by how strongly they depend on each other, so that the order of the columns does
            not matter; else they stay in the order of the columns.
        state: the class of its states, where it keeps more than `State` does.
        needs_score: works on a score of the data (`problem.score`).
    """

    name: str
    about: str
    init: Callable[[Problem], State]
    step: Step
    promises: Promises
    phases: tuple[str, ...] = ("iteration",)
    uses: frozenset[str] = frozenset()
    on_data: Mapping[str, Any] = field(default_factory=dict)
    orders_nodes: bool = False
    state: type[State] = State
    needs_score: bool = False

    def refuse_unused(self, choices: Choices) -> None:
        """Refuse a choice that this algorithm makes no use of."""
        for name, declared in DECLARED.items():
            value = getattr(choices, name)
            is_used = not declared.by_method or name in self.uses
            wanted = f"left out: method {self.name!r} does not use it"
            require(is_used or is_default(name, value), name, wanted, value)

    def filled_in(self, choices: Choices, test: CITest) -> Choices:
        """The choices with those filled in that were left open. Where every test costs, the first set counts."""
        preset = {"sepset": "first", "max_sets": 0, **({} if test.exact else self.on_data)}
        preset |= {"sepset": "first"} if test.batch == 1 else {}
        is_open = {name for name in preset if name in self.uses and getattr(choices, name) is None}
        return replace(choices, **{name: preset[name] for name in is_open})


def promises_of(method: str) -> Promises | None:
    """What a method promises; None for one that the catalogue does not have."""
    return algorithm(method).promises if method in METHODS else None


def algorithm(method: str | Algorithm) -> Algorithm:
    """The algorithm of that name; an algorithm is one already."""
    if not isinstance(method, str):
        return method
    if method not in METHODS:
        wanted = f"one of {', '.join(map(repr, METHODS))}"
        raise ParameterError("The option ", Option("method"), f" must be {wanted}; got {method!r}.")
    found: Algorithm = import_module(METHODS[method]).ALGORITHM
    return found
