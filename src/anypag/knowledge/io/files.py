"""Knowledge in files."""

from __future__ import annotations

import json
from pathlib import Path

from anypag.errors import KnowledgeError
from anypag.knowledge.io.other_tools import parse_tetrad
from anypag.knowledge.io.plain import from_plain
from anypag.knowledge.io.text import parse_text
from anypag.knowledge.statements import Statement


def read_statements(path: Path) -> tuple[Statement, ...]:
    """The statements of a file: JSON if its name ends so, Tetrad's format if it begins so, else text."""
    text = _read(path)
    try:
        if path.suffix.casefold() == ".json":
            return from_plain(_json(text))
        return parse_tetrad(text) if text.lstrip().startswith("/knowledge") else parse_text(text)
    except KnowledgeError as error:
        raise KnowledgeError(f"{path}: {error}") from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise KnowledgeError(f"The knowledge file {str(path)!r} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise KnowledgeError(
            f"The knowledge file {str(path)!r} is no UTF-8 text (byte {error.start} cannot be read)."
        ) from None


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise KnowledgeError(f"This is no JSON: {error}.") from None
    except RecursionError:
        raise KnowledgeError("This is no JSON that can be read: it is nested too deeply.") from None
