"""The studio: a page in the user's own browser where a table becomes a graph that sharpens, and can be asked.

`server.py` answers the browser, `session.py` runs the search in a thread of its own, `settings.py` holds what the user
chose; the other files make what the page shows. Nothing here reads a path that comes from the browser.
"""
