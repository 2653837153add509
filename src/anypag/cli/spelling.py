"""Options as they are typed."""

from __future__ import annotations

import shlex

from anypag.errors import Option

_OTHERWISE = {"selection_bias": "--no-selection-bias", "format": "--from or --to", "names": "--columns or --drop"}
"""Those that are not the choice's name with dashes."""


def spelled(option: Option) -> str:
    """An option as it is typed: `--missing drop` where Python has missing="drop".

    >>> spelled(Option("max_r")), spelled(Option("missing", "drop")), spelled(Option("selection_bias", False))
    ('--max-r', '--missing drop', '--no-selection-bias')
    >>> spelled(Option("gaps", ("-999",))), spelled(Option("gaps", ("?", "not available")))
    ('--gaps=-999', "--gaps='?,not available'")
    """
    name = _OTHERWISE.get(option.name, f"--{option.name.replace('_', '-')}")
    if isinstance(option.value, tuple):
        return f"{name}={shlex.quote(','.join(option.value))}"
    return f"{name} {option.value}" if isinstance(option.value, str) else name
