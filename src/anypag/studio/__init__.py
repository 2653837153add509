"""The studio: a page in the user's browser that learns a graph from a table, and answers questions about it.

`server.py` answers the browser, `session.py` runs the search in a thread of its own, `settings.py` holds what the user
chose; the other files make what the page shows. Nothing here reads a path that comes from the browser.
"""
