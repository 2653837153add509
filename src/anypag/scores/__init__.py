"""Scores: numbers for how well a graph fits, as a sum over its components."""
