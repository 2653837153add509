"""Explains why no causal system has a given graph: edges and separations that cannot all be true.

Edges and separations alone imply statements about causes (Claassen & Heskes 2011):

- If Z is a minimal set with A ⟂ C | Z, every B in Z is a cause of A, of C or of selection.
- If A–B–C and A ⟂ C | Z with B not in Z, then B is no cause of A, of C or of selection.
- If A ⟂ C, a cause of A that is no cause of selection is no cause of C.

Causes of causes are causes, and nothing is a cause of itself. Conclusions are drawn from these claims, each with the
claims it rests on, until some variable is both a cause and not a cause of another. The result is a minimal set: leaving
out any of its claims removes the contradiction.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations, islice, pairwise
from typing import NamedTuple

from anypag.graphs.marks import SeparationsByPair
from anypag.graphs.pag import PAG
from anypag.graphs.reasoning.contradictions import Contradiction, in_words

Claims = frozenset[int]

MOST_VARIABLES = 60  # the most variables to consider, those nearest to the faulty place first
MOST_CONCLUSIONS = 200_000  # the most conclusions before the search gives up: a few seconds
SELECTION = ""  # the name that represents being in the sample


class PairClaim(NamedTuple):
    """What tests say about a pair: a minimal set that separates the two (`given`), or None if nothing does. `contexts`
    were conditioned on besides, as in every test.
    """

    a: str
    b: str
    given: tuple[str, ...] | None
    contexts: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """ "joined" or "separated"."""
        return "joined" if self.given is None else "separated"

    def __str__(self) -> str:
        if self.given is None:
            return f"{self.a} and {self.b} are joined"
        given = [f"{', '.join(self.given)} (a minimal set)"] if self.given else []
        given += [f"the context{'s' * (len(self.contexts) > 1)} {', '.join(self.contexts)}"] if self.contexts else []
        return f"{self.a} and {self.b} are independent{' given ' if given else ''}{' and '.join(given)}"


def contradicting_claims(
    pag: PAG,
    sets: SeparationsByPair,
    path: Sequence[str],
    *,
    selection: bool = True,
    contexts: Collection[str] = (),
    most_conclusions: int = MOST_CONCLUSIONS,
) -> Contradiction | None:
    """The contradiction among edges and separations that is nearest to a path; None if none is found.

    Args:
        pag: a graph that no system has.
        sets: the known separating sets of pairs without an edge.
        path: where the graph is known to be wrong.
        selection: whether the sample may be selected by something the variables affect.
        contexts: variables on which nothing acts and which tests condition on: their being in a set says nothing.
        most_conclusions: give up after this many, so that the answer depends on no clock.

    >>> from anypag.graphs.marks import Separation
    >>> pag = PAG.from_string("A <-> B; B <-> C; B o-o D")
    >>> given = {("A", "C"): (), ("A", "D"): ("B",), ("C", "D"): ()}
    >>> sets = {pair: Separation(names, 0.5, len(names), 100) for pair, names in given.items()}
    >>> for claim in contradicting_claims(pag, sets, ["A", "B"]).statements:
    ...     print(claim)
    A and B are joined
    A and C are independent
    A and D are independent given B (a minimal set)
    B and C are joined
    B and D are joined
    C and D are independent
    """
    n_drawn, near = 0, list[str]()
    claim_about = cache(partial(_claim_about, pag, sets, contexts))
    for name in islice(_by_distance(pag, path), MOST_VARIABLES):
        near.append(name)
        if len(near) <= len(path):
            continue
        pairs = combinations(sorted(near), 2)
        claims = [claim for pair in pairs if (claim := claim_about(*pair)) is not None]
        conclusions = _Conclusions(claims, selection)
        found = conclusions.refuted()
        if found is not None:
            return _told(pag, path, *_smallest([claims[k] for k in sorted(found.why)], found, selection))
        n_drawn += conclusions.n_drawn
        if n_drawn > most_conclusions:
            break
    return None


def _smallest(claims: Sequence[PairClaim], found: _Refuted, selection: bool) -> tuple[Sequence[PairClaim], _Refuted]:
    """A minimal subset of the claims that is still contradictory, found by leaving out each in turn."""
    for claim in tuple(claims):
        fewer = [other for other in claims if other is not claim]
        shorter = _Conclusions(fewer, selection).refuted() if claim in claims else None
        if shorter is not None:
            claims, found = fewer, shorter
    return claims, found


def _told(pag: PAG, path: Sequence[str], claims: Sequence[PairClaim], found: _Refuted) -> Contradiction:
    pairs = dict.fromkeys([*((claim.a, claim.b) for claim in claims), *pairwise(path)])
    of = "of being in the sample" if found.b == SELECTION else f"of {found.b}"
    sentence = (
        f"No system of variables, hidden ones included, has exactly this graph; see {pag.path_text(path)}. "
        f"{in_words(tuple(map(str, claims)))}: these cannot all be true, or {found.a} would be a cause {of} "
        "and also not be one."
    )
    return Contradiction(tuple(claims), tuple(pairs), sentence)


def _claim_about(pag: PAG, sets: SeparationsByPair, contexts: Collection[str], a: str, b: str) -> PairClaim | None:
    """The claim about two variables, or None."""
    if pag.edge(a, b) is not None:
        return PairClaim(a, b, None)
    why = sets.get((a, b)) or sets.get((b, a))
    if why is None:
        return None
    given, beside = (tuple(name for name in why.given if (name in contexts) == is_one) for is_one in (False, True))
    return PairClaim(a, b, given, beside)


def _by_distance(pag: PAG, path: Sequence[str]) -> Iterator[str]:
    """All variables, those on the path first."""
    seen = dict.fromkeys(path)
    yield from seen
    waiting = deque(seen)
    while waiting:
        fresh = [name for name in pag.neighbours(waiting.popleft()) if name not in seen]
        yield from fresh
        seen.update(dict.fromkeys(fresh))
        waiting.extend(fresh)
    yield from (name for name in pag.names if name not in seen)


class _Refuted(Exception):  # noqa: N818 (a result, not an error)
    """A variable is both a cause and not a cause of another; `why` are the claims behind it."""

    def __init__(self, a: str, b: str, why: Claims) -> None:
        super().__init__()
        self.a, self.b, self.why = a, b, why


class _OneOf:
    """`b` is a cause of at least one of these; excluded ones are removed, and their reasons kept."""

    def __init__(self, b: str, of: Iterable[str], why: Claims) -> None:
        self.b, self.left, self.why = b, set(of), why


class _Conclusions:
    """The conclusions from claims about causes."""

    def __init__(self, claims: Sequence[PairClaim], selection: bool) -> None:
        self._causes: dict[str, dict[str, Claims]] = defaultdict(dict)
        self._caused: dict[str, dict[str, Claims]] = defaultdict(dict)
        self._not: dict[str, dict[str, Claims]] = defaultdict(dict)
        self._not_by: dict[str, dict[str, Claims]] = defaultdict(dict)
        self._one_of: dict[str, list[_OneOf]] = defaultdict(list)
        self._apart: dict[str, dict[str, Claims]] = defaultdict(dict)
        self._waiting: deque[tuple[bool, str, str]] = deque()
        self._claims, self._selection = claims, selection
        self.n_drawn = 0
        """How many conclusions were processed."""

    def refuted(self) -> _Refuted | None:
        """The first two conclusions that contradict each other; None if none do."""
        try:
            self._draw()
        except _Refuted as found:
            return found
        return None

    def _draw(self) -> None:
        self._read()
        while self._waiting:
            is_cause, a, b = self._waiting.popleft()
            self.n_drawn += 1
            if is_cause:
                self._after_cause(a, b, self._causes[a][b])
            else:
                self._after_not(a, b, self._not[a][b])

    def _read(self) -> None:
        """Adds the direct conclusions of each claim."""
        joined: dict[str, dict[str, int]] = defaultdict(dict)
        for k, (a, b, given, _) in enumerate(self._claims):
            if given is None:
                joined[a][b] = joined[b][a] = k
        if not self._selection:
            for name in {name for claim in self._claims for name in (claim.a, claim.b, *(claim.given or ()))}:
                self._add(False, name, SELECTION, frozenset())
        for k, claim in enumerate(self._claims):
            if claim.given is not None:
                self._read_separation(k, claim, claim.given, joined)

    def _read_separation(
        self, k: int, claim: PairClaim, given: tuple[str, ...], joined: Mapping[str, Mapping[str, int]]
    ) -> None:
        a, c = claim.a, claim.b
        for b in given:
            self._one_of[b].append(_OneOf(b, (a, c, SELECTION), frozenset([k])))
        for b in joined[a]:
            if b in joined[c] and b not in (*given, *claim.contexts):
                why = frozenset([k, joined[a][b], joined[c][b]])
                for other in (a, c, SELECTION):
                    self._add(False, b, other, why)
        if not given and not claim.contexts:
            self._apart[a][c] = self._apart[c][a] = frozenset([k])

    def _add(self, is_cause: bool, a: str, b: str, why: Claims) -> None:
        told, opposite = (self._causes, self._not) if is_cause else (self._not, self._causes)
        if a == b or b in told[a]:
            if a == b and is_cause:
                raise _Refuted(a, b, why)
            return
        if b in opposite[a]:
            raise _Refuted(a, b, why | opposite[a][b])
        told[a][b] = why
        (self._caused if is_cause else self._not_by)[b][a] = why
        self._waiting.append((is_cause, a, b))

    def _after_cause(self, a: str, b: str, why: Claims) -> None:
        """Conclusions from: a is a cause of b."""
        if b != SELECTION:
            self._add(False, b, a, why)
        for c, more in list(self._causes[b].items()):
            self._add(True, a, c, why | more)
        for c, more in list(self._caused[a].items()):
            self._add(True, c, b, why | more)
        for c, more in list(self._not[a].items()):
            self._add(False, b, c, why | more)
        for c, more in list(self._not_by[b].items()):
            self._add(False, c, a, why | more)
        if SELECTION in self._not[a]:
            self._keep_apart(a, b, why | self._not[a][SELECTION])

    def _after_not(self, a: str, b: str, why: Claims) -> None:
        """Conclusions from: a is no cause of b."""
        for c, more in list(self._causes[a].items()):
            self._add(False, c, b, why | more)
        for c, more in list(self._caused[b].items()):
            self._add(False, a, c, why | more)
        for choice in self._one_of[a]:
            self._cross_out(choice, b, why)
        if b == SELECTION:
            self._keep_apart(a, a, why)
            for c, more in list(self._causes[a].items()):
                self._keep_apart(a, c, why | more)

    def _keep_apart(self, a: str, b: str, why: Claims) -> None:
        """a does not affect selection, and is b or causes b: then it causes nothing that is independent of b."""
        for c, more in self._apart[b].items():
            self._add(False, a, c, why | more)

    def _cross_out(self, choice: _OneOf, b: str, why: Claims) -> None:
        if b not in choice.left:
            return
        choice.left.discard(b)
        choice.why |= why
        if not choice.left:
            raise _Refuted(choice.b, b, choice.why)
        if len(choice.left) == 1:
            self._add(True, choice.b, next(iter(choice.left)), choice.why)
