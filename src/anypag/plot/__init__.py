"""Pictures of graphs: SVG text drawn here, PNG and figures by matplotlib; layouts by igraph (extra `plot`)."""

from anypag.plot.draw import figure, svg, svg_if_possible, write_picture
from anypag.plot.extras import MissingExtraError

__all__ = ["MissingExtraError", "figure", "svg", "svg_if_possible", "write_picture"]
