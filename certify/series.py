"""ICD over shifts on every small time series: all systems of two observed processes with hidden ones, lags 0 and 1.

The truth by definition: a system is unrolled far beyond the window and projected onto it. Systems with the same
independences in the window are a class. Adjacency is that of the latest copies; a mark is true if all systems of the
class agree on who is a cause of whom in the unrolled graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import numpy as np

from anypag.arrays import Flags
from anypag.choices import Choices
from anypag.ci.base import Oracle, PValues, Queries, Wrapper
from anypag.graphs.base import Marks, transitive
from anypag.graphs.marks import Mark
from anypag.graphs.pag import DAG, MAG, PAG
from anypag.graphs.projection import latent_projection, marks_of_class
from anypag.knowledge.knowledge import Knowledge
from anypag.results.result import Result
from anypag.run.engine import Search
from anypag.series.learn import for_window
from anypag.series.window import Window

STEPS_BEYOND = 6
"""How many times its longest lag a system is unrolled before the window. With too few steps paths through the past are
missing, and the projection is not that of a series without a beginning.
"""

Link = tuple[int, int, int]
"""(process, process, lag): the first is a direct cause of the second so many steps later."""


class System(NamedTuple):
    """Processes 0 to k - 1 are observed, those after them hidden. `acts`: (context, process), at all times."""

    k: int
    hidden: int
    links: tuple[Link, ...]
    contexts: int = 0
    acts: tuple[tuple[int, int], ...] = ()

    def unrolled(self, steps: int) -> Marks:
        """(n, n) the adjacency of the last steps of the graph, the latest first; then contexts, and their cause."""
        m, n = self.k + self.hidden, (self.k + self.hidden) * steps
        adjacency = np.zeros((n + self.contexts + 1, n + self.contexts + 1), np.uint8)
        adjacency[-1, n:-1] = 1
        for c, v in self.acts:
            adjacency[n + c, v:n:m] = 1
        for s in range(steps):
            for a, b, lag in self.links:
                if s + lag < steps:
                    adjacency[(s + lag) * m + a, s * m + b] = 1
        return adjacency


class Seen(NamedTuple):
    """What of a system can be seen in a window."""

    mag: MAG
    """Its projection."""
    causes: Flags
    """(n, n) is a node a cause of another one?"""


def window_of(k: int, max_lag: int, contexts: int = 0) -> Window:
    """A window of processes a, b, c, ... and contexts z, y, ..."""
    return Window(tuple("abcdefgh"[:k]), max_lag, tuple("zyx"[:contexts]))


def seen_in(system: System, window: Window) -> Seen:
    """The projection of a system onto a window, and who is a cause of whom."""
    beyond = STEPS_BEYOND * max((lag for _, _, lag in system.links), default=1)
    steps, m = window.max_lag + 1 + beyond, system.k + system.hidden
    adjacency = system.unrolled(steps)
    shown = [s * m + v for s in range(window.max_lag + 1) for v in range(system.k)]
    shown += [steps * m + c for c in range(system.contexts)]
    names = [f"hidden {i}" for i in range(len(adjacency))]
    for i, name in zip(shown, window.names, strict=True):
        names[i] = name
    hidden = [name for name in names if name.startswith("hidden ")]
    mag = latent_projection(DAG(adjacency, names), hidden)
    order = [mag.index(name) for name in window.names]
    marks = mag.marks[np.ix_(order, order)]
    return Seen(MAG(marks, window.names), transitive(adjacency != 0)[np.ix_(shown, shown)])


def systems(k: int, hidden: int) -> Iterator[System]:
    """Every system: links between observed processes at lag 1, an acyclic one at lag 0, and hidden processes that act
    on the observed ones at lags 0 and 1 and on themselves. Hidden processes that are alike are not told apart.
    """
    lagged = list(product(range(k), range(k), (1,)))
    now = [()] if k < 2 else [(), ((0, 1, 0),), ((1, 0, 0),)]
    of_hidden = 2 ** (2 * k + 1)
    for chosen, links, bits in product(
        range(2 ** len(lagged)), now, combinations_with_replacement(range(of_hidden), hidden)
    ):
        some = [link for i, link in enumerate(lagged) if chosen >> i & 1]
        more = [link for h, bit in enumerate(bits) for link in _hidden_links(k, k + h, bit)]
        yield System(k, hidden, (*some, *links, *more))


def _hidden_links(k: int, hidden: int, bits: int) -> list[Link]:
    links = [*((hidden, v, lag) for lag in (0, 1) for v in range(k)), (hidden, hidden, 1)]
    return [link for i, link in enumerate(links) if bits >> i & 1]


def random_systems(k: int, hidden: int, max_lag: int, n: int, seed: int = 0) -> Iterator[System]:
    """Random sparse systems, for sizes that cannot be enumerated; hidden processes act on two observed ones or more."""
    random = np.random.default_rng(seed)
    m = k + hidden
    for _ in range(n):
        order = random.permutation(m)
        links: dict[Link, None] = {(v, v, 1): None for v in range(m) if random.random() < 0.7}
        for _ in range(m):
            a, b = map(int, random.choice(m, 2, replace=False))
            lag = int(random.integers(0, max_lag + 1))
            a, b = (b, a) if lag == 0 and order[a] > order[b] else (a, b)
            if b < k or a >= k:
                links[a, b, lag] = None
        for h in range(k, m):
            links |= {(h, int(b), int(random.integers(0, 2))): None for b in random.choice(k, 2, replace=False)}
        yield System(k, hidden, tuple(links))


def with_contexts(found: Iterator[System], contexts: int, seed: int = 0) -> Iterator[System]:
    """The systems with contexts, each of which acts on every observed process with probability one half."""
    random = np.random.default_rng(seed)
    for system in found:
        acts = [(c, v) for c in range(contexts) for v in range(system.k) if random.random() < 0.5]
        yield system._replace(contexts=contexts, acts=tuple(acts))


@dataclass
class SeriesTally:
    """How ICD over shifts did on some systems.

    Args:
        kind: which systems.
        systems: how many.
        classes: how many classes of them.
        marks: ends of edges at latest copies, without those that time gives.
        settled: those with a mark.
        wrong_adjacencies: edges at the end that are not there, or the other way round.
        missing_on_the_way: edges that were missing after some step although they are there.
        unsound: marks that are wrong for some system of the class, at the end or on the way.
        conflicts: of rules.
        open_though_agreed: circles where all systems that were enumerated agree.
        tests: that were asked, in all.
    """

    kind: str
    systems: int = 0
    classes: int = 0
    marks: int = 0
    settled: int = 0
    wrong_adjacencies: int = 0
    missing_on_the_way: int = 0
    unsound: int = 0
    conflicts: int = 0
    open_though_agreed: int = 0
    tests: int = 0

    @property
    def is_right(self) -> bool:
        """No error of any kind."""
        return not (self.wrong_adjacencies or self.missing_on_the_way or self.unsound or self.conflicts)

    def to_dict(self) -> dict[str, object]:
        """The tally for machines."""
        return {**asdict(self), "right": self.is_right}


def tally_of(kind: str, window: Window, found: Iterator[System] | Sequence[System]) -> SeriesTally:
    """ICD over shifts with a perfect test on some systems."""
    tally, classes = SeriesTally(kind), dict[bytes, list[Seen]]()
    for system in found:
        tally.systems += 1
        seen = seen_in(system, window)
        classes.setdefault(marks_of_class(seen.mag.marks).tobytes(), []).append(seen)
    for members in classes.values():
        _judge(tally, window, members, searched(window, members[0].mag))
    return tally


def searched(window: Window, mag: MAG) -> Result:
    """The search with an oracle of the window's independences."""
    known = Knowledge(contexts=window.contexts) if window.contexts else None
    choices = for_window(window, Choices(method="icd", selection_bias=False, knowledge=known))
    return Search(_GivenContexts(Oracle(mag), window) if window.contexts else Oracle(mag), choices).run()


class _GivenContexts(Wrapper):
    """An oracle whose questions are asked given all contexts, as those of `anypag.ci.contexts` are."""

    answers_alike = False

    def __init__(self, test: Oracle, window: Window) -> None:
        super().__init__(test)
        self.always_given = np.isin(test.names, window.contexts)

    def pvalues(self, queries: Queries) -> PValues:
        asked = zip(queries.x.tolist(), queries.y.tolist(), queries.z.tolist(), strict=True)
        return np.concatenate([self._one(x, y, z) for x, y, z in asked] or [np.zeros(0)])

    def _one(self, x: int, y: int, z: list[int]) -> PValues:
        given = sorted({*z, *np.flatnonzero(self.always_given).tolist()} - {x, y})
        return self.test.pvalues(Queries([x], [y], [given]))


def _judge(tally: SeriesTally, window: Window, members: list[Seen], result: Result) -> None:
    tally.classes += 1
    tally.tests += result.n_tests
    tally.conflicts += len(result.conflicts)
    latest, adjacent = window.is_latest, members[0].mag.marks != Mark.NONE
    causes = np.stack([seen.causes.T for seen in members])  # [:, i, j]: j is a cause of i
    always, never = causes.all(axis=0), ~causes.any(axis=0)
    for item in result.history:
        marks = _in_order(item.pag, window)
        tally.missing_on_the_way += int((latest & adjacent & (marks == Mark.NONE)).sum()) // 2
        wrong = ((marks == Mark.TAIL) & ~always) | ((marks == Mark.ARROW) & ~never)
        tally.unsound += int(wrong.sum())
    marks = _in_order(result.pag, window)
    tally.wrong_adjacencies += int((latest & (adjacent != (marks != Mark.NONE))).sum()) // 2
    by_time = window.lags[:, None] > window.lags[None, :]
    ends = latest & (marks != Mark.NONE) & ~by_time
    tally.marks += int(ends.sum())
    tally.settled += int((ends & (marks != Mark.CIRCLE)).sum())
    tally.open_though_agreed += int((ends & (marks == Mark.CIRCLE) & (always | never)).sum())


def _in_order(pag: PAG, window: Window) -> Marks:
    order = [pag.index(name) for name in window.names]
    return pag.marks[np.ix_(order, order)]


def certify_series(n_sampled: int = 300) -> Iterator[SeriesTally]:
    """All systems of two observed processes with one and with two hidden ones, in windows of one and two lags; samples
    of larger ones; and small ones with contexts that act on some processes.
    """
    for max_lag in (1, 2):
        for hidden in (1, 2):
            kind = f"2 observed, {hidden} hidden, max_lag {max_lag}, all"
            yield tally_of(kind, window_of(2, max_lag), systems(2, hidden))
    for k, hidden, max_lag in ((3, 1, 1), (3, 1, 2), (3, 2, 2), (4, 2, 2)):
        kind = f"{k} observed, {hidden} hidden, max_lag {max_lag}, sampled"
        yield tally_of(kind, window_of(k, max_lag), random_systems(k, hidden, max_lag, n_sampled))
    for contexts, max_lag in ((1, 1), (1, 2), (2, 2)):
        kind = f"2 observed, 1 hidden, max_lag {max_lag}, {contexts} context{'s' * (contexts > 1)}"
        yield tally_of(kind, window_of(2, max_lag, contexts), with_contexts(systems(2, 1), contexts))
