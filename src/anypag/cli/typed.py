"""The library's sentences, with options named as they are typed: `--missing drop` where Python has missing="drop"."""

from __future__ import annotations

import re

_OPTIONS = "alpha|kinds|max_r|max_sets|max_tests|method|missing|r0|resume|sepset|test|threads|time_budget"
_PATTERNS = (
    rf"(?P<before>The option )'(?P<option>{_OPTIONS})'",
    rf'(?P<before>)\b(?P<option>{_OPTIONS})="(?P<value>[\w-]+)"',
    r"(?P<before>\b[Ss]et )(?P<option>max_r)\b",
)
_WORDS = (
    (r"pass format=\.\.\.", "name it with --from or --to."),
    (r"\bdeclare (it|the columns) (discrete|continuous)", r"declare \1 \2 (--kinds)"),
)


def as_typed(sentence: str) -> str:
    """A sentence of the library as the command line says it.

    >>> as_typed('Choose missing="pairwise", or set max_r to 3.')
    'Choose --missing pairwise, or set --max-r to 3.'
    """
    for pattern in _PATTERNS:
        sentence = re.sub(pattern, _typed, sentence)
    for pattern, words in _WORDS:
        sentence = re.sub(pattern, words, sentence)
    return sentence


def _typed(found: re.Match[str]) -> str:
    named = found.groupdict()
    value = f" {named['value']}" if named.get("value") else ""
    return f"{named['before']}--{named['option'].replace('_', '-')}{value}"
