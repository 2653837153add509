"""Exhaustive checks on few nodes against truth by definition; `python -m certify` runs them."""
