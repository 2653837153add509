"""Effects: whether and how much a variable causes another, from a graph and data."""
