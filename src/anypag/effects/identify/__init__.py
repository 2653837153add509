"""Which effects a graph identifies: adjustment sets, formulas, and reasons if there is neither."""
