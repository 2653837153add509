"""Running a search: methods by name, one step after the other, budgets, results."""
