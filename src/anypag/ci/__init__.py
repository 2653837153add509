"""Conditional-independence tests."""
