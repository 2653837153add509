"""One effect over several graphs."""

from __future__ import annotations

import numpy as np
import pytest

import anypag as ap
from anypag.effects.over import effect_over

TEXTS = (
    "A o-> X; B o-> X; X --> Y; A --> Y",
    "A o-> X; B o-> X; X --> Y",
    "A o-> X; B o-> X; X <-> Y; C o-> Y",
    "A o-o X; X o-o Y; B",
    "A --> B; B o-o X; X o-o Y",
)


def test_counts_and_range() -> None:
    graphs = [ap.PAG.from_string(text, ["A", "B", "C", "X", "Y"]) for text in TEXTS]
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 5000))
    x = a + b + rng.normal(size=5000)
    data = {"A": a, "B": b, "C": c, "X": x, "Y": x + a + rng.normal(size=5000)}
    found = effect_over(graphs, "X", "Y", selection_bias=False, data=data)
    assert found.statuses == {"adjustment": 2, "zero": 1, "unidentified": 1, "refused": 1}
    assert (found.n, found.n_identified) == (5, 3)
    np.testing.assert_allclose(found.estimates, (1, 1, 0), atol=0.05)
    assert str(found).startswith("Identified in 3 of 5 graphs (1 say zero); median 1.")


def test_what_is_wrong_with_all_of_them_is_raised() -> None:
    with pytest.raises(ap.AnypagError, match="selection_bias=False"):
        effect_over([ap.PAG.from_string(TEXTS[0])], "X", "Y")
    with pytest.raises(ap.AnypagError, match="one number each"):
        rows = {name: np.tile([0, 1, 1], 50) for name in "ABX"} | {"Y": np.tile([1, 0, 1], 50)}
        effect_over([ap.PAG.from_string(TEXTS[0])], "X", "Y", selection_bias=False, data=rows)
