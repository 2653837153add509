"""What a learned graph says, in words: one pair of variables at a time, or all of them as a table."""

from anypag.explain.pair import End, Explanation, explain
from anypag.explain.table import COLUMNS, edge_csv, edge_table, write_edge_table

__all__ = ["COLUMNS", "End", "Explanation", "edge_csv", "edge_table", "explain", "write_edge_table"]
