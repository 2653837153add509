"""A type name means one thing in the package."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "anypag"


def types_in(tree: ast.AST) -> Iterator[str]:
    """The classes that a file defines, and the names that it gives to types; without underscores in front."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_")
        elif isinstance(node, ast.Assign):
            names = [target.id.lstrip("_") for target in node.targets if isinstance(target, ast.Name)]
            yield from (name for name in names if names_a_type(name, node.value))


def names_a_type(name: str, value: ast.expr) -> bool:
    """Is a name given to a type: a type variable, or a capitalized name for a type that exists or is written out?"""
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).split(".")[-1] in {"TypeVar", "ParamSpec", "NewType", "NamedTuple"}
    is_type = isinstance(value, ast.Subscript | ast.BinOp | ast.Attribute | ast.Name)
    return is_type and name[:1].isupper() and not name.isupper()


def defined_twice() -> dict[str, list[str]]:
    """By the name of a type, the files that define it, where they are several."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name in types_in(ast.parse(path.read_text(encoding="utf-8"))):
            homes[name].append(str(path.relative_to(SOURCE)))
    return {name: files for name, files in homes.items() if len(files) > 1}


def test_no_type_name_is_defined_twice() -> None:
    assert defined_twice() == {}


def test_names_of_types_are_seen() -> None:
    source = """
T = TypeVar("T", bound="State")
Kind = Literal["a", "b"]
_Pass = Kind
ROWS = 10 * 2
lower = Kind
class _Plan:
    class Inner: ...
"""
    assert sorted(types_in(ast.parse(source))) == ["Inner", "Kind", "Pass", "Plan", "T"]
