"""Graphs: marks, PAGs, MAGs and DAGs, separation, projection, orientation, validity, formats."""
