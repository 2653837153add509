"""Exhaustive checks on few nodes against truth by definition; `anypag certify` runs them."""
