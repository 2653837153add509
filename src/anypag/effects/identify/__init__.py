"""Which effects a graph identifies: adjustment sets, formulas, and the reasons where there is neither."""
