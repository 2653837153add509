"""Sources: rows in memory, file or database; counts; a covariance matrix."""
