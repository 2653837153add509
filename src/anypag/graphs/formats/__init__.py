"""How other tools write a graph: text, JSON, Tetrad, pcalg, causal-learn, DOT, dagitty, networkx.

>>> from anypag import PAG
>>> text = dumps(PAG.from_string("A o-> B"), "tetrad")
>>> loads(text, "tetrad") == PAG.from_string("A o-> B")
True
"""

from anypag.graphs.formats.networkx_graph import from_networkx, to_networkx
from anypag.graphs.formats.registry import (
    EXTENSIONS,
    FORMATS,
    Format,
    as_graph,
    dumps,
    from_causal_learn,
    loads,
    read_graph,
    write_graph,
)
from anypag.graphs.formats.tables import causal_learn_matrix

__all__ = [
    "EXTENSIONS",
    "FORMATS",
    "Format",
    "as_graph",
    "causal_learn_matrix",
    "dumps",
    "from_causal_learn",
    "from_networkx",
    "loads",
    "read_graph",
    "to_networkx",
    "write_graph",
]
