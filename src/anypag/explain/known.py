"""What a user could still say beforehand, so that a graph leaves less open and says less that cannot be."""

from __future__ import annotations

from anypag.results.result import Result

OPEN = "settle circles, which the data leave open"
WRONG = "rule out arrows that cannot be"


def what_to_say(result: Result, how: str) -> str | None:
    """What saying more would do to a graph that was learned knowing nothing; None where it would do nothing.

    Args:
        result: what was learned.
        how: how it is said: `knowledge=`, or the options of the command line.

    >>> import anypag as ap
    >>> data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C; C --> D"), 500, seed=1)
    >>> print(what_to_say(ap.learn(data), "knowledge="))
    What you know for sure, such as an order in time (knowledge=), can settle circles, which the data leave open, and \
rule out arrows that cannot be.
    """
    symbols = {edge.forward().symbol for edge in result.pag.edges()}
    is_open, is_directed = any("o" in symbol for symbol in symbols), not symbols.isdisjoint({"-->", "o->"})
    if result.choices.knowledge or not (is_open or is_directed):
        return None
    could = ", and ".join([OPEN] * is_open + [WRONG] * is_directed)
    return f"What you know for sure, such as an order in time ({how}), can {could}."
