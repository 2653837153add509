"""`Knowledge`: the user's background knowledge."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from anypag.errors import KnowledgeError
from anypag.knowledge import statements as stated
from anypag.knowledge.statements import ASSUMPTIONS, Side, Statement, names_in, with_names
from anypag.knowledge.text import from_plain, parse_text, read_statements, to_plain

if TYPE_CHECKING:
    from anypag.knowledge.facts import Facts

OneOrMore = str | Iterable[str]  # a variable, several, or "*" for all


@dataclass(frozen=True, init=False, repr=False)
class Knowledge:
    """Background knowledge. Facts that no statement mentions are unknown.

    Args:
        tiers: groups of variables in the order of time: no variable is a cause of a variable in an earlier group.
            Variables may be left out.
        causes: pairs (a, b): a is a cause of b, directly or through others.
        not_causes: pairs (a, b): a is no cause of b, not even through others.
        joined: pairs that have an edge in the PAG; they are not tested.
        not_joined: pairs that have no edge.
        unconfounded: pairs without a hidden common cause.
        not_selecting: variables that are no causes of being in the sample.
        no_causes_within_tiers: True if no variable is a cause of another variable in its tier.
        selection_before_tier: the number of a tier (1: the first). The sample was selected before anything in this
            tier or a later one happened, so the variables of these tiers do not affect selection.
        contexts: columns that say under which conditions a row was recorded (`anypag.pooled`). With contexts, the
            search assumes that the sample is not selected.
        assumptions: the assumptions of Joint Causal Inference that hold for `contexts`: "1", "12" or "123".

    In a pair each side may be one name, a list of names, or "*" for all variables.

    >>> known = Knowledge(tiers=[["age", "sex"], ["smoking"], ["cough"]], not_selecting=["cough"])
    >>> print(known)
    tiers: age sex | smoking | cough
    cough !~> selection
    >>> known == Knowledge.from_text(str(known))
    True
    """

    statements: tuple[Statement, ...]

    def __init__(
        self,
        *,
        tiers: Sequence[OneOrMore] = (),
        causes: Iterable[tuple[OneOrMore, OneOrMore]] = (),
        not_causes: Iterable[tuple[OneOrMore, OneOrMore]] = (),
        joined: Iterable[tuple[OneOrMore, OneOrMore]] = (),
        not_joined: Iterable[tuple[OneOrMore, OneOrMore]] = (),
        unconfounded: Iterable[tuple[OneOrMore, OneOrMore]] = (),
        not_selecting: OneOrMore = (),
        no_causes_within_tiers: bool = False,
        selection_before_tier: int | None = None,
        contexts: OneOrMore = (),
        assumptions: str = "123",
    ) -> None:
        said: list[Statement] = [_tiers(tiers)] if len(tiers) else []
        if no_causes_within_tiers:
            said.append(stated.NoCausesWithinTiers("no_causes_within_tiers"))
        if selection_before_tier is not None:
            if isinstance(selection_before_tier, bool) or not isinstance(selection_before_tier, int):
                wanted = "the number of a tier (1 for the first)"
                raise KnowledgeError(f"'selection_before_tier' must be {wanted}; got {selection_before_tier!r}.")
            said.append(stated.SelectionBefore(selection_before_tier, "selection_before_tier"))
        said += _pairs("causes", causes) + _pairs("not_causes", not_causes)
        said += _pairs("joined", joined) + _pairs("not_joined", not_joined) + _pairs("unconfounded", unconfounded)
        if len(design := _side(contexts, "contexts") or ()):
            if assumptions not in ASSUMPTIONS:
                raise KnowledgeError(f"'assumptions' about contexts must be '1', '12' or '123'; got {assumptions!r}.")
            said.append(stated.Contexts(design, assumptions, "contexts"))
        of = _side(not_selecting, "not_selecting")
        if of is None or of:
            said.append(stated.NotSelecting(of, "not_selecting"))
        object.__setattr__(self, "statements", tuple(said))

    @classmethod
    def of(cls, statements: Iterable[Statement]) -> Self:
        """Knowledge from a list of statements."""
        known = cls()
        object.__setattr__(known, "statements", tuple(statements))
        return known

    @property
    def contexts(self) -> tuple[str, ...]:
        """The columns that are contexts."""
        return tuple(name for one in self.statements if isinstance(one, stated.Contexts) for name in one.names)

    @property
    def spoken_of(self) -> tuple[str, ...]:
        """The variables that are named by statements other than tiers."""
        return tuple(name for statement in self.statements for name in names_in(statement))

    @property
    def design(self) -> tuple[str, ...]:
        """The contexts under assumption 3: any two of them have an edge, by the design of the data, not by a test."""
        said = [one for one in self.statements if isinstance(one, stated.Contexts) and "3" in one.assumptions]
        return tuple(name for one in said for name in one.names)

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The statements with other names for some variables.

        >>> print(Knowledge.from_text("tiers: a b | c\\nb ~> c").renamed({"b": "a"}))
        tiers: a | c
        a ~> c
        """

        def change(some: Iterable[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(names.get(name, name) for name in some))

        return type(self).of(with_names(statement, change) for statement in self.statements)

    def without(self, names: Collection[str]) -> Self:
        """The knowledge with variables taken out of its tiers; other statements about them stay."""

        def left(tier: Iterable[str]) -> tuple[str, ...]:
            return tuple(name for name in tier if name not in names)

        return type(self).of(with_names(one, left) if isinstance(one, stated.Tiers) else one for one in self.statements)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The knowledge in a text, one statement per line; see `anypag.knowledge.text`.

        >>> print(Knowledge.from_text("tiers: a b | c d   # waves\\na ~> c\\nd !~> selection"))
        tiers: a b | c d
        a ~> c
        d !~> selection
        """
        return cls.of(parse_text(text))

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """The knowledge that `to_dict` wrote."""
        return cls.of(from_plain(plain))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """The knowledge in a file: statements as text, or as JSON (`.json`)."""
        return cls.of(read_statements(Path(path)))

    def facts(self, names: Sequence[str], *, selection: bool = True) -> Facts:
        """The facts about the columns of a table, with all facts that follow from them.

        Args:
            names: the columns.
            selection: False if the sample is known not to be selected.

        Raises:
            KnowledgeError: a name is not a column, or the statements contradict each other.

        >>> Knowledge.from_text("a ~> b\\nb ~> c\\nc ~> a").facts(["a", "b", "c"])
        Traceback (most recent call last):
            ...
        anypag.errors.KnowledgeError: The knowledge contradicts itself: a ~> b ~> c ~> a by `a ~> b` \
(line 1) and `b ~> c` (line 2) and `c ~> a` (line 3); nothing is a cause of itself.
        """
        from anypag.knowledge.bind import bind

        return bind(self.statements, names, selection=selection)

    def to_dict(self) -> dict[str, Any]:
        """The statements as a dict that JSON can hold."""
        return to_plain(self.statements)

    def __add__(self, other: Knowledge) -> Knowledge:
        return Knowledge.of((*self.statements, *other.statements))

    def __bool__(self) -> bool:
        return bool(self.statements)

    def __len__(self) -> int:
        return len(self.statements)

    def __str__(self) -> str:
        return "\n".join(map(str, self.statements))

    def __repr__(self) -> str:
        return f"Knowledge.from_text({str(self)!r})"


def _tiers(tiers: Sequence[OneOrMore]) -> stated.Tiers:
    if isinstance(tiers, str):
        raise KnowledgeError(f"The tiers must be lists of names, [['a', 'b'], ['c']]; got the text {tiers!r}.")
    groups = tuple(_side(tier, f"tiers[{k}]") or () for k, tier in enumerate(tiers))
    if len(groups) < 2 or not all(groups):
        raise KnowledgeError(f"There must be at least two tiers, none of them empty; got {list(tiers)!r}.")
    names = [name for group in groups for name in group]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise KnowledgeError(f"A variable is in one tier at most; {twice[0]!r} is in several.")
    return stated.Tiers(groups, "tiers")


def _pairs(kind: stated.PairKind, pairs: Iterable[tuple[OneOrMore, OneOrMore]]) -> list[Statement]:
    found: list[Statement] = []
    for k, pair in enumerate(pairs):
        place = f"{kind}[{k}]"
        if isinstance(pair, str) or len(sides := tuple(pair)) != 2:
            raise KnowledgeError(f"{place} must be a pair of names, ('a', 'b'); got {pair!r}.")
        left, right = (_side(side, place) for side in sides)
        if left == () or right == ():
            raise KnowledgeError(f"{place} has an empty side; got {pair!r}.")
        found.append(stated.PairStatement(kind, left, right, place))
    return found


def _side(names: OneOrMore, place: str) -> Side:
    if isinstance(names, str):
        return None if names == "*" else (names,)
    listed = tuple(names)
    wrong = [name for name in listed if not isinstance(name, str)]
    if wrong:
        raise KnowledgeError(f"{place} must hold names of variables; got {wrong[0]!r}.")
    return listed
