"""The algorithms by name, and the choices of a search, checked at the door."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from anypag.ci.base import CITest
from anypag.errors import ParameterError
from anypag.graphs.pag import PAG
from anypag.search import fci, icd
from anypag.search.state import Params, Sepset, State, StepInfo, Tick

Method = Literal["icd", "icd-paper", "fci", "anytime-fci", "rfci"]

Step = Callable[[State, CITest, Params, Tick], tuple[State, StepInfo]]


class Algorithm(NamedTuple):
    """A step, and whether it makes use of the choices that only some searches have."""

    step: Step
    prunes: bool
    """Narrows candidate sets by marks (`max_sets`)."""
    takes_initial: bool
    """Can start from a PAG and from a size other than 0."""
    splits: bool = False
    """Can test the edges of an iteration in threads."""


ALGORITHMS: dict[str, Algorithm] = {
    "icd": Algorithm(icd.step, prunes=True, takes_initial=True, splits=True),
    "icd-paper": Algorithm(icd.paper_step, prunes=False, takes_initial=True),
    "fci": Algorithm(fci.fci_step, prunes=False, takes_initial=False),
    "anytime-fci": Algorithm(fci.anytime_fci_step, prunes=False, takes_initial=False),
    "rfci": Algorithm(fci.rfci_step, prunes=False, takes_initial=False),
}

MAX_SETS_ON_DATA = 1000
"""More candidates for one edge than this, and marks narrow the search on data too (measured: docs/decisions.md)."""


def algorithm(method: str) -> Algorithm:
    """The algorithm of that name."""
    if method not in ALGORITHMS:
        raise ParameterError(f"The 'method' must be one of {', '.join(map(repr, ALGORITHMS))}; got {method!r}.")
    return ALGORITHMS[method]


def checked_params(
    method: str,
    test: CITest,
    *,
    alpha: float,
    max_r: int | None,
    max_sets: int | None,
    sepset: Sepset | None,
    selection_bias: bool,
) -> Params:
    """The choices of a search, with defaults by method and by whether the test is exact.

    An exact test may trust its marks to prune from the start, and one separating set is as good as another. A test on
    data errs: marks prune only where a search would explode, and of an edge's separating sets the one with the
    largest p-value counts.
    """
    has_pruning = algorithm(method).prunes
    require(_is_number(alpha) and 0 < alpha < 1, "alpha", "a number between 0 and 1 (0.01, say)", alpha)
    for name, number in (("max_r", max_r), ("max_sets", max_sets)):
        require(number is None or (_is_whole(number) and number >= 0), name, "None or a whole number from 0 on", number)
    require(max_sets is None or has_pruning, "max_sets", f"left out: {method!r} does not prune by marks", max_sets)
    require(sepset is None or sepset in get_args(Sepset), "sepset", "None, 'first' or 'largest-p'", sepset)
    require(
        sepset in {None, "first"} or method != "icd-paper",
        "sepset",
        "'first' with method 'icd-paper'",
        sepset,
    )
    require(isinstance(selection_bias, bool | np.bool_), "selection_bias", "True or False", selection_bias)
    default: Sepset = "first" if test.exact or not has_pruning else "largest-p"
    return Params(
        alpha=float(alpha),
        max_r=max_r,
        max_sets=max_sets if max_sets is not None else (0 if test.exact else MAX_SETS_ON_DATA),
        sepset=sepset or default,
        selection_bias=bool(selection_bias),
    )


def checked_threads(method: str, threads: int) -> int:
    """How many threads test the edges; 0 stands for one per core that this process may use."""
    require(_is_whole(threads) and threads >= 0, "threads", "a whole number, 0 for one thread per core", threads)
    splits = algorithm(method).splits
    require(splits or threads == 1, "threads", f"left out: method {method!r} goes through the edges in turn", threads)
    return int(threads) or _cores()


def initial_state(method: str, test: CITest, params: Params, initial: PAG | None, r0: int) -> State:
    """The state before the first step."""
    if len(test.names) < 2:
        raise ParameterError(f"A search needs two variables or more; got {len(test.names)}: {list(test.names)}.")
    require(_is_whole(r0) and r0 >= 0, "r0", "a whole number from 0 on", r0)
    takes_initial = algorithm(method).takes_initial
    require(
        initial is None or takes_initial,
        "initial",
        f"left out: method {method!r} starts from scratch",
        initial,
    )
    require(r0 == 0 or takes_initial, "r0", f"0: method {method!r} starts from scratch", r0)
    if initial is not None:
        _check_initial(initial, test.names)
    state = icd.init(test, params, initial=initial, r0=r0)
    largest = icd.last_r(state, params)
    require(r0 <= largest, "r0", f"at most {largest}, the size of the largest condition sets", r0)
    return state


def _check_initial(initial: PAG, names: tuple[str, ...]) -> None:
    require(isinstance(initial, PAG), "initial", "a PAG", initial)
    missing = [name for name in names if name not in initial.names]
    extra = [name for name in initial.names if name not in names]
    if missing or extra:
        raise ParameterError(
            "The 'initial' PAG must be over the same variables as the data; "
            f"it lacks {missing or 'none'} and has {extra or 'none'} too many."
        )


def _is_whole(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _cores() -> int:
    is_bound = hasattr(os, "sched_getaffinity")  # not everywhere
    return len(os.sched_getaffinity(0)) if is_bound else os.cpu_count() or 1


def _is_number(value: object) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, (bool, str))


def require(holds: bool, name: str, wanted: str, got: Any) -> None:
    """Refuse the value of an option in a sentence, unless the condition holds."""
    if not holds:
        raise ParameterError(f"The option {name!r} must be {wanted}; got {got!r}.")
