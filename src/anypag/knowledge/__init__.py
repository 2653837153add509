"""Knowledge: statements of the user, the facts that follow from them, and their effect on a PAG."""
