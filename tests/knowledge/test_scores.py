"""Methods that go by scores take knowledge at the end: what they chose stands, and knowledge is added to it."""

from __future__ import annotations

import numpy as np
import pytest

from anypag import Knowledge, learn


@pytest.mark.parametrize("method", ["boss", "gfci"])
def test_knowledge_with_scores(method: str) -> None:
    rng = np.random.default_rng(0)
    storm, arson = rng.normal(size=(2, 2000))
    fire = storm + arson + rng.normal(size=2000)
    table = {"storm": storm, "arson": arson, "fire": fire, "smoke": fire + rng.normal(size=2000)}
    known = Knowledge.from_text("storm ~> smoke")
    result = learn(table, method=method, selection_bias=False, knowledge=known)
    assert str(result.pag) == "storm --> fire\narson o-> fire\nfire --> smoke"
    assert str(result.knowledge[0]) == "storm ~> smoke (line 1): used: a tail at storm towards fire"
    against = learn(table, method=method, selection_bias=False, knowledge=Knowledge.from_text("fire ~> storm"))
    assert against.knowledge[0].became == "contradicted"
