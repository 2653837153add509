"""Searches that rate graphs by a score of the data; they may use what is in `by_tests`, never the other way."""
