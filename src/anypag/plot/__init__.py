"""Pictures of graphs: SVG text drawn here, PNG, PDF and figures by matplotlib; layouts by igraph (extra `plot`)."""

from anypag.errors import MissingExtraError
from anypag.plot.draw import figure, plot, svg, svg_if_possible, write_picture

__all__ = ["MissingExtraError", "figure", "plot", "svg", "svg_if_possible", "write_picture"]
