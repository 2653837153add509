"""Statements bound to the columns of a table: every name looked up, contradictions refused, all that follows added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from anypag.errors import KnowledgeError, absent
from anypag.graphs.text import quote
from anypag.knowledge.contradictions import refuse_contradictions
from anypag.knowledge.facts import Facts, Flags
from anypag.knowledge.statements import (
    SELECTION,
    SYMMETRIC,
    NoCausesWithinTiers,
    NotSelecting,
    Pairs,
    SelectionBefore,
    Side,
    Statement,
    Tiers,
    named,
)

MOST_NAMED = 3
"""Columns that a message names."""

Indices = npt.NDArray[np.int64]


def bind(statements: Sequence[Statement], names: Sequence[str], *, selection: bool) -> Facts:
    """What the statements say of the columns, with all that follows.

    Args:
        statements: what was said.
        names: the columns.
        selection: may the sample have been selected?

    Raises:
        KnowledgeError: a name is none of the columns, or the statements contradict each other.
    """
    said = facts_said(statements, names, selection=selection)
    refuse_contradictions(statements, said, names, lambda statement: _alone(statement, statements, names))
    return said.closed()


def facts_said(statements: Iterable[Statement], names: Sequence[str], *, selection: bool) -> Facts:
    """What the statements say of the columns, and nothing more."""
    statements = tuple(statements)
    place = _Places(names)
    facts = Facts.none(len(names), selection=selection)
    tier = _tier_of(statements, place)
    for statement in statements:
        match statement:
            case Pairs(kind, left, right):
                rows, columns = place.of(left, statement), place.of(right, statement)
                _refuse_itself(statement, left, right, rows, columns)
                table: Flags = getattr(facts, kind)
                table[np.ix_(rows, columns)] = True
                if kind in SYMMETRIC:
                    table[np.ix_(columns, rows)] = True
                np.fill_diagonal(table, val=False)
            case NotSelecting(of):
                _refuse_ambiguous(statement, names)
                facts.not_selecting[place.of(of, statement)] = True
            case Tiers():
                facts.not_causes[(tier[:, None] > tier) & (tier >= 0)] = True
            case NoCausesWithinTiers():
                facts.not_causes[(tier[:, None] == tier) & (tier >= 0) & ~np.eye(len(tier), dtype=np.bool_)] = True
            case SelectionBefore(first):
                _refuse_tier(statement, int(tier.max(initial=-1)) + 1)
                facts.not_selecting[tier >= first - 1] = True
    return facts


def _alone(statement: Statement, statements: Sequence[Statement], names: Sequence[str]) -> Facts:
    """What one statement says, the tiers besides where it speaks of them."""
    needs_tiers = isinstance(statement, NoCausesWithinTiers | SelectionBefore)
    tiers = [other for other in statements if needs_tiers and isinstance(other, Tiers)]
    return facts_said([*tiers, statement], names, selection=True)


class _Places:
    """The columns by name."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._index = {name: k for k, name in enumerate(self.names)}

    def of(self, side: Side, statement: Statement) -> Indices:
        """Where the variables of one side stand."""
        if side is None:
            return np.arange(len(self.names))
        unknown = [name for name in side if name not in self._index]
        if unknown:
            raise KnowledgeError(f"{named(statement)}: {absent('column', unknown, self.names)}{self._quoted(unknown)}")
        return np.array([self._index[name] for name in side], np.int64)

    def _quoted(self, unknown: Sequence[str]) -> str:
        """How the columns are written of whose names these may be parts."""
        meant = [name for name in self.names if len(name.split()) > 1 and set(name.split()) & set(unknown)]
        written = ", ".join(quote(name) for name in meant[:MOST_NAMED])
        return f" A name with blanks stands in double quotes: {written}." if meant else ""


def _tier_of(statements: Sequence[Statement], place: _Places) -> Indices:
    """The tier of every column, the earliest 0; -1 for those in none."""
    tier = np.full(len(place.names), -1, np.int64)
    found = [statement for statement in statements if isinstance(statement, Tiers)]
    if len(found) > 1:
        raise KnowledgeError(
            f"Tiers are one order of the variables; they were said twice, {named(found[0])} and {named(found[1])}."
        )
    for statement in found:
        for k, names in enumerate(statement.tiers):
            tier[place.of(names, statement)] = k
    needing = [statement for statement in statements if isinstance(statement, NoCausesWithinTiers | SelectionBefore)]
    if needing and not found:
        raise KnowledgeError(f"{named(needing[0])} speaks of tiers, but there are none: say `tiers: a b | c d` too.")
    return tier


def _refuse_itself(statement: Statement, left: Side, right: Side, rows: Indices, columns: Indices) -> None:
    if left is not None and right is not None and len(rows) == len(columns) == 1 and rows[0] == columns[0]:
        raise KnowledgeError(f"{named(statement)}: two different variables were wanted.")


def _refuse_ambiguous(statement: Statement, names: Sequence[str]) -> None:
    if SELECTION in names:
        raise KnowledgeError(
            f"{named(statement)}: there is a column named {SELECTION!r}. Put it in double quotes if you mean the "
            "column; to speak of being in the sample, give the column another name."
        )


def _refuse_tier(statement: SelectionBefore, n_tiers: int) -> None:
    if not 1 <= statement.tier <= n_tiers:
        raise KnowledgeError(f"{named(statement)}: the tiers are numbered 1 to {n_tiers}.")
