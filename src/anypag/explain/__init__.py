"""Explanations in words: what a graph says about one pair of variables, or about all pairs as a table."""

from anypag.explain.pair import End, Explanation, explain
from anypag.explain.table import COLUMNS, edge_csv, edge_table, write_edge_table

__all__ = ["COLUMNS", "End", "Explanation", "edge_csv", "edge_table", "explain", "write_edge_table"]
