"""Running a search: binding data, the engine, budgets and progress, resamples."""
