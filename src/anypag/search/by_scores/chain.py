"""The Markov chain over graphs: its target and limits (`Landscape`), its current state (`Walker`), and its steps.

A graph is kept as bits, `(4, n, words)`: parents, children, spouses (`<->`) and neighbours (`---`) of every node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import lgamma, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.pag import find_cycle
from anypag.knowledge.facts import Facts
from anypag.scores.base import Score
from anypag.search.by_scores.effort import Effort
from anypag.search.progress import Progress, Tick
from anypag.stored import Array, stored
from anypag.threads import InCaller, Look, do_nothing, in_turns, map_in_threads

Bits = npt.NDArray[np.uint64]

NO_EDGE, CAUSE, EFFECT, ANY_STATE = 1, 2, 4, 31
"""Bits of the states that a pair may have (`Landscape.allowed`): no edge, `-->`, `<--`, and any state."""

SPOUSES = 2  # the index of `<->` in a graph

LARGEST = 10
"""The most nodes that may be linked by `<->` only, or `---` only. More take long to fit; data rarely support them."""

HOTTEST, COLDEST = 1.6, 0.5
"""The first and last temperature of cooling. Below 1 a chain climbs to the best graph near it and stays there."""
STRIDE = 20  # steps per node between two samples; a step per ordered pair did not lower errors (benchmarks/tried.md)
LEAST_STEPS = 1000  # fewer steps between samples take less than about 1 ms; then all chains run in one thread


@dataclass(frozen=True)
class Prior:
    """The prior of a graph. The shares of `-->`, `<->` and `---` among the edges have a Dirichlet distribution with
    these weights, and both directions of `-->` are equally likely. So the first `<->` costs most; later ones cost less.
    """

    directed: float = 4.0
    both: float = 1.0
    undirected: float = 0.5

    @cache  # noqa: B019 - a prior is a few numbers, and lives as long as the program
    def terms(self, n: int) -> Floats:
        """(4, pairs + 2) four terms of the log prior: `[0, m]` for m edges, `[1 to 3, m]` for m `-->`, `<->`, `---`."""
        k = np.arange(n * (n - 1) // 2 + 2)
        weights = (self.directed, self.both, self.undirected)
        log_gamma = np.vectorize(lgamma, otypes=[np.float64])
        whole = lgamma(sum(weights)) - log_gamma(k + sum(weights))
        directed, both, undirected = (log_gamma(k + weight) - lgamma(weight) for weight in weights)
        terms = np.array([whole, directed, both + k * log(2), undirected + k * log(2)])
        return np.ascontiguousarray(np.round(terms * 2**20) / 2**20)


class Known(NamedTuple):
    """Knowledge as kernels read it. Row i of `causes` and `not_causes` (n, words): bits of what i causes, or does not
    cause. `not_selecting` (n,): 1 for nodes that do not cause selection. `apart`: pairs that hidden nodes may not join
    (`_kernels.mag_chain.keeps_apart`), without rows if there are none.
    """

    causes: Bits
    not_causes: Bits
    not_selecting: Marks
    apart: Bits

    @classmethod
    def nothing(cls, n: int) -> Known:
        no_rows = bits_of(np.zeros((n, n), np.bool_))[:0]
        return cls(no_rows, no_rows, np.zeros(0, np.uint8), no_rows[None])

    @classmethod
    def of(cls, facts: Facts) -> Known:
        apart = np.stack([bits_of(facts.unconfounded), bits_of(facts.not_joined)])
        kept = len(apart[0]) - facts.n_hidden if facts.n_hidden and apart.any() else 0
        rest = bits_of(facts.causes), bits_of(facts.not_causes), facts.not_selecting.astype(np.uint8)
        return cls(*rest, np.ascontiguousarray(apart[:, :kept]))


@dataclass(frozen=True, eq=False)
class Landscape:
    """Everything that a chain needs besides its current state.

    `score` has the variables in the order of the chain. `terms`: the prior; see `Prior.terms`. `states`: which of 1
    `-->`, 2 `<--`, 3 `<->`, 4 `---` an edge may have. `allowed` (n, n): bit s of [i, j] is set if the pair may have
    state s. `likely` (k, 2): ordered pairs that are tried more often; `is_likely` holds them as bits. `largest`: the
    most nodes that `<->` or `---` may join. `ancestral`: are all graphs MAGs? `design` (n, words): the `<->` between
    contexts (variables that tell data sets apart), as bits. Every graph has these edges, but they do not count in its
    score, because contexts are conditioned on. `free`: how many ordered pairs may change; None if all may.
    """

    score: Score
    terms: Floats
    states: Marks
    allowed: Marks
    likely: npt.NDArray[np.int32]
    is_likely: Bits
    known: Known
    largest: int = LARGEST
    ancestral: bool = True
    design: Bits | None = None
    free: int | None = None

    @classmethod
    def of(
        cls,
        score: Score,
        *,
        prior: Prior | None = None,
        near: Flags | None = None,
        allowed: Marks | None = None,
        facts: Facts | None = None,
        selection: bool = True,
        ancestral: bool = True,
    ) -> Landscape:
        """The landscape of a score. `near`: the likely pairs. Chains must start at graphs that agree with `facts`."""
        n = len(score.names)
        near = np.zeros((n, n), np.bool_) if near is None else near
        allowed = np.full((n, n), ANY_STATE, np.uint8) if allowed is None else allowed
        between = np.zeros((n, n), np.bool_) if facts is None else np.logical_and.outer(facts.design, facts.design)
        np.fill_diagonal(between, False)
        states = [1, 2, *([3] if score.hidden else []), *([4] if score.hidden and selection else [])]
        return cls(
            score,
            (Prior() if prior is None else prior).terms(n),
            np.array(states, np.uint8),
            np.where(between, NO_EDGE, allowed).astype(np.uint8),
            np.ascontiguousarray(np.argwhere(near), np.int32),
            bits_of(near),
            Known.nothing(n) if facts is None else Known.of(facts),
            LARGEST if score.hidden else 1,
            ancestral,
            bits_of(between) if between.any() else None,
        )

    def twins(self, count: int, threads: int) -> list[Landscape]:
        """The landscape for each of `count` chains; with several threads each has its own cache of scores."""
        lands = [self]
        for _ in range(count - 1):
            lands.append(self if threads == 1 else replace(lands[-1], score=lands[-1].score.twin))
        return lands

    @property
    def round(self) -> int:
        """The number of steps in a round: about one for each ordered pair."""
        return len(self.allowed) ** 2 if self.free is None else self.free

    @property
    def stride(self) -> int:
        """The number of steps between two samples. With many pairs it is less than a round: few are ever joined."""
        return min(self.round, int(STRIDE * sqrt(self.round)))

    def freely(self) -> Landscape:
        """The landscape without knowledge, except the design. Contexts are not scored, so nothing may act on them."""
        allowed = np.full_like(self.allowed, ANY_STATE)
        if self.design is not None:
            between = flags_of(self.design)
            is_context = between.any(axis=0)
            allowed[is_context], allowed[:, is_context] = NO_EDGE | CAUSE, NO_EDGE | EFFECT
            allowed[between] = NO_EDGE
        return replace(self, allowed=allowed, known=Known.nothing(len(allowed)))

    def without_design(self, graph: Bits) -> Bits:
        """A copy of a graph without the edges between contexts."""
        return self._changed(graph, lambda spouses, design: spouses & ~design)

    def with_design(self, graph: Bits) -> Bits:
        """A copy of a graph with the edges between contexts."""
        return self._changed(graph, lambda spouses, design: spouses | design)

    def _changed(self, graph: Bits, change: Callable[[Bits, Bits], Bits]) -> Bits:
        changed = graph.copy()
        if self.design is not None:
            changed[SPOUSES] = change(graph[SPOUSES], self.design)
        return changed

    def score_of(self, graph: Bits, look: Look = do_nothing) -> float:
        """The score of a graph, prior included."""
        from anypag._kernels.mag_chain import total

        parts = np.full(graph.shape[1] + 1, np.nan)
        in_turns(total, *self.given, self.without_design(graph), parts, look=look)
        return float(sum(parts.tolist()))  # exact: the parts are multiples of 2⁻²⁰, so sums need no rounding

    @property
    def given(self) -> tuple[Any, ...]:
        """The arguments for the score and the prior that the kernels of chains take."""
        score = self.score
        return score.component, tuple(score.bound), (*score.of_components, self.largest), self.terms


@dataclass(frozen=True, eq=False)
class Walker:
    """A chain: its current graph, the best graph so far, their scores, the random state, how many steps it accepted."""

    graph: Bits
    best: Bits
    scores: Floats
    random: Bits
    taken: int = 0

    @classmethod
    def at(cls, graph: Bits, landscape: Landscape, seed: int, look: Look = do_nothing) -> Walker:
        score = landscape.score_of(graph, look)
        random = np.random.SeedSequence(seed).generate_state(1, np.uint64)  # neighbouring seeds share no numbers
        return cls(graph, graph, np.array([score, score]), np.asarray(random, np.uint64))

    @property
    def score(self) -> float:
        return float(self.scores[0])

    @property
    def best_score(self) -> float:
        return float(self.scores[1])


@dataclass(frozen=True, eq=False)
class Walkers:
    """Several chains, as arrays with one entry for each chain."""

    graph: Bits = stored(Array("uint64", (None, 4, None, None)))
    best: Bits = stored(Array("uint64", (None, 4, None, None)))
    scores: Floats = stored(Array("float64", (None, 2)))
    random: Bits = stored(Array("uint64", (None, 1)))
    taken: Counts = stored(Array("int64", (None,), 0))

    @property
    def is_consistent(self) -> bool:
        parts = (self.graph, self.best, self.scores, self.random, self.taken)
        return len({len(part) for part in parts}) == 1 and are_graphs(self.graph) and are_graphs(self.best)

    @classmethod
    def none(cls, empty: Bits) -> Walkers:
        """No chains. `empty`: any graph of the size that chains will have."""
        no_graphs = np.zeros((0, *empty.shape), np.uint64)
        return cls(no_graphs, no_graphs, np.zeros((0, 2)), np.zeros((0, 1), np.uint64), np.zeros(0, np.int64))

    @classmethod
    def of(cls, walkers: Sequence[Walker]) -> Walkers:
        rows = [(walker.graph, walker.best, walker.scores, walker.random) for walker in walkers]
        taken = np.array([walker.taken for walker in walkers], np.int64)
        graph, best, scores, random = (np.stack(parts) for parts in zip(*rows, strict=True))
        return cls(graph, best, scores, random, taken)

    def each(self) -> list[Walker]:
        rows = zip(self.graph, self.best, self.scores, self.random, self.taken.tolist(), strict=True)
        return [Walker(*row) for row in rows]


def advance(walker: Walker, landscape: Landscape, steps: int, temperature: float, look: Look = do_nothing) -> Walker:
    """The chain after `steps` more steps; `walker` itself is not changed. `look` is called at short intervals."""
    from anypag._kernels import mag_chain as kernel

    graph, best = landscape.without_design(walker.graph), landscape.without_design(walker.best)
    scores, random, made = walker.scores.copy(), walker.random.copy(), np.zeros(2, np.int64)
    moves = landscape.states, landscape.allowed, landscape.likely, landscape.is_likely
    hides, ancestral = landscape.known.apart.size > 0, landscape.ancestral
    check = kernel.keeps_apart if hides else kernel.is_maximal if ancestral else kernel.is_any
    given = *landscape.given, moves, tuple(landscape.known), ancestral or hides, check, temperature, steps
    in_turns(kernel.advance, *given, random, graph, best, scores, made, look=look)
    graph, best = landscape.with_design(graph), landscape.with_design(best)
    return replace(walker, graph=graph, best=best, scores=scores, random=random, taken=walker.taken + int(made[1]))


def each_advanced(
    walkers: Sequence[Walker], landscape: Landscape, temperatures: Sequence[float], threads: int, look: Look
) -> list[Walker]:
    """The chains, each at its temperature, after `landscape.stride` steps. With several threads each chain has
    its own cache of scores; the graphs are the same to the bit for any number of threads. `look` is called in the
    calling thread only.
    """
    threads = threads if landscape.stride >= LEAST_STEPS else 1
    listen = InCaller(look)

    def one(walker: Walker, land: Landscape, temperature: float) -> Walker:
        return advance(walker, land, landscape.stride, temperature, listen)

    jobs = list(zip(walkers, landscape.twins(len(walkers), threads), temperatures, strict=True))
    return map_in_threads(lambda job: one(*job), jobs, threads, meanwhile=look, on_error=listen.end)


def cooled(walker: Walker, landscape: Landscape, effort: Effort, tick: Tick) -> Walker:
    """The chain after cooling: rounds of steps, each at a lower temperature."""
    for stretch in range(effort.cooling):
        look = partial(tick, Progress(-1, "cooling", stretch, effort.cooling, 0))
        look()
        done = stretch / max(1, effort.cooling - 1)
        walker = advance(walker, landscape, landscape.round, HOTTEST ** (1 - done) * COLDEST**done, look)
    return walker


def each_cooled(starts: Bits, landscape: Landscape, effort: Effort, threads: int, tick: Tick) -> list[Walker]:
    """The cooled chains from all starts, the same to the bit for any number of threads."""
    listen, look = InCaller(tick), partial(tick, Progress(-1, "cooling", 0, effort.cooling, 0))

    def one(k: int, land: Landscape) -> Walker:
        return cooled(Walker.at(starts[k], land, seed=k + 1), land, effort, listen)

    jobs = list(enumerate(landscape.twins(len(starts), threads)))
    return map_in_threads(lambda job: one(*job), jobs, threads, meanwhile=look, on_error=listen.end)


def bits_of(flags: Flags) -> Bits:
    """(n, n) flags as (n, words) bits, 64 in a word.

    >>> bits_of(np.array([[False, True], [True, True]])).tolist()
    [[2], [3]]
    """
    n = len(flags)
    words = max(1, -(-n // 64))
    padded = np.zeros((n, words * 64), np.uint8)
    padded[:, :n] = flags
    return np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64))


def flags_of(bits: Bits) -> Flags:
    """(..., n, n) flags: the inverse of `bits_of`."""
    n = bits.shape[-2]
    flags = np.unpackbits(np.ascontiguousarray(bits, "<u8").view(np.uint8), axis=-1, bitorder="little")
    return flags[..., :n].view(np.bool_)


def graph_of(marks: Marks) -> Bits:
    """The bits of a graph of `-->`, `<->` and `---`."""
    arrow, tail = marks == Mark.ARROW, marks == Mark.TAIL
    child = arrow & tail.T
    kinds = (child.T, child, arrow & arrow.T, tail & tail.T)
    return np.ascontiguousarray(np.stack([bits_of(kind) for kind in kinds]))


def marks_of(graph: Bits) -> Marks:
    """(..., n, n) marks: the inverse of `graph_of`, for one graph or several."""
    parent, child, both, undirected = np.moveaxis(flags_of(graph), -3, 0)
    return np.asarray(np.uint8(Mark.ARROW) * (child | both) + np.uint8(Mark.TAIL) * (parent | undirected))


def are_graphs(graphs: Bits) -> bool:
    """Are these (k, 4, n, words) bits graphs without directed cycles? For graphs that were read from a file."""
    n, words = graphs.shape[2:]
    if words != max(1, -(-n // 64)):
        return False
    is_cyclic = (find_cycle(flags_of(graph[0]).view(np.uint8)) for graph in graphs)
    return not any(is_cyclic) and all(np.array_equal(graph_of(marks_of(graph)), graph) for graph in graphs)
