"""The HTML file: template, style, script and escaped content."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from anypag.errors import Option
from anypag.files import write_whole
from anypag.markup import counted
from anypag.plot.svg import MARK_SHAPES, STYLE
from anypag.report.content import content
from anypag.results.result import Result

NO_FORMS = "form-action 'none'"
_BREAKS_OUT = re.compile("[<>&\u2028\u2029]")


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    *,
    call: str | None = None,
    spell: Callable[[Option], str] = str,
    data: Any = None,
) -> None:
    """Write a report, whole or not at all: one HTML file that needs no network and no other file. `call`: the call or
    command line that made the result. `spell`: how options are written; by default as in Python. `data`: the rows to
    estimate effects from, if graphs were sampled. Raises MissingExtraError without igraph, which computes the layout.
    """
    write_whole(Path(path), report_html(result, call=call, spell=spell, data=data).encode())


def report_html(
    result: Result, *, call: str | None = None, spell: Callable[[Option], str] = str, data: Any = None
) -> str:
    """The text of a report; see `write_report`.

    >>> import anypag as ap
    >>> result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C")))
    >>> report_html(result).startswith("<!doctype html>")
    True
    """
    size = f"{counted(len(result.pag), 'variable')}, {counted(len(result.pag.edges()), 'edge')}"
    title = size if result.source is None else f"{result.source}: {size}"
    return page_of("anypag.report", "page", title, content=as_json(content(result, call, spell, data)))


def page_of(package: str, name: str, title: str, may: str = "", content: str = "") -> str:
    """The text of a page that draws a graph: the template `name` of a package with its style and script, and the parts
    that all pages share (`drawing.js`, `drawing.css`, `drawing.html`). The title is escaped here. `may`: directives
    that are added to the content security policy, which else allows only style and script. `content`: JSON that is safe
    inside a script element (`as_json`).
    """
    script = _part("drawing.js") + _part(f"{name}.js", package)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()  # the page may run this script only
    marks = "".join(f'<g id="mark-{int(mark)}" class="mark">{MARK_SHAPES[mark]}</g>' for mark in MARK_SHAPES)
    parts = {
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; {NO_FORMS}{may}",
        "title": html.escape(title),
        "style": STYLE + _part("drawing.css") + _part(f"{name}.css", package),
        "drawing": _part("drawing.html").replace("<!--marks-->", marks),
        "content": content,
        "script": script,
    }
    return re.sub(r"<!--(\w+)-->", lambda place: parts[place[1]], _part(f"{name}.html", package))


def as_json(value: Any) -> str:
    """JSON that is safe inside a script element: it cannot contain `</script>`.

    >>> print(as_json("</script>"))
    "\\u003c/script\\u003e"
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return _BREAKS_OUT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _part(name: str, package: str = "anypag.report") -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")
