"""Sources of rows: memory, file, table of counts, engine, covariance matrix."""
