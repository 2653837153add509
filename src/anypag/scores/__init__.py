"""Scores: how well a graph fits the data, as a sum over the components of the graph."""
