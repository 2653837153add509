"""Where rows live: in memory, in a file, in a table of counts, in an engine, or nowhere but in a covariance matrix."""
