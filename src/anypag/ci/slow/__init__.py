"""Tests that process all rows for every question, or several filled-in tables: kernels, regressions, imputation."""
