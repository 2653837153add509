"""Write docs/cli.md: the reference of the command line, from the commands themselves.

`python docs/generate_cli.py` writes it; a test compares it with what this would write.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anypag.cli.exits import ExitCode
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
    parts = ["# The command line", "", "<!-- Written by docs/generate_cli.py; do not edit. -->", "", HELP, ""]
    parts += ["Every command has `--json` (one JSON document on standard output) and `--help`.", ""]
    parts += ["| exit code | meaning |", "|---|---|", *(f"| {int(code)} | {CODES[code]} |" for code in ExitCode), ""]
    for name in app.list_commands():
        parts += _command(name, app.get_command(None, name))
    parts += ["Where to go next: [the Python names](reference/api.md), [file formats](reference/formats.md)."]
    return "\n".join(parts).rstrip() + "\n"


def _command(name: str, command: Any) -> list[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    usage = " ".join(["anypag", name, *(argument.metavar for argument in arguments), "[OPTIONS]"])
    lines = [f"## `anypag {name}`", "", "```", usage, "```", "", command.help, ""]
    lines += (
        ["| argument | |", "|---|---|", *(f"| `{a.metavar}` | {_cell(a.help)} |" for a in arguments), ""]
        if arguments
        else []
    )
    return [*lines, "| option | |", "|---|---|", *map(_option, options), ""]


def _option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    value = "" if option.is_flag else f" `{option.metavar or 'VALUE'}`"
    default = option.default
    shown = "" if option.is_flag or default is None else f" Default: `{getattr(default, 'value', default)}`."
    return f"| {names}{value} | {_cell(option.help)}{shown} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
