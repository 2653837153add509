"""Write docs/cli.md: the reference of the command line, from the commands themselves.

`make docs` runs it; the page is not kept, as that of the Python names is not.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from anypag.cli.commands import ExitCode
from anypag.cli.main import HELP, app

TARGET = Path(__file__).with_name("cli.md")
CODES = {
    ExitCode.COMPLETE: "complete, or as far as `--max-r` said",
    ExitCode.ERROR: "the data or a file cannot be used, or another error (also: `audit` found errors)",
    ExitCode.USAGE: "usage: an option or argument is wrong",
    ExitCode.STOPPED: "stopped early by a budget or a signal, with a valid result",
    ExitCode.INTERRUPTED: "interrupted before there was any result",
}


def reference() -> str:
    """The text of docs/cli.md."""
    commands = {name: app.get_command(None, name) for name in app.list_commands()}
    said = Counter(_line(parameter) for command in commands.values() for parameter in command.params)
    shared = {line for line, count in said.items() if count > 1}
    parts = ["# The command line", "", "<!-- Written by docs/generate_cli.py; do not edit. -->", "", HELP, ""]
    parts += ["Every command has `--help`. A value in brackets is the default.", ""]
    parts += ["| exit code | meaning |", "|---|---|", *(f"| {int(code)} | {CODES[code]} |" for code in ExitCode), ""]
    for name, command in commands.items():
        parts += _command(name, command, shared)
    parts += ["## Shared by several commands", "", *(line for line in said if line in shared), ""]
    parts += ["Where to go next: [the Python names](reference/api.md), [file formats](reference/formats.md)."]
    return "\n".join(parts).rstrip() + "\n"


def _command(name: str, command: Any, shared: set[str]) -> list[str]:
    """Its usage and help; what only this command has; and the names of what others have too."""
    arguments = (part.metavar for part in command.params if part.param_type_name == "argument")
    own = [line for line in map(_line, command.params) if line not in shared]
    others = [_name(parameter) for parameter in command.params if _line(parameter) in shared]
    lines = [f"## `anypag {' '.join([name, *arguments])}`", "", command.help, "", *own]
    return [*lines, *[""][: len(own)], *([f"Shared: {', '.join(others)}.", ""] if others else [])]


def _line(parameter: Any) -> str:
    """What is typed, the default, and the help."""
    if parameter.param_type_name == "argument" or parameter.is_flag:
        return f"- {_name(parameter)}: {parameter.help}"
    default = getattr(parameter.default, "value", parameter.default)
    typed = f"{_name(parameter)[:-1]} {parameter.metavar or 'VALUE'}`"
    return f"- {typed}{'' if default is None else f' ({default})'}: {parameter.help}"


def _name(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    return f"`{parameter.metavar.strip('[]')}`" if is_argument else ", ".join(f"`{name}`" for name in parameter.opts)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
