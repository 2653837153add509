"""What follows from a graph: validity, contradictions, and what all members of its class share."""
