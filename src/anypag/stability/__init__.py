"""Stability: how often searches on resampled rows repeat the edges of a graph."""
