"""Searches that ask conditional-independence tests."""
