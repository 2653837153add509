"""Runs that can be killed at any moment and continued."""
