"""Write docs/reference/api.md: every public name of anypag, from its docstring.

`make docs` runs it; what it writes is not kept in the repository.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import anypag

TARGET = Path(__file__).parent / "reference" / "api.md"
SECTIONS = ("Args", "Returns", "Raises", "Yields")
GROUPS = {
    "Learning": ["learn", "iterate", "bootstrap", "Result", "read_result", "Auto", "ICD", "FCI", "Bayes"],
    "Time series": ["learn_series", "SeriesResult", "read_series"],
    "What is known beforehand": ["Knowledge"],
    "Data": ["read_table", "counted", "audit"],
    "Tests": ["FisherZ", "PermutationChiSquared", "GSquared", "ChiSquared", "DegenerateGaussian", "Oracle",
              "from_callable", "from_causal_learn", "CITest", "Queries", "n_oracle"],
    "Graphs": ["PAG", "MAG", "DAG", "Edge", "Mark", "is_separated", "is_visible", "latent_projection", "true_pag"],
    "Effects": ["effect", "Effect", "is_adjustment_set"],
    "Files and other tools": ["read_graph", "write_graph", "dumps", "loads", "as_graph", "to_networkx",
                              "from_networkx"],
    "Comparing and simulating": ["compare", "metrics", "simulate"],
    "Errors": ["AnypagError", "AnypagWarning"],
}  # fmt: skip


def reference() -> str:
    """The text of the page."""
    listed = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, "More": sorted(set(anypag.__all__) - listed)}
    parts = [
        "# The Python names",
        "",
        "All of these are names of the package: `import anypag as ap`, then `ap.learn`.",
        "",
    ]
    for heading, names in groups.items():
        parts += [f"## {heading}", ""] if names else []
        for name in names:
            parts += _entry(name, getattr(anypag, name))
    parts += ["Where to go next: [the command line](../cli.md), [file formats](formats.md)."]
    return "\n".join(parts) + "\n"


def _entry(name: str, thing: Any) -> list[str]:
    lines = [f"### {name}", "", *_signature(name, thing), *_text(inspect.getdoc(thing) or "")]
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        for member, value in inspect.getmembers(thing):
            if not member.startswith("_") and _is_own(member, value) and (text := inspect.getdoc(value)):
                lines += [f"`{name}.{member}`", f": {' '.join(_first(text).split())}", ""]
    if inspect.ismodule(thing):
        for member in getattr(
            thing, "__all__", [n for n, v in vars(thing).items() if getattr(v, "__module__", "") == thing.__name__]
        ):
            if not member.startswith("_"):
                lines += [
                    f"`{name}.{member}`",
                    f": {' '.join(_first(inspect.getdoc(getattr(thing, member)) or '').split())}",
                    "",
                ]
    return lines


def _is_own(name: str, value: Any) -> bool:
    return inspect.isfunction(value) or inspect.ismethod(value) or isinstance(value, property) or hasattr(value, "func")


def _first(text: str) -> str:
    """The first paragraph."""
    return text.split("\n\n")[0]


def _signature(name: str, thing: Any) -> list[str]:
    if not callable(thing):
        return []
    try:
        parameters = inspect.signature(thing).parameters.values()
    except ValueError:
        return []
    shown = ", ".join(_parameter(parameter) for parameter in parameters if not parameter.name.startswith("_"))
    return ["```python", f"{name}({shown})", "```", ""]


def _parameter(parameter: inspect.Parameter) -> str:
    default = parameter.default
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    has_none = default is inspect.Parameter.empty or not isinstance(
        default, str | int | float | bool | tuple | type(None)
    )
    return f"{stars}{parameter.name}" + ("" if has_none else f"={default!r}")


def _text(text: str) -> list[str]:
    """A docstring as Markdown: sections as lists, examples as code."""
    lines: list[str] = []
    for block in re.split(r"\n\n+", text):
        heading = block.split(":", 1)[0]
        if heading in SECTIONS and ":" in block:
            lines += [f"**{heading}**", "", *_items(block.split(":", 1)[1]), ""]
        elif block.lstrip().startswith(">>>"):
            lines += ["```python", *inspect.cleandoc(block).splitlines(), "```", ""]
        elif ">>>" in block:
            before, _, after = block.partition(">>>")
            lines += [before.strip(), "", "```python", *f">>>{after}".splitlines(), "```", ""]
        else:
            lines += [block.replace("<", "&lt;"), ""]
    return lines


def _items(text: str) -> list[str]:
    """`name: what it is` lines, each with its continuations, as a list."""
    items: list[str] = []
    for line in inspect.cleandoc(text).splitlines():
        if re.match(r"\w[\w, ]*: ", line) or not items:
            name, colon, rest = line.partition(": ")
            items.append(f"- `{name}`: {rest}" if colon else f"- {line}")
        else:
            items[-1] += f" {line.strip()}"
    return [item.replace("<", "&lt;") for item in items]


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(reference(), encoding="utf-8")
