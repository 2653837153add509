"""Every rule has a sentence; each is read here once, on the smallest graph in which the rule speaks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.graphs.marks import Mark, MarkReason, Separation
from anypag.graphs.rules import why

SETS = {
    ("A", "C"): Separation(("B", "Z"), 0.4, 2),
    ("D", "C"): Separation(("A", "B"), 0.4, 2),
    ("E", "C"): Separation(("A",), 0.4, 1),
    ("A", "F"): Separation((), 0.4, 0),
}


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (MarkReason("B", "A", Mark.ARROW, 0, ("A", "F")),
         "R0: A and F are independent, yet both have an edge to B; so B is a cause of neither."),
        (MarkReason("M", "A", Mark.ARROW, 0, ("A", "C")),
         "R0: A and C are independent given B and Z, a set without M, yet both have an edge to M; "
         "so M is a cause of neither."),
        (MarkReason("B", "C", Mark.TAIL, 1, ("A",)),
         "R1: A and C are independent given B and Z, and B, which is needed for that, is not a cause of A; "
         "so B must be a cause of C."),
        (MarkReason("C", "B", Mark.ARROW, 1, ("A",)),
         "R1: A and C are independent given B and Z, and B, which is needed for that, is not a cause of A; "
         "so B must be a cause of C, and C not of B."),
        (MarkReason("B", "X", Mark.TAIL, 1, ("A",)),
         "R1: A and X have no edge, and B, a non-collider between them, is not a cause of A; "
         "so B must be a cause of X."),
        (MarkReason("C", "A", Mark.ARROW, 2, ("B",)),
         "R2: the edge between A and B has an arrowhead at B, that between B and C has one at C, and one of "
         "the two edges has a tail at its other end; if C were a cause of A, an arrowhead would be wrong."),
        (MarkReason("B", "D", Mark.ARROW, 3, ("A", "C")),
         "R3: D, a non-collider between A and C, is a cause of A, of C or of being in the sample; "
         "B is a cause of none of these, so it is no cause of D."),
        (MarkReason("B", "C", Mark.TAIL, 4, ("D", "C")),
         "R4: a discriminating path runs from D to C through B, and D and C are independent given A and B: "
         "B is needed, so it is a cause of C."),
        (MarkReason("C", "B", Mark.ARROW, 4, ("D", "C")),
         "R4: a discriminating path runs from D to C through B, and D and C are independent given A and B: "
         "B is needed, so it is a cause of C, and C not of B."),
        (MarkReason("B", "A", Mark.ARROW, 4, ("E", "C")),
         "R4: a discriminating path runs from E to C through B, and E and C are independent given A: "
         "B is not needed, so it is not a cause of A."),
        (MarkReason("C", "B", Mark.ARROW, 4, ("E", "C")),
         "R4: a discriminating path runs from E to C through B, and E and C are independent given A: "
         "B is not needed, so neither of B and C is a cause of the other."),
        (MarkReason("A", "B", Mark.TAIL, 5, ("C",)),
         "R5: A and B lie on a ring through C in which only neighbours are joined, without any collider; "
         "only selection of the sample makes such a ring."),
        (MarkReason("B", "C", Mark.TAIL, 6, ("A",)),
         "R6: the edge A --- B says that B affects being in the sample, so every mark at B is a tail."),
        (MarkReason("B", "C", Mark.TAIL, 7, ("A",)),
         "R7: A is a cause of B or of being in the sample, and B is a cause of A, of C or of being in the sample; "
         "an arrowhead at B would contradict this."),
        (MarkReason("A", "C", Mark.TAIL, 8, ("B",)),
         "R8: A has a tail towards B, and B is a cause of C; a cause of a cause is a cause."),
        (MarkReason("A", "C", Mark.TAIL, 9, ("B",)),
         "R9: a path from A through B may lead to C, and B and C have no edge. If the edge between A and C had an "
         "arrowhead at A, all edges of the path would be arrows. So A would be a cause of C; but the arrowhead would "
         "say that it is not."),
        (MarkReason("A", "C", Mark.TAIL, 10, ("M", "W")),
         "R10: M and W have no edge, and paths from A through them may lead to two causes of C. "
         "At least one of the paths must be directed, so the edge between A and C has a tail at A."),
    ],
)  # fmt: skip
def test_sentences(reason: MarkReason, sentence: str) -> None:
    assert why(reason, SETS) == sentence


@settings(deadline=None, max_examples=60)
@given(st.integers(5, 11), st.floats(2, 4), st.integers(0, 2), st.integers(0, 10**6))
def test_every_mark_of_a_search_has_a_sentence_that_names_its_variables(
    n: int, density: float, n_selection: int, seed: int
) -> None:
    system = ap.simulate.random_system(n, min(density, n - 2), n_selection=n_selection, seed=seed)
    result = ap.learn(system.oracle())
    sepsets = result.sepsets
    for reason in result.marks:
        sentence = why(reason, sepsets)
        assert sentence.startswith(f"R{reason.rule}: ")
        assert sentence.endswith(".")
        assert all(name in sentence for name in reason.because)
