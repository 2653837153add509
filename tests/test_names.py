"""A type name means one thing in the package."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "anypag"


def types_in(path: Path) -> list[str]:
    """The classes that a file defines, and the names that it gives to types."""
    found = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp | ast.Attribute):
            targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
            found += [name for name in targets if name[:1].isupper() and not name.isupper()]
    return [name for name in found if not name.startswith("_")]


def defined_twice() -> dict[str, list[str]]:
    """By the name of a type, the files that define it, where they are several."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name in types_in(path):
            homes[name].append(str(path.relative_to(SOURCE)))
    return {name: files for name, files in homes.items() if len(files) > 1}


def test_no_type_name_is_defined_twice() -> None:
    assert not defined_twice()
