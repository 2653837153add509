"""`Effect`: the answer of `effect`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from anypag.arrays import Floats
from anypag.data.table import clusters_in
from anypag.effects.estimate.estimates import Entries, Estimate, Model
from anypag.effects.estimate.fitted_adjustment import Robustness
from anypag.effects.estimate.fitting import Sampling
from anypag.effects.estimate.learners import Learner
from anypag.effects.estimate.ranges import PossibleEffects
from anypag.effects.identify.adjustment import minimal_sets, smallest
from anypag.effects.identify.verdict import Status
from anypag.effects.learned import ONE_PAIR, Adjusting, is_one_pair
from anypag.effects.numbers import EffectBasis, of_one_graph, of_sampled_graphs
from anypag.effects.question import WITHOUT_KNOWLEDGE, AFewNodes
from anypag.effects.sampled_effect import SampledEffect, headline, told
from anypag.effects.sampled_question import ClassGroup, DrawnEffect, Span
from anypag.errors import Option, ParameterError
from anypag.files import write_whole
from anypag.graphs.text import quote
from anypag.markup import plain

SEEN = "The association in the rows. According to the graph it is not an effect:"
HEADINGS = {
    "zero": "no effect",
    "adjustment": "identified, by adjustment",
    "formula": "identified, by a formula",
    "identified": "identified",
    "unidentified": "not identified",
}


@dataclass(frozen=True)
class Effect:
    """The answer about P(outcome | do(cause), given); `str()` gives it in plain words.

    Args:
        cause: the variables that are set.
        outcome: the variables whose change is asked for.
        given: the variables conditioned on.
        status: by one graph "zero" (no effect), "adjustment" (identified by a set), "formula" (identified by a formula)
            or "unidentified". By sampled graphs "zero" (at least 95 % exclude an effect, and so do 95 % of those with a
            lower penalty per edge), "unidentified" (half or more leave it open, or none identifies it) or "identified".
        reason: the reason for the status, in words.
        adjustment_set: the canonical set, which holds all possible ancestors of cause, outcome and conditions that may
            be adjusted for; None if there is no adjustment set. `smallest_set` and `minimal_sets` give smaller sets
            that are equally valid, such as the empty set if nothing has to be adjusted for.
        formula: the effect in terms of what can be observed, as text; None if there is no formula.
        latex: the formula in LaTeX.
        numbers: the estimate with its model, rows and notes, if data were given; see `estimate` and `interval`.
        association: if data were given and the status is "zero", the association of causes and outcomes in the rows,
            with an interval. The zero itself has no interval, because it follows from the graph.
        possible: if data were given, the range of an unidentified effect over all graphs with the same independences.
        notes: sentences about limits of the answer.
        sampled: shares of sampled graphs (`method="auto"`), and draws of the effect if data were given.
        graph_answer: with `sampled`, the answer by the result's single graph; None if there is none (`notes` says why).
        along: the effect in the groups of a column (`by`), if data were given.
        robustness: how strong a hidden cause must be to make the estimate 0, if data were given. With sampled graphs
            this is about the most frequent class that allows an effect and has an adjustment set.
        assumed: the statements of `assume`, which this answer assumes in addition to the knowledge of the search.
        unassumed: the answer without the statements in `assumed`.
        warnings: sentences to read before the numbers: the table does not fit what the probabilities assume, or the
            audit found a curve on the way from cause to outcome.
    """

    cause: tuple[str, ...]
    outcome: tuple[str, ...]
    given: tuple[str, ...]
    status: Status
    reason: str
    adjustment_set: tuple[str, ...] | None
    formula: str | None
    latex: str | None
    numbers: Estimate | None = None
    association: Estimate | None = None
    possible: PossibleEffects | None = None
    notes: tuple[str, ...] = ()
    sampled: SampledEffect | None = None
    graph_answer: Effect | None = None
    along: Estimate | None = None
    robustness: Robustness | None = None
    assumed: tuple[str, ...] = ()
    unassumed: Effect | None = None
    warnings: tuple[str, ...] = ()
    basis: EffectBasis = field(repr=False, compare=False, kw_only=True)  # the graph and verdict behind the answer

    @property
    def is_identified(self) -> bool:
        """Can the effect be computed from what is observed?"""
        return self.status != "unidentified"

    @property
    def estimate(self) -> float | Entries | tuple[DrawnEffect, ...] | None:
        """The change of the outcome's mean if the cause is set one unit higher, or from its first level to its second.
        It is a tuple of entries for several causes, outcomes or levels, and for one graph with the model "tables".

        With sampled graphs it is the median of `draws` (the first printed line has `if_causal`). None without data.
        Also None if one graph answers "zero" (see `association`) or "unidentified" (see `possible`).
        """
        if self.sampled is not None:
            return self.sampled.estimate
        if self.numbers is None:
            return None
        return self.numbers.entries[0].value if self.numbers.is_single else self.numbers.entries

    @property
    def interval(self) -> tuple[float, float] | tuple[tuple[float, float] | None, ...] | None:
        """The ends of the interval of the estimate; a tuple of such pairs if the estimate is a tuple.

        With sampled graphs they are the 2.5 and 97.5 % points of `draws`, zeros included (the first printed line has
        those of `if_causal`). None without data. Also None if one graph answers "zero" or "unidentified", because
        nothing was estimated.
        """
        if self.sampled is not None:
            return self.sampled.interval
        if self.numbers is None:
            return None
        ends = tuple((entry.low, entry.high) for entry in self.numbers.entries)
        return ends[0] if self.numbers.is_single else ends

    @property
    def p_zero(self) -> float | None:
        """The share of sampled graphs whose class says that there is no effect; None without sampled graphs."""
        return None if self.sampled is None else self.sampled.p_zero

    @property
    def p_identified(self) -> float | None:
        """The share of sampled graphs whose class identifies an effect."""
        return None if self.sampled is None else self.sampled.p_identified

    @property
    def p_open(self) -> float | None:
        """The share of sampled graphs whose class leaves the effect open."""
        return None if self.sampled is None else self.sampled.p_open

    @property
    def by_class(self) -> tuple[ClassGroup, ...]:
        """At most three groups, the largest first. Each group has all classes with one verdict and adjustment set."""
        return () if self.sampled is None else self.sampled.by_class

    @property
    def draws(self) -> Floats | None:
        """(m,) draws of the effect, one per sampled graph; None without graphs or data, or if `estimate` is a tuple."""
        return None if self._line is None else self._line.draws

    @property
    def p_positive(self) -> float | None:
        """The share of draws above 0."""
        return None if self._line is None else self._line.p_positive

    @property
    def given_effect(self) -> tuple[float, float] | None:
        """The interval of the draws that are not 0."""
        return None if self._line is None else self._line.given_effect

    @property
    def if_causal(self) -> Span | None:
        """Estimate, low and high over the graphs whose class allows an effect. For a class that leaves the effect open,
        the numbers assume that no arrow hides a common cause of its two nodes.
        """
        return None if self._line is None else self._line.if_causal

    @property
    def _line(self) -> DrawnEffect | None:
        return self.sampled.lines[0] if self.sampled is not None and len(self.sampled.lines) == 1 else None

    def minimal_sets(self) -> Iterator[tuple[str, ...]]:
        """An iterator over all minimal adjustment sets; there can be very many."""
        basis = self.basis
        return (basis.causal.names(z) for z in minimal_sets(basis.causal, basis.verdict.way, basis.within))

    def smallest_set(self) -> tuple[str, ...] | None:
        """An adjustment set with the fewest members; None if there is no adjustment set."""
        z = smallest(self.basis.causal, self.basis.verdict.way, self.basis.within)
        return None if z is None else self.basis.causal.names(z)

    def plot(self, path: str | os.PathLike[str] | None = None) -> str:
        """SVG of an effect by sampled graphs: the draws as a density with the mass at zero, and the shares as a bar.

        Args:
            path: a file to write the SVG to as well.
        """
        if self.sampled is None:
            raise ParameterError("A plot needs sampled graphs: search with ", Option("method", "auto"), ".")
        from anypag.plot.effect_draws import effect_svg

        picture = effect_svg(self.sampled)
        if path is not None:
            write_whole(Path(path), picture.encode())
        return picture

    def estimated(
        self,
        data: Any,
        *,
        model: Model | None = None,
        adjust_for: AFewNodes | None = None,
        resamples: int = 200,
        level: float = 0.95,
        seed: int = 0,
        learner: Learner | None = None,
        by: str | None = None,
        cluster: Any = None,
        confounding: float | None = None,
    ) -> Effect:
        """The effect with numbers estimated from data.

        Args:
            data: any table with the columns that the effect needs (see `anypag.learn`). A file is read with the options
                of the search (`anypag.data.read_table`). Rows with gaps in these columns are left out, and the answer
                says how many. Columns have the kinds that they had in the search.
            model: "linear", "tables" or "mixed"; the default is linear if all columns of the effect are continuous,
                tables if all are discrete, mixed (regression with indicators of levels) if the outcome is continuous
                and other columns are discrete.
            adjust_for: your own adjustment set. The result's single graph then gives the answer, even if graphs were
                sampled. The default is the canonical set, or for tables a smallest set, which leaves fewer cells empty.
            resamples: bootstrap resamples for the interval; 0 for no interval.
            level: the confidence level, which is the share of intervals that cover the true effect.
            seed: of the resampling, and of the folds of a learner.
            learner: what replaces straight lines. Either "splines"; a regressor with `fit` and `predict` (such as those
                of scikit-learn); a function that makes one; the import name of such a regressor or function; or a pair
                of these, for outcome and cause. The estimate is cross-fitted in five folds. It is partially linear, or
                doubly robust (AIPW) if the cause has two levels; AIPW gives an interval only from 2,000 rows on, and
                only if the two groups overlap. A learner needs one cause, one outcome, no conditions, and a set.
            by: also report the effect in groups of rows: one for each level of this column, or four groups of about
                equal size if it is continuous. Splines are used if no learner is named.
            cluster: a column, or a value for each row, that says which rows belong together. Standard errors,
                resamples, folds and draws are then by cluster; the search itself took rows as independent.
            confounding: with sampled graphs, also report how the estimate moves if arrows hide common causes. This
                number (0.7, say) limits the correlation of the noises of an arrow's nodes. Not for tables or a learner.

        Returns:
            The answer with `draws` if graphs were sampled. By one graph, the answer has `estimate` and `interval` if
            the effect is identified, and `possible` (a range) if it is not. If the graph says that there is no effect,
            the answer has `association`; a set named in `adjust_for` gives an estimate all the same.
        """
        if self.sampled is not None and adjust_for is not None:
            if self.graph_answer is None:
                why = "An adjustment set of your own is for the answer of the single graph, and this result has none."
                raise ParameterError(" ".join([why, *self.notes]))
            ask = partial(self.graph_answer.estimated, data, model=model, adjust_for=adjust_for, learner=learner)
            return ask(resamples=resamples, level=level, seed=seed, by=by, cluster=cluster, confounding=confounding)
        used = self.basis.rows(data, cluster, by)
        sampling = Sampling(resamples, level, seed, clusters_in(used.cluster, used.table))
        how = Adjusting(sampling, "splines" if learner is None and by is not None else learner, by, model, confounding)
        if how.learner is not None and not is_one_pair(self.basis.verdict.way):
            raise ParameterError(*ONE_PAIR)
        if how.learner is not None and model is not None:
            raise ParameterError("Give ", Option("model"), " or ", Option("learner"), ", not both.")
        if self.sampled is not None:
            return of_sampled_graphs(self, self.sampled, used, how)
        if confounding is not None:
            raise ParameterError(
                f"The option {Option('confounding')} needs draws over sampled graphs: search with "
                f"{Option('method', 'auto')}. For the estimate of one graph, look at its robustness value instead."
            )
        return of_one_graph(self, used, how, adjust_for)

    def __str__(self) -> str:
        answer = [] if self.sampled is not None else [self.reason, *([self.formula] if self.formula else [])]
        return "\n".join([*self.warnings, self._headline, *(f"  {line}" for line in (*answer, *self._below()))])

    @property
    def _headline(self) -> str:
        if self.sampled is not None:
            return headline(self.sampled, self.heading)
        return f"{self.heading}: {HEADINGS[self.status]}"

    def _below(self) -> list[str]:
        """The lines below the answer: numbers, ranges, notes."""
        beside = [*(self.along.lines() if self.along else []), *([str(self.robustness)] if self.robustness else [])]
        if self.sampled is not None:
            lines = [f"Assumed: {'; '.join(self.assumed)}."] if self.assumed else []
            lines += [f"Without that: {self.unassumed._headline}"] if self.unassumed else []
            lines += [*told(self.sampled), *beside]
            return [*lines, *([self.graph_answer._as_single_graph] if self.graph_answer else []), *self.notes]
        lines = [*self.numbers.lines(), *beside] if self.numbers else []
        lines += str(self.possible).splitlines() if self.possible else []
        lines += [SEEN, *(f"  {line}" for line in self.association.lines())] if self.association else []
        return [*lines, *self.notes]

    @property
    def _as_single_graph(self) -> str:
        """The line for the answer of the single graph of a result."""
        lacks = ", without marks from knowledge," if any(WITHOUT_KNOWLEDGE in note for note in self.notes) else ""
        why = f" {self.reason}" if self.status == "unidentified" else ""
        return f"The learned PAG{lacks} says: {HEADINGS[self.status]}.{why}"

    @property
    def heading(self) -> str:
        """The question in a line: causes, outcomes and conditions."""
        cause, outcome, given = (", ".join(map(quote, part)) for part in (self.cause, self.outcome, self.given))
        return f"The effect of {cause} on {outcome}{' given ' + given if given else ''}"

    def _repr_markdown_(self) -> str:
        lines = [*(f"{line}\n" for line in self.warnings), f"**{self._headline}**", ""]
        if self.sampled is None:
            lines += [self.reason, "", *([f"$$ {self.latex} $$", ""] if self.latex else [])]
        return "\n".join([*lines, *(f"- {line.strip()}" for line in self._below())])

    def to_dict(self) -> dict[str, Any]:
        """The answer for machines: only strings, numbers, lists, objects and None."""
        keys = {"numbers": "estimate", "sampled": "posterior"}  # keys that differ from the names of the fields
        shown = (item.name for item in fields(self) if item.compare)
        return {keys.get(name, name): plain(getattr(self, name)) for name in shown}
