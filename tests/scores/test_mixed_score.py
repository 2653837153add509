"""The degenerate-Gaussian score: the Gaussian one where all is continuous, determinants where it is not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import anypag as ap
from anypag import DAG, MAG, AnypagError
from anypag.scores.base import GAMMA
from anypag.scores.mixed import MixedScore
from score_examples import gaussian_score, mixed_score, score_of


def table(rows: int = 300) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    rng = np.random.default_rng(4)
    a = rng.integers(0, 3, rows).astype(float)
    b = a + rng.normal(size=rows)
    c = (b + rng.normal(size=rows) > 1).astype(float)
    return {"A": a, "B": b, "C": c, "D": c - 0.5 * a + rng.normal(size=rows)}


@pytest.mark.parametrize("text", ["A --> B; B <-> C; D --> C", "A --- B; B --- C; D", "A --> B; B --> C; C --> D"])
def test_continuous_columns_score_as_gaussian_ones(text: str) -> None:
    data = np.random.default_rng(0).normal(size=(90, 4)) @ np.random.default_rng(1).normal(size=(4, 4))
    graph = MAG.from_string(text, list("ABCD"))
    columns = dict(zip("ABCD", data.T, strict=True))
    mixed, plain = mixed_score(columns, gamma=0.5), gaussian_score(columns, gamma=0.5)
    assert score_of(mixed, graph) == pytest.approx(score_of(plain, graph), abs=1e-7)


def test_a_node_is_scored_by_determinants() -> None:
    data = table()
    score = mixed_score(data)
    s, n = score.correlation, score.n
    a, b, c = slice(0, 2), slice(2, 3), slice(3, 4)
    assert score.start.tolist() == [0, 2, 3, 4, 5]
    graph = DAG.from_string("A --> B; B --> C; A --> C; D", list("ABCD"))

    def log_det(*parts: slice) -> float:
        columns = np.concatenate([np.arange(len(s))[part] for part in parts])
        return float(np.linalg.slogdet(s[np.ix_(columns, columns)])[1])

    deviance = log_det(a) + log_det(a, b) - log_det(a) + log_det(a, b, c) - log_det(a, b)
    assert score_of(score, graph) == pytest.approx(-n / 2 * deviance - (2 + 1 + 2) * np.log(n) / 2, abs=1e-7)


def test_members_of_a_class_score_the_same() -> None:
    score = mixed_score(table())
    tight = MixedScore(score.names, score.n, score.correlation, stop=1e-10, start=score.start)
    members = ("A --> B; B <-> C; C <-- D", "A <-> B; B <-> C; C <-> D", "A --> B; B <-> C; C <-> D")
    found = [score_of(tight, MAG.from_string(text, list("ABCD"))) for text in members]
    assert np.ptp(found) < 1e-3
    assert score_of(tight, MAG.from_string("A --- B; B --- C; D", list("ABCD"))) == pytest.approx(
        score_of(tight, MAG.from_string("A --> B; B --> C; D", list("ABCD"))), abs=1e-3
    )


def test_bad_data_are_refused_in_a_sentence() -> None:
    rng = np.random.default_rng(0)
    many = {f"X{i}": rng.permutation(np.arange(40) % 8) for i in range(8)}
    with pytest.raises(AnypagError, match="56 columns"):
        ap.DegenerateGaussian(many, kinds=dict.fromkeys(many, "discrete")).score()


def test_the_score_of_a_test_pays_for_the_number_of_edges_there_could_be() -> None:
    score = ap.DegenerateGaussian(table()).score()
    assert isinstance(score, MixedScore)
    assert score.gamma == GAMMA


def test_a_test_without_a_score_is_refused_in_a_sentence() -> None:
    values = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(AnypagError, match="KCI gives none"):
        ap.learn(values, method="boss", test="kci")
    with pytest.raises(AnypagError, match="Oracle gives none"):
        ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C")), method="boss")


def test_a_users_test_may_give_a_score() -> None:
    inner = ap.FisherZ(np.random.default_rng(0).normal(size=(60, 3)), ["A", "B", "C"])

    class Mine:
        names = inner.names

        def pvalues(self, queries: ap.Queries) -> npt.NDArray[np.float64]:
            return inner.pvalues(queries)

        def score(self) -> object:
            return inner.score()

    assert ap.learn(Mine(), method="boss").pag == ap.learn(inner, method="boss").pag
