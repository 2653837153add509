"""Results to make reports of."""

from __future__ import annotations

from dataclasses import replace

import anypag as ap
from anypag.results.files import load_result, save_result
from anypag.results.result import Result
from result_examples import resting_on


def contradicting() -> Result:
    """A result whose claims cannot all be true, and whose first iteration said something else."""
    sample = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; B --> C"), 300, seed=0)
    read = load_result(save_result(ap.learn(sample, method="icd")))
    pag = ap.PAG.from_string("A --> B; B --> C; A <-> C")
    earlier = replace(read.history[0], pag=ap.PAG.from_string("A <-> B; B --> C; A <-> C"))
    last = replace(read.history[-1], pag=pag)
    bare = resting_on(read, pag=pag, separations={}, kept={}, marks=(), conflicts=())
    return replace(bare, history=(earlier, last))
