"""Results to make reports of."""

from __future__ import annotations

from dataclasses import replace

import anypag as ap
from anypag.results.document import save_result
from anypag.results.saved import SavedResult, load_result


def contradicting() -> SavedResult:
    """A result whose claims cannot all be true, and whose first iteration said something else."""
    sample = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; B --> C"), 300, seed=0)
    read = load_result(save_result(ap.learn(sample)))
    pag = ap.PAG.from_string("A --> B; B --> C; A <-> C")
    earlier = replace(read.history[0], pag=ap.PAG.from_string("A <-> B; B --> C; A <-> C"))
    last = replace(read.history[-1], pag=pag)
    return replace(read, pag=pag, history=(earlier, last), separations={}, kept={}, marks=(), conflicts=())
