"""Scores: how well a graph fits, part by part."""
