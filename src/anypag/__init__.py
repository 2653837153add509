"""anypag: anytime causal discovery with latent confounders and selection bias.

The public names below are loaded when they are first used, so that `import anypag` and `anypag --help` are quick.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from anypag import metrics as metrics
    from anypag import simulate as simulate
    from anypag.ci.additive import Additive as Additive
    from anypag.ci.base import CITest as CITest
    from anypag.ci.base import Oracle as Oracle
    from anypag.ci.base import Queries as Queries
    from anypag.ci.base import from_callable as from_callable
    from anypag.ci.discrete import ChiSquared as ChiSquared
    from anypag.ci.discrete import GSquared as GSquared
    from anypag.ci.discrete import PermutationChiSquared as PermutationChiSquared
    from anypag.ci.gaussian import FisherZ as FisherZ
    from anypag.ci.mixed import DegenerateGaussian as DegenerateGaussian
    from anypag.ci.resolve import from_causal_learn as from_causal_learn
    from anypag.ci.slow import GCM as GCM
    from anypag.ci.slow import KCI as KCI
    from anypag.ci.wrappers import n_oracle as n_oracle
    from anypag.data.audit import audit as audit
    from anypag.data.files.read_table import read_table as read_table
    from anypag.data.sources.counted import counted as counted
    from anypag.data.sources.counted import weighted as weighted
    from anypag.data.sources.pooled import pooled as pooled
    from anypag.effects.answer import Effect as Effect
    from anypag.effects.effect import effect as effect
    from anypag.effects.effect import is_adjustment_set as is_adjustment_set
    from anypag.errors import AnypagError as AnypagError
    from anypag.errors import AnypagWarning as AnypagWarning
    from anypag.graphs.formats.registry import as_graph as as_graph
    from anypag.graphs.formats.registry import dumps as dumps
    from anypag.graphs.formats.registry import from_networkx as from_networkx
    from anypag.graphs.formats.registry import loads as loads
    from anypag.graphs.formats.registry import read_graph as read_graph
    from anypag.graphs.formats.registry import to_networkx as to_networkx
    from anypag.graphs.formats.registry import write_graph as write_graph
    from anypag.graphs.marks import Edge as Edge
    from anypag.graphs.marks import Mark as Mark
    from anypag.graphs.node_sets import is_visible as is_visible
    from anypag.graphs.pag import DAG as DAG
    from anypag.graphs.pag import MAG as MAG
    from anypag.graphs.pag import PAG as PAG
    from anypag.graphs.projection import latent_projection as latent_projection
    from anypag.graphs.projection import true_pag as true_pag
    from anypag.graphs.separation import is_separated as is_separated
    from anypag.knowledge.knowledge import Knowledge as Knowledge
    from anypag.metrics import compare as compare
    from anypag.results.files import read_result as read_result
    from anypag.results.result import Result as Result
    from anypag.run.bootstrap import bootstrap as bootstrap
    from anypag.run.engine import iterate as iterate
    from anypag.run.engine import learn as learn
    from anypag.run.estimators import FCI as FCI
    from anypag.run.estimators import ICD as ICD
    from anypag.run.estimators import Auto as Auto
    from anypag.run.estimators import Bayes as Bayes
    from anypag.series.files import read_series as read_series
    from anypag.series.learn import learn_series as learn_series
    from anypag.series.series_result import SeriesResult as SeriesResult

__version__ = "0.1.0"

_PUBLIC = {
    "ci.additive": "Additive",
    "ci.base": "CITest from_callable Oracle Queries",
    "ci.discrete": "ChiSquared GSquared PermutationChiSquared",
    "ci.gaussian": "FisherZ",
    "ci.slow": "GCM KCI",
    "ci.mixed": "DegenerateGaussian",
    "ci.resolve": "from_causal_learn",
    "ci.wrappers": "n_oracle",
    "data.audit": "audit",
    "data.files.read_table": "read_table",
    "data.sources.counted": "counted weighted",
    "data.sources.pooled": "pooled",
    "effects.answer": "Effect",
    "effects.effect": "effect is_adjustment_set",
    "errors": "AnypagError AnypagWarning",
    "graphs.formats.registry": "as_graph dumps from_networkx loads read_graph to_networkx write_graph",
    "graphs.marks": "Edge Mark",
    "graphs.node_sets": "is_visible",
    "graphs.pag": "DAG MAG PAG",
    "graphs.projection": "latent_projection true_pag",
    "graphs.separation": "is_separated",
    "knowledge.knowledge": "Knowledge",
    "metrics": "compare",
    "results.files": "read_result",
    "results.result": "Result",
    "run.bootstrap": "bootstrap",
    "run.engine": "iterate learn",
    "run.estimators": "Auto Bayes FCI ICD",
    "series.files": "read_series",
    "series.learn": "learn_series",
    "series.series_result": "SeriesResult",
}
"""For each module, the public names that it defines."""
_DEFINED_IN = {name: f"anypag.{module}" for module, names in _PUBLIC.items() for name in names.split()}
_MODULES = ("metrics", "simulate")

__all__ = [*_DEFINED_IN, *_MODULES]


def __getattr__(name: str) -> _Any:
    if name in _DEFINED_IN:
        value = getattr(_import_module(_DEFINED_IN[name]), name)
    elif name in _MODULES:
        value = _import_module(f"anypag.{name}")
    else:
        raise AttributeError(f"module 'anypag' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "__doc__", "__file__", "__name__", "__path__"])
