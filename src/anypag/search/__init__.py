"""Searches: candidate sets, orientation with checks, and one file per algorithm."""
