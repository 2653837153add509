"""The algorithms and the tests that go by a name: where each is found. Reading this file loads none of them."""

from __future__ import annotations

METHODS = {
    "icd": "anypag.search.by_tests.icd",
    "icd-paper": "anypag.search.by_tests.icd_paper",
    "fci": "anypag.search.by_tests.fci",
    "anytime-fci": "anypag.search.by_tests.anytime_fci",
    "rfci": "anypag.search.by_tests.rfci",
    "fci+": "anypag.search.by_tests.fci_plus",
    "bayes": "anypag.search.by_scores.bayes",
    "boss": "anypag.search.by_scores.boss",
    "gfci": "anypag.search.by_scores.gfci",
}
"""By the name of a method, the module that declares it as its `ALGORITHM`."""

SCORE_METHODS = frozenset({"bayes", "boss", "gfci"})
"""Methods that need a score of the data."""

FROM_SCORES = frozenset({"bayes", "boss"})
"""Methods whose edges and marks come from scores; those of the others come from tests and rules."""

TEST_METHODS = tuple(name for name in METHODS if name not in SCORE_METHODS)
"""Methods that ask conditional-independence tests and nothing else: a perfect test makes them perfect."""

TESTS = {
    "fisherz": ("anypag.ci.gaussian", "FisherZ"),
    "permutation": ("anypag.ci.discrete", "PermutationChiSquared"),
    "gsq": ("anypag.ci.discrete", "GSquared"),
    "chisq": ("anypag.ci.discrete", "ChiSquared"),
    "mixed": ("anypag.ci.mixed", "DegenerateGaussian"),
    "additive": ("anypag.ci.additive", "Additive"),
    "imputed": ("anypag.ci.imputed", "ImputedFisherZ"),
    "rcot": ("anypag.ci.kernel", "RCoT"),
    "kci": ("anypag.ci.kernel", "KCI"),
    "gcm": ("anypag.ci.gcm", "GCM"),
    "weighted-gcm": ("anypag.ci.gcm", "WeightedGCM"),
}
"""By the name of a test, its module and its class (a `DataTest`)."""
