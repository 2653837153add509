"""Statements that cannot all be true, found before a test is run and named with the shortest chain that shows it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from anypag.errors import KnowledgeError
from anypag.graphs.text import quote
from anypag.knowledge.facts import Facts, Flags
from anypag.knowledge.statements import Statement, named

Saying = Callable[[Statement], Facts]
"""What one statement says by itself."""

_BEGIN = "What is said to be known contradicts itself:"


def refuse_contradictions(statements: Sequence[Statement], said: Facts, names: Sequence[str], saying: Saying) -> None:
    """Raise if the statements cannot all be true.

    Args:
        statements: what was said.
        said: the same, bound to columns, nothing added.
        names: the columns.
        saying: what one of them says.

    Raises:
        KnowledgeError: with the shortest chain of statements that contradict each other.
    """
    source = _Source(statements, saying)
    chain = shortest_chain(said.causes, said.not_causes)
    if chain:
        raise KnowledgeError(_sentence(chain, source, names))
    for a, b in np.argwhere(said.joined & said.not_joined)[:1]:
        both = f"{source('joined', a, b)} and {source('not_joined', a, b)}"
        raise KnowledgeError(f"{_BEGIN} {both} say the opposite of {quote(names[a])} and {quote(names[b])}.")
    if not said.selection:
        _refuse_idle_edges(said, source, names)


def shortest_chain(causes: Flags, not_causes: Flags) -> list[int]:
    """The shortest chain a, ..., b of causes where a is b or said to be no cause of b; empty if there is none."""
    chains = (_chain_from(int(a), causes, not_causes) for a in np.flatnonzero(causes.any(axis=1)))
    return min((chain for chain in chains if chain), key=len, default=[])


def _chain_from(start: int, causes: Flags, not_causes: Flags) -> list[int]:
    before: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        v = waiting.popleft()
        for w in np.flatnonzero(causes[v]).tolist():
            if w == start or not_causes[start, w]:
                chain = [w, v]
                while chain[-1] != start:
                    chain.append(before[chain[-1]])
                return chain[::-1]
            if w not in before:
                before[w] = v
                waiting.append(w)
    return []


class _Source:
    """Which statement says a thing: the first one that does."""

    def __init__(self, statements: Sequence[Statement], saying: Saying) -> None:
        self._statements = statements
        self._saying = saying

    def __call__(self, kind: str, a: int, b: int) -> str:
        return named(next(one for one in self._statements if getattr(self._saying(one), kind)[a, b]))


def _sentence(chain: list[int], source: _Source, names: Sequence[str]) -> str:
    a, b = chain[0], chain[-1]
    by = dict.fromkeys(source("causes", *step) for step in pairwise(chain))
    told = f"{' ~> '.join(quote(names[k]) for k in chain)} by {' and '.join(by)}"
    if a == b:
        return f"{_BEGIN} {told}; nothing is a cause of itself."
    return f"{_BEGIN} {told}; but {quote(names[a])} is no cause of {quote(names[b])} by {source('not_causes', a, b)}."


def _refuse_idle_edges(said: Facts, source: _Source, names: Sequence[str]) -> None:
    """Without selection two variables that are joined have a cause among them, or a hidden common one."""
    idle = said.joined & said.unconfounded & said.not_causes & said.not_causes.T
    for a, b in np.argwhere(idle)[:1]:
        kinds = (("joined", a, b), ("unconfounded", a, b), ("not_causes", a, b), ("not_causes", b, a))
        by = ", ".join(dict.fromkeys(source(*kind) for kind in kinds))
        raise KnowledgeError(
            f"{_BEGIN} {quote(names[a])} and {quote(names[b])} are joined, but neither is a cause of the other and "
            f"they have no hidden common cause, by {by}."
        )
