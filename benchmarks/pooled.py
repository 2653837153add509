"""Is a posterior over resamples more honest? Errors made and errors expected of `method="bayes"`, with and without.

    python benchmarks/pooled.py DATA [--sets 3] [--resamples 20] [--effort 0.3] [--only "*_n15_*"]

DATA is a folder as `grid.py` wants it. Four samples of graphs for every data set: that of the method as it is (half of
it warm); one at temperature 1 alone; and each of the two pooled over bootstrap resamples of the rows, a short search
each. Every one of them gives an answer (the PAG of least expected error), the errors it makes and those it expects; the
last line has the answer of the method as it is and what the resamples expect of it. `apart` is the mean distance
between made and expected, over data sets. Seconds are the CPU time of the sample that rates.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

import anypag as ap
from anypag.search.by_scores import effort as efforts
from anypag.search.by_scores.posterior import GraphSample, Posterior, expected_errors
from anypag.stability.stability import Plan
from effort import first_of_each_cell
from grid import errors, marks_of, warm_up

Rows = npt.NDArray[np.float64]


class Answer(NamedTuple):
    """What one way of sampling gave for one data set."""

    made: int
    expected: float
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--resamples", type=int, default=20)
    parser.add_argument("--effort", type=float, default=0.3, help="of the search on each resample")
    parser.add_argument("--only", default="*_n15_*")
    options = parser.parse_args()
    warm_up("bayes")
    found: dict[str, list[Answer]] = {}
    for name in first_of_each_cell(options.data, options.only, options.sets):
        for way, answer in answers(options.data / name, options.resamples, options.effort):
            found.setdefault(way, []).append(answer)
    tell(found)


def answers(path: Path, resamples: int, effort: float) -> Iterator[tuple[str, Answer]]:
    """What each way of sampling gives on one data set."""
    info = json.loads(path.with_suffix(".json").read_text())
    rows = np.loadtxt(path.with_suffix(".csv"), delimiter=",", skiprows=1)
    truth = marks_of(info["truth"], rows.shape[1])
    plan = Plan(resamples)
    again = [np.repeat(rows, plan.counts(k, len(rows)), axis=0) for k in range(resamples)]
    warm, warm_again = both(rows, again, effort)
    with patch.object(efforts, "warmth", lambda n: 1.0):
        cold, cold_again = both(rows, again, effort)
    yield "half warm (as it is)", answer(warm, warm, truth)
    yield "temperature 1", answer(cold, cold, truth)
    yield "half warm, over resamples", answer(warm_again, warm_again, truth)
    yield "temperature 1, over resamples", answer(cold_again, cold_again, truth)
    yield "half warm; what it expects, at 1 over resamples", answer(warm, cold_again, truth)


class Timed(NamedTuple):
    """A posterior and how long it took."""

    posterior: Posterior
    seconds: float


def both(rows: Rows, again: Sequence[Rows], effort: float) -> tuple[Timed, Timed]:
    """The posterior of the whole data, and the one pooled over resamples."""
    return timed(lambda: posterior_of(rows, 1.0)), timed(lambda: pooled([posterior_of(t, effort) for t in again]))


def timed(sampled: Callable[[], Posterior]) -> Timed:
    began = time.process_time()
    return Timed(sampled(), time.process_time() - began)


def posterior_of(rows: Rows, effort: float) -> Posterior:
    with warnings.catch_warnings():  # that rows come several times, as they must
        warnings.simplefilter("ignore", ap.AnypagWarning)
        posterior = ap.learn(rows, method="bayes", effort=effort).posterior
    assert posterior is not None
    return posterior


def pooled(posteriors: Sequence[Posterior]) -> Posterior:
    """All samples as one; a class that several have is one class."""
    first, n = posteriors[0], len(posteriors[0].names)
    pags = np.concatenate([posterior.sample.pags for posterior in posteriors])
    counts = np.concatenate([posterior.sample.counts for posterior in posteriors])
    classes, which = np.unique(pags.reshape(len(pags), -1), axis=0, return_inverse=True)
    together = np.bincount(which.ravel(), weights=counts).astype(np.int64)
    return Posterior(first.names, GraphSample(classes.reshape(-1, n, n), together), first.best, first.best_score)


def answer(answering: Timed, rating: Timed, truth: npt.NDArray[np.uint8]) -> Answer:
    """The graph of one posterior, and how many errors another expects in it."""
    marks = answering.posterior.marks
    expected = float(expected_errors(marks[None], rating.posterior.shares)[0])
    return Answer(sum(errors(marks, truth)), expected, rating.seconds)


def tell(found: dict[str, list[Answer]]) -> None:
    print("| sample | sets | made | expected | apart | seconds |")
    print("|---|---|---|---|---|---|")
    for way, all_of_it in found.items():
        made, expected, seconds = np.array(all_of_it).T
        apart = np.abs(made - expected).mean()
        told = f"{made.mean():.1f} | {expected.mean():.1f} | {apart:.1f} | {np.median(seconds):.1f}"
        print(f"| {way} | {len(made)} | {told} |")


if __name__ == "__main__":
    main()
