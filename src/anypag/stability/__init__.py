"""How far a learned graph can be trusted: what comes of the same search on resampled rows."""
