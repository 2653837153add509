"""The graphs that agree with what is known: of a MAG, what its class and the knowledge together say."""

from __future__ import annotations

import numpy as np

from anypag.errors import NotMaximalOrAncestralError
from anypag.graphs.mag import MAG
from anypag.graphs.orientation import as_circles
from anypag.graphs.pag import PAG
from anypag.graphs.reasoning.validity import completed
from anypag.graphs.skeleton import Skeleton
from anypag.knowledge.closure import SeparationsOf, orient_with_knowledge
from anypag.knowledge.facts import Facts


def graph_of(mag: MAG, facts: Facts) -> PAG:
    """The PAG of its class with the marks that follow from what is known, as far as rules find them."""
    skeleton = Skeleton.of(mag.marks)
    found = orient_with_knowledge(as_circles(mag.marks), SeparationsOf(mag.marks), facts, skeleton, final=True)
    return PAG(found.marks, mag.names)


def member_of(pag: PAG, facts: Facts) -> MAG | None:
    """A MAG behind a graph that agrees with what is known; None where none is at hand."""
    marks, cycle = completed(pag.marks)
    try:
        mag = None if cycle else MAG(np.asarray(marks), pag.names)
    except NotMaximalOrAncestralError:
        return None
    return mag if mag is not None and facts.agree_with(mag.marks) else None
