"""Attacks: what users, machines and strangers do to a program, as programs that count what came of it.

`python -m attack` (in `tests/`) runs them all and prints the counts; `make test` runs a few rounds of each with fixed
seeds, `make test-all` all of them with fresh ones. An attack that succeeds is an `AssertionError` that names its seed.
"""
