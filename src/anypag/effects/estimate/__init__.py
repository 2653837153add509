"""Numbers for effects: models of the columns, intervals, ranges and draws."""
