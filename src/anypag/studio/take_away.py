"""The files that the user takes away, and the program in Python and the shell commands that learn the same graph."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from anypag.graphs.formats.tables import csv_text
from anypag.report import write_report
from anypag.results.result import Result
from anypag.saving import save
from anypag.studio.settings import Settings

FORMATS = {
    "report.html": "text/html; charset=utf-8",
    "graph.svg": "image/svg+xml",
    "graph.png": "image/png",
    "result.json": "application/json",
    "edges.csv": "text/csv; charset=utf-8",
}
"""The files that the page offers, and their media types."""
KNOWN = "known.txt"


def file_taken(result: Result, name: str, call: str, data: Any) -> bytes:
    """The bytes of one of `FORMATS`."""
    with tempfile.TemporaryDirectory(prefix="anypag-") as folder:
        path = Path(folder) / name
        save(result, path, report=partial(write_report, call=call, data=data))
        return path.read_bytes()


def in_python(settings: Settings, names: Sequence[str], file: str, max_r: int | None = None) -> str:
    """A program that learns the same graph. `max_r`: the r after which a search by tests was stopped."""
    lines = ["import anypag as ap", ""]
    choices, data = _choices(settings, max_r), repr(file)
    if settings.reading:
        data = "table"
        lines += [f"table = ap.read_table({file!r}, {_arguments(settings.reading)})"]
    search = settings.of_search(names)
    given: dict[str, Any] = {} if search.names is None else {"names": list(search.names)}
    given |= {"kinds": dict(search.kinds)} if search.kinds else {}
    arguments = [data, *([_arguments({**given, **choices})] if given or choices else [])]
    if search.knowledge:
        said = "\n".join(f"    {line + chr(10)!r}" for line in str(search.knowledge).split("\n"))
        lines += ["known = ap.Knowledge.from_text(", said, ")"]
        arguments.append("knowledge=known")
    lines += [f"result = ap.learn({', '.join(arguments)})", "print(result.pag)"]
    return "\n".join(lines) + "\n"


def on_command_line(settings: Settings, names: Sequence[str], file: str, max_r: int | None = None) -> str:
    """Commands that learn the same graph and write it to result.json, for `anypag explain` and `anypag effect`."""
    search, words = settings.of_search(names), ["anypag", "learn", file if not file.startswith("-") else f"./{file}"]
    off = [name for name in names if name in settings.off]
    words += [f"--drop={_names(off)}"] if off else []
    words += [f"--kinds={_names([f'{name}={kind}' for name, kind in search.kinds.items()])}"] if search.kinds else []
    words += [typed for name, value in settings.reading.items() for typed in _read(name, value)]
    for name, value in _choices(settings, max_r).items():
        is_off = name == "selection_bias"
        words += ["--no-selection-bias"] if is_off else [f"--{name.replace('_', '-')}", str(value)]
    before = ""
    if search.knowledge:
        before = f"cat > {KNOWN} <<'END'\n{search.knowledge}\nEND\n"
        words += ["--knowledge", KNOWN]
    return f"{before}{shlex.join([*words, '--out', 'result.json'])}\n"


def _choices(settings: Settings, max_r: int | None) -> dict[str, Any]:
    return {**settings.choices, **({} if max_r is None else {"method": "icd", "max_r": max_r})}


def _arguments(given: Any) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def _names(names: Sequence[str]) -> str:
    """Names with commas between, as the command line reads them: a name is quoted if it holds a comma or a quote."""
    return csv_text([names]).removesuffix("\n")


def _read(name: str, value: Any) -> list[str]:
    if name == "header":
        return ["--no-header"]
    return [f"--gaps={_names([word for word in value if word])}"] if name == "gaps" else [f"--{name}={value}"]
