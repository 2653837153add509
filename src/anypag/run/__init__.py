"""Running a search: the engine, what is bound before it, and who watches."""
