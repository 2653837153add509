"""How other tools write a graph: text, JSON, Tetrad, pcalg, causal-learn, DOT, dagitty, networkx."""
