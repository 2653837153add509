"""The algorithms and the tests that go by a name: where each is found. Reading this file loads none of them."""

from __future__ import annotations

BY_TESTS = {
    "icd": "anypag.search.icd",
    "icd-paper": "anypag.search.icd_paper",
    "fci": "anypag.search.fci",
    "anytime-fci": "anypag.search.anytime_fci",
    "rfci": "anypag.search.rfci",
}
"""Methods that ask conditional-independence tests and nothing else: a perfect test makes them perfect."""

BY_SCORES = {
    "bayes": "anypag.search.bayes",
    "boss": "anypag.search.boss",
}
"""Methods that need a score of the data."""

METHODS = {**BY_TESTS, **BY_SCORES}
"""By the name of a method, the module that declares it as its `ALGORITHM`."""

TESTS = {
    "fisherz": ("anypag.ci.gaussian", "FisherZ"),
    "gsq": ("anypag.ci.discrete", "GSquared"),
    "chisq": ("anypag.ci.discrete", "ChiSquared"),
    "mixed": ("anypag.ci.mixed", "DegenerateGaussian"),
}
"""By the name of a test, its module and its class (a `DataTest`)."""
