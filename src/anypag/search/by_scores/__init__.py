"""Searches that rate graphs by a score. They may import `by_tests`; `by_tests` never imports them."""
