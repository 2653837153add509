"""A posterior over graphs, and the PAG of least expected error.

1. Orders: BOSS from many starts gives DAGs that score well (`by_scores.boss`).
2. Tests: ICD gives a graph that is right in the limit of many rows. The next phase starts from a MAG of this graph's
   class, or from a MAG near the graph if it is no valid PAG (`by_scores.starting_graphs`).
3. Cooling: chains start at the best DAGs and at this MAG, and walk towards better scores (`by_scores.chain`). The best
   graph met is kept. Graphs are path diagrams: `-->`, `<->` and `---` without directed cycles. A `<->` may join a node
   and its ancestor. The MAG of such a diagram can have more edges, and each edge lowers the score.
   Discrete columns have no score for `<->`. Their graphs are DAGs, and hidden causes are found as unmeasured columns
   with a few levels (`by_scores.hidden_columns`; `_hides_columns` says when this is left out).
4. Sampling: chains at several temperatures start at the best graph and swap graphs (parallel tempering). The answer
   comes from the PAGs of the coldest chain, at temperature 1. Effects are drawn from the graphs of all temperatures,
   and from two more chains in which an edge costs less, because a missing edge may hide an effect. Levels of
   hidden columns are drawn again before every block of rounds, given the graph of the coldest chain.

The answer is the PAG with the fewest expected errors among all PAGs met (`by_scores.posterior`). If the score uses
correlations and no knowledge concerns marks, sampled marks are weighted by how often such marks are right
(`by_scores.calibrated`). The answer after every step is the PAG of a MAG, so it is valid. If a start that
agrees with the knowledge is found (`by_scores.starting_graphs`), all sampled graphs agree too: chains never propose an
edge that the knowledge excludes, and reject steps that break a statement. So a graph in the answer's class agrees.
Random numbers come from fixed seeds, and the data decide the order of nodes. So the order of columns does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from anypag._kernels.patience import compile_ahead
from anypag.arrays import Counts, Flags, Floats
from anypag.catalogue import METHODS
from anypag.errors import GraphError
from anypag.graphs.base import Marks, marks_of_arrows
from anypag.graphs.marks import Mark
from anypag.graphs.pag import MAG, PAG
from anypag.graphs.projection import LatentDAG, class_of, mag_of_diagram
from anypag.knowledge.facts import Facts
from anypag.scores.base import Score
from anypag.scores.discrete import DiscreteScore
from anypag.scores.latent import HiddenLevels, LatentScore
from anypag.search.algorithm import Algorithm
from anypag.search.by_scores.boss import Rival, free_dag, info_of, look_at, orders_of, settle_next, with_orders
from anypag.search.by_scores.chain import (
    ANY_STATE,
    CAUSE,
    EFFECT,
    NO_EDGE,
    Bits,
    Landscape,
    Walker,
    Walkers,
    are_graphs,
    cooled,
    each_advanced,
    each_cooled,
    graph_of,
    marks_of,
)
from anypag.search.by_scores.effort import Effort
from anypag.search.by_scores.hidden_columns import CompletedDAG, with_another, without_hidden
from anypag.search.by_scores.orders import FoundDAG, Orders, found, of_distinct_classes
from anypag.search.by_scores.posterior import GraphSample, Posterior
from anypag.search.by_scores.sampled_graphs import MOST_NODES
from anypag.search.by_scores.starting_graphs import agreeing, allowed_states, near_mag, needs_mags, with_design
from anypag.search.by_tests import icd
from anypag.search.problem import Problem
from anypag.search.progress import Progress, Tick, no_tick
from anypag.search.state import State, StepInfo, first_state, of_class
from anypag.stored import SQUARE, Array, Nested, Whole, marks_matrix, stored
from anypag.threads import map_in_threads, threads_for

NEAREST = 10  # how many of the best DAGs decide which pairs are likely to be joined
MOST_TESTS = 2_000_000  # the search by tests starts no further step after this many tests

MOST_ROWS = 1_000_000
"""With more rows, no hidden causes of discrete columns are looked for: their levels are drawn row by row."""
FAR_BEHIND = 1000.0
"""If the log score of a start is this much below that of the best start, no chain is cooled from it."""
LEAST_SCORE = -1e14  # a lower score means that a part of the graph cannot be scored (`IMPOSSIBLE` of scores)
BLOCKS = 10  # how many steps the phase "sampling" has; each step makes one block of rounds


@dataclass(frozen=True, eq=False, repr=False)
class BayesState(State):
    """The PAG of least expected error so far, and how far the search has come."""

    has_rival = True
    """Is the best graph with knowledge compared with the best graph without knowledge?"""
    orders: Orders = stored(Nested(Orders), kw_only=True)
    rival: Rival = stored(Nested(Rival), default_factory=Rival, kw_only=True)
    by_tests: Marks | None = stored(marks_matrix(), default=None, kw_only=True)  # the graph that tests gave
    near: Flags = stored(Array("bool", SQUARE), kw_only=True)  # pairs that chains try more often
    starts: Bits = stored(Array("uint64", (None, 4, "n", None)), kw_only=True)  # graphs at which cooled chains start
    cooled: int = stored(Whole(), default=0, kw_only=True)  # how many of these starts were cooled
    walkers: Walkers = stored(Nested(Walkers), kw_only=True)  # the chains at several temperatures
    rounds: int = stored(Whole(), default=0, kw_only=True)  # rounds of sampling made
    sample: GraphSample = stored(Nested(GraphSample), kw_only=True)
    best: Bits = stored(Array("uint64", (4, None, None)), kw_only=True)
    """The best graph met; hidden causes of discrete columns are its last nodes."""
    best_score: Floats = stored(Array("float64", (1,)), kw_only=True)
    for_effects: Walkers = stored(Nested(Walkers), kw_only=True)
    """The chains in which an edge costs less (`draws_for_effects`); there may be none."""
    hidden: HiddenLevels = stored(Array("uint8", (None, None)), kw_only=True)
    """(k, rows) levels drawn for hidden causes."""
    n_levels: Counts = stored(Array("int64", (None,), 2), kw_only=True)  # (k,) how many levels each hidden cause has

    @property
    def is_consistent(self) -> bool:
        n_nodes = self.n + len(self.n_levels)
        graphs = (self.starts, self.walkers.graph, self.walkers.best, self.for_effects.graph, self.for_effects.best)
        sizes = {part.shape[-2] for part in graphs if len(part)}
        are_sizes = self.best.shape[-2] == n_nodes and sizes <= {self.n, n_nodes}
        are_counts = len(self.hidden) == len(self.n_levels) and self.cooled <= len(self.starts)
        return are_sizes and are_counts and are_graphs(self.best[None]) and are_graphs(self.starts)

    def fits(self, problem: Problem) -> bool:
        """Can a search of this problem continue from this state?"""
        n_chains, rows = len(self.walkers.graph), self.hidden.shape[1]
        return (
            super().fits(problem)
            and n_chains in {0, len(Effort.of(problem).temperatures)}
            and len(self.for_effects.graph) == n_chains * (_score_for_effects(problem) is not None)
            and rows in {0, problem.n_rows}
        )

    def landscape(self, problem: Problem) -> Landscape:
        """The target and the limits of the chains."""
        facts = facts_of_chain(problem)
        score, near, allowed = _with_hidden_nodes(self, problem, facts)
        return Landscape.of(
            score,
            near=near,
            allowed=allowed,
            facts=None if facts is None else facts.with_hidden(len(self.n_levels)),
            selection=problem.choices.selection_bias,
            ancestral=facts is not None and needs_mags(facts),
        )

    def start_at(self, marks: Marks) -> Bits:
        """The graph at which a chain starts, from its marks."""
        return graph_of(marks)

    def diagram_of(self, graph: Bits) -> Marks:
        """The marks of the path diagram that the graph of a chain represents; also for several graphs at once."""
        return marks_of(graph)

    def diagram_for_effects(self, diagram: Marks) -> Marks:
        """The marks of the graph from which effects are drawn, made from the marks of `diagram_of`."""
        return diagram

    @property
    def posterior(self) -> Posterior:
        """The posterior so far, with the variables in the order of the test."""
        return self.posterior_of_nodes.arranged(self.nodes.order)

    @property
    def posterior_of_nodes(self) -> Posterior:
        """The posterior with the variables as the search numbers them."""
        best = class_of(mag_of_diagram(self.diagram_of(self.best), len(self.n_levels)))
        n_levels = tuple(self.n_levels.tolist())
        return Posterior(self.nodes.names, self.sample, best, float(self.best_score[0]), n_levels)


def init(problem: Problem) -> BayesState:
    """The first state, in which every pair is joined, and no order of the variables has been improved yet."""
    n = problem.n
    empty = graph_of(np.zeros((n, n), np.uint8))
    return of_class(
        BayesState,
        replace(first_state(problem), phase="orders"),
        orders=orders_of(problem),
        near=np.zeros((n, n), np.bool_),
        starts=np.zeros((0, *empty.shape), np.uint64),
        walkers=Walkers.none(empty),
        for_effects=Walkers.none(empty),
        sample=GraphSample.none(n),
        best=empty,
        best_score=np.array([-np.inf]),
        hidden=np.zeros((0, 0), np.uint8),
        n_levels=np.zeros(0, np.int64),
    )


def step(state: BayesState, problem: Problem, tick: Tick = no_tick) -> tuple[BayesState, StepInfo]:
    tests: dict[int, int] = {}
    if state.phase == "orders":
        compile_beside_orders(problem)
        orders = settle_next(state.orders, problem, tick)
        phase = "tests" if orders.all_settled else "orders"
        after = replace(with_orders(state, orders, problem, tick), phase=phase)
    elif state.phase == "tests":
        after, tests = _tested(state, problem, tick)
    else:
        make = {"cooling": _cool, "hidden causes": _find_hidden, "sampling": _sample}[state.phase]
        after = make(state, problem, tick)
    return after, info_of(state.phase, state, after, tests)


def compile_beside_orders(problem: Problem) -> None:
    """Starts processes that compile what comes after the orders."""
    compile_ahead("mag_chain")
    if isinstance(problem.score_in_order, DiscreteScore):  # EM for hidden columns, which follows the chains
        compile_ahead("discrete_score")


def _tested(state: BayesState, problem: Problem, tick: Tick) -> tuple[BayesState, dict[int, int]]:
    found_by_tests, tests = first_state(problem), dict[int, int]()
    while not found_by_tests.done and sum(tests.values()) < MOST_TESTS:
        found_by_tests, info = icd.step(found_by_tests, problem, tick)
        tests = {size: tests.get(size, 0) + info.tests.get(size, 0) for size in {*tests, *info.tests}}
    return started(replace(state, asked=found_by_tests.asked), found_by_tests.marks, problem, tick), tests


def started(state: BayesState, by_tests: Marks, problem: Problem, tick: Tick) -> BayesState:
    """The state before cooling, with starts from the best DAGs of the orders and from the graph by tests."""
    dags = of_distinct_classes(found(state.orders, problem.score_in_order, look_at(state.orders, tick)))
    mag = _mag_of_tests(by_tests, problem)
    chosen = _agreeing([mag, *(marks_of_arrows(dag.parents) for dag in dags[: Effort.of(problem).dags])], problem)
    near = likely_pairs(dags[:NEAREST], by_tests)
    return _from_starts(replace(state, by_tests=by_tests, near=near), problem, chosen)


def _mag_of_tests(marks: Marks, problem: Problem) -> Marks:
    """A MAG of the graph by tests or near it; the empty graph if the score or the choices exclude such a MAG."""
    if not problem.score_in_order.hidden:
        return np.zeros_like(marks)
    try:
        mag = PAG(marks).to_mag().marks
    except GraphError:
        mag = near_mag(marks, problem.strength.table_of(len(marks)))
    has_selection = bool(((mag == 3) & (mag.T == 3)).any())
    return np.zeros_like(mag) if has_selection and not problem.choices.selection_bias else mag


def _agreeing(chosen: Sequence[Marks], problem: Problem) -> list[Marks]:
    """Without knowledge, the starts. With knowledge, the starts and a graph with few edges, all changed to agree with
    the knowledge; those that cannot agree are left out.
    """
    facts = facts_of_chain(problem)
    if facts is None:
        return list(chosen)
    hidden = problem.score_in_order.hidden
    near = [agreeing(marks, facts, hidden=hidden) for marks in (*chosen, np.zeros_like(problem.given))]
    return [marks for marks in near if marks is not None and (not needs_mags(facts) or _is_mag(marks))]


def _is_mag(marks: Marks) -> bool:
    try:
        MAG(marks)
    except GraphError:
        return False
    return True


def facts_of_chain(problem: Problem) -> Facts | None:
    """The facts, if a graph was found that agrees with them; else None, and facts are applied after the search."""
    if problem.facts is None:
        return None
    least = agreeing(np.zeros_like(problem.given), problem.facts, hidden=problem.score_in_order.hidden)
    if least is None or (needs_mags(problem.facts) and not _is_mag(least)):
        return None
    landscape = Landscape.of(problem.score_in_order, facts=problem.facts)
    return problem.facts if landscape.score_of(graph_of(least)) > LEAST_SCORE else None


def _from_starts(state: BayesState, problem: Problem, chosen: Sequence[Marks]) -> BayesState:
    """The state before cooling. Starts with no score (`chain.LARGEST`), or one far below the best, are left out."""
    landscape = state.landscape(problem)
    graphs = [state.start_at(marks) for marks in chosen]
    scores = np.array([landscape.score_of(graph) for graph in graphs])
    best = int(np.argmax(scores))
    starts = np.stack([graphs[k] for k in np.flatnonzero(scores > max(LEAST_SCORE, scores[best] - FAR_BEHIND))])
    state = replace(state, phase="cooling", starts=starts, best=graphs[best], best_score=scores[[best]])
    return _answered(state, problem)


def _cool(state: BayesState, problem: Problem, tick: Tick) -> BayesState:
    """Cools a chain from the next start. After the last one, looks for a `Rival` if there is knowledge."""
    effort, landscape = Effort.of(problem), state.landscape(problem)
    walker = _next_cooled(state, problem, landscape, tick)
    state = replace(_with_best(state, walker), cooled=state.cooled + 1)
    if state.cooled < len(state.starts):
        return _answered(state, problem)
    if problem.facts is not None and state.has_rival:
        freely = landscape.freely()
        dag = free_dag(problem, tick)
        gone = (dag == Mark.ARROW) & problem.facts.design
        start = graph_of(with_design(np.where(gone | gone.T, np.uint8(Mark.NONE), dag), problem.facts))
        free = cooled(Walker.at(start, freely, seed=state.cooled + 1), freely, effort, tick)
        state = replace(state, rival=Rival.of(marks_of(free.best), marks_of(state.best), problem))
    if _hides_columns(problem):
        return _answered(replace(state, phase="hidden causes"), problem)
    return _ready_to_sample(state, problem)


def _next_cooled(state: BayesState, problem: Problem, landscape: Landscape, tick: Tick) -> Walker:
    """The cooled chain from the next start. With several threads, the first call cools all starts."""
    effort, made, key = Effort.of(problem), problem.score_in_order.made_ahead, state.starts.tobytes()
    if problem.threads == 1:
        seed = state.cooled + 1
        return cooled(Walker.at(state.starts[state.cooled], landscape, seed), landscape, effort, tick)
    if key not in made:
        made[key] = each_cooled(state.starts, landscape, effort, problem.threads, tick)
    walker: Walker = made[key][state.cooled]
    return walker


def _find_hidden(state: BayesState, problem: Problem, tick: Tick) -> BayesState:
    """Looks for another hidden cause of discrete columns. If none is found, sets up the chains that sample."""
    discrete = problem.score_in_order
    assert isinstance(discrete, DiscreteScore)
    dag = latent_dag(state.best, state.n_levels)
    known = CompletedDAG(dag, float(state.best_score[0]), state.hidden)
    before = known if dag.n_levels else without_hidden(dag.parents, discrete)
    facts = Facts.none(problem.n) if problem.facts is None else problem.facts
    after = with_another(before, discrete, Effort.of(problem).tries, facts, tick)
    marks = with_design(after.dag.marks, facts.with_hidden(len(after.dag.n_levels)))
    best, best_score = graph_of(marks), np.array([after.score])
    n_levels = np.array(after.dag.n_levels, np.int64)
    state = replace(state, best=best, best_score=best_score, hidden=after.hidden, n_levels=n_levels)
    return _ready_to_sample(state, problem) if after is before else _answered(state, problem)


def latent_dag(graph: Bits, n_levels: Counts) -> LatentDAG:
    return LatentDAG.of_marks(marks_of(graph), tuple(n_levels.tolist()))


def _hides_columns(problem: Problem) -> bool:
    """Does the search look for hidden causes as columns? The score must be BDeu, the only one comparable with the score
    of hidden columns. There must be at most `MOST_ROWS` rows, and a graph without hidden causes must have been found
    that agrees with the knowledge.
    """
    score = problem.score_in_order
    if not isinstance(score, DiscreteScore) or score.n > MOST_ROWS:
        return False
    return problem.facts is None or facts_of_chain(problem) is not None


def sees_hidden(problem: Problem) -> bool:
    """Does the search consider graphs with hidden causes?"""
    return problem.score_in_order.hidden or _hides_columns(problem)


def _ready_to_sample(state: BayesState, problem: Problem) -> BayesState:
    landscape = state.landscape(problem)
    seeds = range(1000, 1000 + len(Effort.of(problem).temperatures))
    walkers = Walkers.of([Walker.at(state.best, landscape, seed) for seed in seeds])
    score = _score_for_effects(problem)
    if score is not None:
        cheaper = replace(landscape, score=score)
        chains = [Walker.at(state.best, cheaper, 1000 + seed) for seed in seeds]
        state = replace(state, for_effects=Walkers.of(chains))
    return _answered(replace(state, phase="sampling", walkers=walkers), problem)


def _score_for_effects(problem: Problem) -> Score | None:
    """The score in which an edge costs less; None if no graphs are sampled for effects only."""
    return problem.score_in_order.for_effects if problem.n <= MOST_NODES else None


def _sample(state: BayesState, problem: Problem, tick: Tick) -> BayesState:
    """Makes a block of rounds. In a round chains advance, their graphs are counted, and adjacent chains may swap."""
    state = _with_hidden_drawn(state, problem, tick)
    effort, landscape = Effort.of(problem), state.landscape(problem)
    walkers, rounds, drawn = state.walkers.each(), state.rounds, list[Bits]()
    for _ in range(min(-(-effort.samples // BLOCKS), effort.samples - rounds)):
        look = partial(tick, Progress(-1, "sampling", rounds, effort.samples, 0))
        look()
        walkers = each_advanced(walkers, landscape, effort.temperatures, problem.threads, look)
        drawn += [walker.graph for walker in walkers]
        walkers = exchanged(walkers, effort.temperatures, rounds)
        rounds += 1
    for walker in walkers if not len(state.n_levels) else ():  # scores are not comparable once levels are drawn anew
        state = _with_best(state, walker)
    state = replace(state, walkers=Walkers.of(walkers), sample=_counted(state, problem, drawn), rounds=rounds)
    return _answered(replace(state, done=rounds >= effort.samples), problem)


def _counted(state: BayesState, problem: Problem, drawn: Sequence[Bits]) -> GraphSample:
    """The sample with the graphs of a block of rounds; each round has one graph of every temperature."""
    diagrams, temperatures = state.diagram_of(np.stack(drawn)), Effort.of(problem).temperatures
    cold = [temperature == 1 for temperature in temperatures] * (len(drawn) // len(temperatures))
    distinct = {one.tobytes(): one for one in diagrams}
    threads = threads_for(len(distinct) * state.n**3, problem.threads)
    mags = map_in_threads(lambda one: mag_of_diagram(one, len(state.n_levels)), list(distinct.values()), threads)
    mag_at = dict(zip(distinct, mags, strict=True))
    return state.sample.adding([mag_at[one.tobytes()] for one in diagrams], state.diagram_for_effects(diagrams), cold)


def draws_for_effects(state: BayesState, problem: Problem, tick: Tick) -> Iterator[BayesState]:
    """Yields the state after each round that draws graphs for effects only: one graph of each chain in which an edge
    costs less. There are as many of these rounds as rounds of sampling.

    To draw these graphs takes longer than the search itself, and few users ask for an effect. So they are drawn on
    demand. If the state already has some of them, only the others are drawn.
    """
    if not len(state.for_effects.graph):
        return
    effort, sample, walkers = Effort.of(problem), state.sample, state.for_effects.each()
    score = _score_for_effects(problem)
    assert score is not None, "chains for effects have a score"
    cheaper = replace(state.landscape(problem), score=score)
    for turn in range(0 if sample.for_effects is None else len(sample.for_effects) // len(walkers), state.rounds):
        look = partial(tick, Progress(-1, "sampling for effects", turn, state.rounds, 0, asks=False))
        look()
        walkers = each_advanced(walkers, cheaper, effort.temperatures, problem.threads, look)
        diagrams = state.diagram_of(np.stack([walker.graph for walker in walkers]))
        sample = sample.adding_for_effects(state.diagram_for_effects(diagrams))
        walkers = exchanged(walkers, effort.temperatures, turn)
        yield replace(state, for_effects=Walkers.of(walkers), sample=sample)


def _with_hidden_drawn(state: BayesState, problem: Problem, tick: Tick) -> BayesState:
    """The state with newly drawn levels of hidden causes; chains keep their graphs and are scored again."""
    discrete = problem.score_in_order
    if not len(state.n_levels) or not isinstance(discrete, DiscreteScore):
        return state
    coldest = latent_dag(state.walkers.graph[0], state.n_levels)
    look = partial(tick, Progress(-1, "sampling", state.rounds, Effort.of(problem).samples, 0))
    state = replace(state, hidden=LatentScore(discrete, look).drawn(coldest, state.hidden, [state.rounds]))
    landscape = state.landscape(problem)
    scores = np.array([[landscape.score_of(graph, look)] * 2 for graph in state.walkers.graph])
    return replace(state, walkers=replace(state.walkers, scores=scores))


def exchanged(walkers: Sequence[Walker], temperatures: Sequence[float], turn: int) -> list[Walker]:
    """The chains after Metropolis swaps between neighbouring temperatures. Odd turns leave the first chain out."""
    places = list(walkers)
    for k in range(turn % 2, len(places) - 1, 2):
        low, high = places[k], places[k + 1]
        gain = (high.score - low.score) * (1 / temperatures[k] - 1 / temperatures[k + 1])
        if gain >= 0 or np.log(_uniform(low, turn, k)) < gain:
            places[k] = replace(low, graph=high.graph, scores=np.array([high.score, low.best_score]))
            places[k + 1] = replace(high, graph=low.graph, scores=np.array([low.score, high.best_score]))
    return places


def _uniform(walker: Walker, turn: int, k: int) -> float:
    """A number between 0 and 1 made from the random state of a chain, which is not changed."""
    seed = [int(walker.random[0] >> np.uint64(1)), turn, k]
    return float(np.random.Generator(np.random.PCG64(seed)).random())


def likely_pairs(dags: Sequence[FoundDAG], by_tests: Marks) -> Flags:
    """Pairs that are adjacent or share a neighbour in the union of the DAGs, and pairs that tests leave adjacent."""
    adjacent = np.zeros(by_tests.shape, np.bool_)
    for dag in dags:
        adjacent |= (dag.parents | dag.parents.T) != 0
    near: Flags = adjacent | (adjacent.astype(np.int64) @ adjacent > 0) | (by_tests != 0)
    np.fill_diagonal(near, False)
    return near


def _with_hidden_nodes(state: BayesState, problem: Problem, facts: Facts | None) -> tuple[Score, Flags, Marks | None]:
    """The score, the likely pairs and the allowed states, with hidden causes as further nodes that have no parents."""
    score, n, k = problem.score_in_order, problem.n, len(state.n_levels)
    known = None if facts is None else allowed_states(facts)
    if not k or not isinstance(score, DiscreteScore):
        return score, state.near, known
    may_cause = _possible_children(state) & score.has_few_levels
    if facts is not None:
        may_cause &= ~facts.design
    near, allowed = np.zeros((n + k, n + k), np.bool_), np.full((n + k, n + k), NO_EDGE, np.uint8)
    near[:n, :n], near[n:, :n], near[:n, n:] = state.near, may_cause, may_cause.T
    allowed[:n, :n] = ANY_STATE if known is None else known
    allowed[n:, :n][may_cause] |= CAUSE
    allowed[:n, n:][may_cause.T] |= EFFECT
    return score.with_hidden(state.hidden, state.n_levels.tolist()), near, allowed


def _possible_children(state: BayesState) -> Flags:
    """(k, n) the columns that a hidden cause may act on: its children, and columns that tests left adjacent to a child.
    If all were possible, a chain at a high temperature would add nearly constant columns, as edges to them cost little.
    """
    assert state.by_tests is not None
    children = latent_dag(state.best, state.n_levels).children
    return np.asarray(children | (children.astype(np.int64) @ (state.by_tests != 0) > 0))


def _with_best(state: BayesState, walker: Walker) -> BayesState:
    if walker.best_score <= state.best_score[0]:
        return state
    return replace(state, best=walker.best, best_score=np.array([walker.best_score]))


def _answered(state: BayesState, problem: Problem) -> BayesState:
    """The state with the marks of the best answer so far."""
    from_counts = isinstance(problem.score, DiscreteScore)
    posterior = replace(state.posterior_of_nodes, from_counts=from_counts, facts=problem.facts)
    return replace(state, marks=posterior.marks, earlier_edges=None)


ALGORITHM = Algorithm("bayes", METHODS["bayes"], init, step, icd.ALGORITHM.on_data, BayesState)  # type: ignore[arg-type]
