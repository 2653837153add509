"""Results of a search, in memory and in files."""
