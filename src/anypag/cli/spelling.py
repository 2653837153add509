"""Options as they are typed."""

from __future__ import annotations

from anypag.errors import Option

_OTHERWISE = {"selection_bias": "--no-selection-bias", "format": "--from or --to", "names": "--columns or --drop"}
"""Those that are not the choice's name with dashes."""


def spelled(option: Option) -> str:
    """An option as it is typed: `--missing drop` where Python has missing="drop".

    >>> spelled(Option("max_r")), spelled(Option("missing", "drop")), spelled(Option("selection_bias", False))
    ('--max-r', '--missing drop', '--no-selection-bias')
    """
    name = _OTHERWISE.get(option.name, f"--{option.name.replace('_', '-')}")
    return f"{name} {option.value}" if isinstance(option.value, str) else name
