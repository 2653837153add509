"""Binds statements to the columns of a table: looks up names, refuses contradictions, adds facts that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from anypag.arrays import Counts, Flags
from anypag.errors import KnowledgeError, absent
from anypag.graphs.base import transitive, way_to
from anypag.graphs.text import quote
from anypag.knowledge import statements as stated
from anypag.knowledge.facts import Facts
from anypag.knowledge.statements import SELECTION, SYMMETRIC, Side, Statement, named

MOST_NAMED = 3  # the most columns that a message names
SaidBy = Callable[[str, int, int], str]  # gives the statement that says a fact of this kind about these two columns
_BEGIN = "The knowledge contradicts itself:"


def bind(statements: Sequence[Statement], names: Sequence[str], *, selection: bool) -> Facts:
    """The facts about the columns, and all that follow. KnowledgeError for unknown names and contradictions."""
    said = facts_said(statements, names, selection=selection)
    _refuse_contradictions(statements, said, names)
    return said.closed()


def facts_said(statements: Iterable[Statement], names: Sequence[str], *, selection: bool) -> Facts:
    """The facts about the columns that the statements say directly."""
    statements = tuple(statements)
    place = {name: k for k, name in enumerate(names)}
    facts = Facts.none(len(names), selection=selection)
    tier = _tier_of(statements, place)
    for statement in statements:
        match statement:
            case stated.PairStatement(kind, left, right):
                rows, columns = _columns(left, statement, place), _columns(right, statement, place)
                if left is not None and right is not None and rows.tolist() == columns.tolist() and len(rows) == 1:
                    raise KnowledgeError(f"{named(statement)}: two different variables were wanted.")
                table: Flags = getattr(facts, kind)
                table[np.ix_(rows, columns)] = True
                if kind in SYMMETRIC:
                    table[np.ix_(columns, rows)] = True
                np.fill_diagonal(table, val=False)
            case stated.NotSelecting(of):
                if SELECTION in names:
                    raise KnowledgeError(
                        f"{named(statement)}: there is a column named {SELECTION!r}. Put it in double quotes if you "
                        "mean the column; if you mean being in the sample, give the column another name."
                    )
                facts.not_selecting[_columns(of, statement, place)] = True
            case stated.Contexts(of, assumptions):
                _say_contexts(facts, _columns(of, statement, place), assumptions)
            case stated.Tiers():
                facts.not_causes[(tier[:, None] > tier) & (tier >= 0)] = True
            case stated.NoCausesWithinTiers():
                facts.not_causes[(tier[:, None] == tier) & (tier >= 0) & ~np.eye(len(tier), dtype=np.bool_)] = True
            case stated.SelectionBefore(first):
                n_tiers = int(tier.max(initial=-1)) + 1
                if not 1 <= first <= n_tiers:
                    raise KnowledgeError(f"{named(statement)}: the tiers are numbered 1 to {n_tiers}.")
                facts.not_selecting[tier >= first - 1] = True
    return facts


def _say_contexts(facts: Facts, contexts: Counts, assumptions: str) -> None:
    others = np.setdiff1d(np.arange(len(facts.causes)), contexts)
    facts.not_causes[np.ix_(others, contexts)] = True
    if "2" in assumptions:
        facts.unconfounded[np.ix_(others, contexts)] = facts.unconfounded[np.ix_(contexts, others)] = True
    if "3" in assumptions or ("2" in assumptions and len(contexts) == 1):
        facts.design[contexts] = True
        between = ~np.eye(len(contexts), dtype=np.bool_)
        facts.joined[np.ix_(contexts, contexts)] |= between
        facts.not_causes[np.ix_(contexts, contexts)] |= between


def _alone(statement: Statement, statements: Sequence[Statement], names: Sequence[str]) -> Facts:
    needs_tiers = isinstance(statement, stated.AboutTiers)
    tiers = [other for other in statements if needs_tiers and isinstance(other, stated.Tiers)]
    return facts_said([*tiers, statement], names, selection=True)


def _columns(side: Side, statement: Statement, place: Mapping[str, int]) -> Counts:
    if side is None:
        return np.arange(len(place))
    unknown = [name for name in side if name not in place]
    if unknown:
        raise KnowledgeError(f"{named(statement)}: {absent('column', unknown, [*place])}{_quoted(unknown, place)}")
    return np.array([place[name] for name in side], np.int64)


def _quoted(unknown: Sequence[str], names: Iterable[str]) -> str:
    """A hint for names with blanks that were written without quotes; empty if there are none."""
    meant = [name for name in names if len(name.split()) > 1 and set(name.split()) & set(unknown)]
    written = ", ".join(quote(name) for name in meant[:MOST_NAMED])
    return f" A name with blanks must be in double quotes: {written}." if meant else ""


def _tier_of(statements: Sequence[Statement], place: Mapping[str, int]) -> Counts:
    """The tier of every column: 0 for the earliest, -1 for columns in no tier."""
    tier = np.full(len(place), -1, np.int64)
    found = [statement for statement in statements if isinstance(statement, stated.Tiers)]
    if len(found) > 1:
        first, second, *_ = map(named, found)
        raise KnowledgeError(f"Tiers can be given only once; they were given twice, by {first} and {second}.")
    for statement in found:
        for k, names in enumerate(statement.tiers):
            tier[_columns(names, statement, place)] = k
    needing = [statement for statement in statements if isinstance(statement, stated.AboutTiers)]
    if needing and not found:
        raise KnowledgeError(f"{named(needing[0])} mentions tiers, but there are none: say `tiers: a b | c d` too.")
    return tier


def _refuse_contradictions(statements: Sequence[Statement], said: Facts, names: Sequence[str]) -> None:
    """Raise KnowledgeError, with the shortest contradictory chain, if the statements cannot all be true."""

    def source(kind: str, a: int, b: int) -> str:
        """The first statement that says a given fact."""
        return named(next(one for one in statements if getattr(_alone(one, statements, names), kind)[a, b]))

    chain = shortest_chain(said.causes, said.not_causes)
    if chain:
        raise KnowledgeError(_sentence(chain, source, names))
    for a, b in np.argwhere(said.joined & said.not_joined)[:1]:
        both = f"{source('joined', a, b)} and {source('not_joined', a, b)}"
        raise KnowledgeError(f"{_BEGIN} {both} say opposite things about {quote(names[a])} and {quote(names[b])}.")
    _refuse_causes_without_a_path(said, source, names)
    if not said.selection:
        _refuse_impossible_edges(said, source, names)


def shortest_chain(causes: Flags, not_causes: Flags) -> list[int]:
    """The shortest cycle of causes, or chain of causes from a to b although a is said not to cause b; else empty."""

    def chain_from(a: int) -> list[int]:
        return way_to(lambda b: b == a or bool(not_causes[a, b]), [a], lambda v: np.flatnonzero(causes[v]).tolist())

    chains = map(chain_from, np.flatnonzero(causes.any(axis=1)).tolist())
    return min(filter(None, chains), key=len, default=[])


def _sentence(chain: list[int], source: SaidBy, names: Sequence[str]) -> str:
    a, b = chain[0], chain[-1]
    by = dict.fromkeys(source("causes", *step) for step in pairwise(chain))
    told = f"{' ~> '.join(quote(names[k]) for k in chain)} by {' and '.join(by)}"
    if a == b:
        return f"{_BEGIN} {told}; nothing is a cause of itself."
    return f"{_BEGIN} {told}; but {quote(names[a])} is no cause of {quote(names[b])} by {source('not_causes', a, b)}."


def _refuse_causes_without_a_path(said: Facts, source: SaidBy, names: Sequence[str]) -> None:
    """Raise if a cause and its effect are not joined, and no chain of other variables can link the two causally."""
    apart = said.causes & said.not_joined
    if not apart.any():
        return
    steps = ~(said.closed().not_causes | said.not_joined)
    for a, b in np.argwhere(apart & ~transitive(steps))[:1]:
        raise KnowledgeError(
            f"{_BEGIN} {quote(names[a])} ~> {quote(names[b])} by {source('causes', a, b)}; but they have no edge by "
            f"{source('not_joined', a, b)}, and no other variables can link them."
        )


def _refuse_impossible_edges(said: Facts, source: SaidBy, names: Sequence[str]) -> None:
    """Raise for joined pairs that, without selection, can have neither a causal link nor a hidden common cause."""
    idle = said.joined & said.unconfounded & said.not_causes & said.not_causes.T
    for a, b in np.argwhere(idle)[:1]:
        kinds = (("joined", a, b), ("unconfounded", a, b), ("not_causes", a, b), ("not_causes", b, a))
        by = ", ".join(dict.fromkeys(source(*kind) for kind in kinds))
        raise KnowledgeError(
            f"{_BEGIN} {quote(names[a])} and {quote(names[b])} are joined, but neither is a cause of the other and "
            f"they have no hidden common cause, by {by}."
        )
