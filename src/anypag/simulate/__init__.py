"""Causal systems with a known graph, and samples from them.

>>> system = random_system(15, 2.0, seed=1)
>>> sample = system.linear_gaussian(500, seed=1)
>>> sample.rows.shape == (500, len(system.observed))
True

Everything random comes from a `seed`: a whole number, or a `numpy.random.Generator` to draw from.
A graph and its data may have the same number as seed; they are independent even then.
"""

from anypag.simulate.discrete import discrete, random_tables
from anypag.simulate.gaussian import implied_covariance, linear_gaussian, random_weights
from anypag.simulate.sample import Sample, Seed
from anypag.simulate.systems import System, latents, random_dag, random_system, selection_children

__all__ = [
    "Sample",
    "Seed",
    "System",
    "discrete",
    "implied_covariance",
    "latents",
    "linear_gaussian",
    "random_dag",
    "random_system",
    "random_tables",
    "random_weights",
    "selection_children",
]
