"""The library's sentences, with options named as they are typed: `--missing drop` where Python has missing="drop"."""

from __future__ import annotations

import re

_OPTIONS = "alpha|kinds|max_r|max_sets|max_tests|method|missing|r0|resume|sepset|test|threads|time_budget"
_PATTERNS = (
    (rf"The option '({_OPTIONS})'", r"The option --\1"),
    (rf'\b({_OPTIONS})="([\w-]+)"', r"--\1 \2"),
    (r"\b([Ss]et) max_r\b", r"\1 --max_r"),
    (r"pass format=\.\.\.", "name it with --from or --to."),
    (r"\bdeclare (it|the columns) (discrete|continuous)", r"declare \1 \2 (--kinds)"),
)


def as_typed(sentence: str) -> str:
    """A sentence of the library as the command line says it.

    >>> as_typed('Choose missing="pairwise", or set max_r to 3.')
    'Choose --missing pairwise, or set --max-r to 3.'
    """
    for pattern, typed in _PATTERNS:
        sentence = re.sub(pattern, typed, sentence)
    return re.sub(r"--[a-z0-9_]+", lambda option: option[0].replace("_", "-"), sentence)
