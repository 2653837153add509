"""The studio: a page in the user's browser that learns a graph from a table, and answers questions about the graph.

`server.py` answers the browser, `session.py` runs the search in a thread of its own, and `settings.py` holds the user's
choices. The other files make the content of the page. Nothing here reads a path that comes from the browser.
"""
