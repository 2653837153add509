"""The language in which files are declared: what a value is in memory, what it is in a file, and what it must be.

A `Form` writes a value as JSON (or as an array, in checkpoints), reads it back, and refuses anything else in a
sentence. Forms are put together from smaller ones. A dataclass declares the forms of its fields with `stored`;
`object_of` and `Nested` derive how the whole is written, read and checked. Results, knowledge and checkpoints are
declared in this language.

Bounds may depend on the number of variables ("n"), which is why no library of schemas is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

import numpy as np

Size = int | Literal["n"] | None
"""A length or a bound: a number, "n" for the number of variables, None for any."""

SQUARE: tuple[Size, ...] = ("n", "n")
LARGEST = 2**62
MOST_SHOWN = 60


class RefusedError(ValueError):
    """A file holds something that anypag has not written there."""

    def at(self, place: str) -> RefusedError:
        """The refusal with the place in the file where it happened."""
        return type(self)(f"{place}: {self}" if not str(self).startswith(('"', "row ")) else f"{place}, {self}")


class Variables:
    """The variables of a file, which other parts of it name by their place in the list.

    Args:
        names: the variables in order.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.place = {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def size(self, size: Size) -> int | None:
        """A size as a number."""
        return len(self.names) if size == "n" else size


class Form:
    """How a value of one kind is written, read and checked."""

    is_array = False
    """Is it kept as an array? Only checkpoints can."""

    def write(self, value: Any, variables: Variables) -> Any:
        """The value as JSON can hold it (or an array)."""
        return value

    def read(self, plain: Any, variables: Variables) -> Any:
        """The value that was written so.

        Raises:
            RefusedError: it was not written by `write`.
        """
        raise NotImplementedError


def refuse_unless(holds: bool, wanted: str, got: object) -> None:
    """Refuse what came unless the condition holds."""
    if not holds:
        raise RefusedError(f"{wanted} was wanted; got {shown(got)}")


def shown(value: object) -> str:
    """The beginning of a value as Python writes it; a number with thousands of digits cannot be written."""
    try:
        text = repr(value)
    except ValueError:
        text = "a very large number"
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…"


@dataclass(frozen=True)
class Whole(Form):
    """A whole number from `low` to below `end`."""

    low: int = 0
    end: Size = LARGEST

    def write(self, value: Any, variables: Variables) -> int:
        return int(value)

    def read(self, plain: Any, variables: Variables) -> int:
        end = variables.size(self.end)
        is_right = type(plain) is int and self.low <= plain < (LARGEST if end is None else end)
        below = "" if self.end == LARGEST else f" to below {end}"
        refuse_unless(is_right, f"a whole number from {self.low}{below}", plain)
        return int(plain)


@dataclass(frozen=True)
class Number(Form):
    """A finite number between two bounds; where `unknown` is set, NaN is written as null."""

    low: float = -math.inf
    high: float = math.inf
    unknown: bool = False

    def write(self, value: Any, variables: Variables) -> float | None:
        return None if math.isnan(value) else float(value)

    def read(self, plain: Any, variables: Variables) -> float:
        if plain is None and self.unknown:
            return math.nan
        is_number = type(plain) in {int, float} and abs(plain) <= 1e308 and self.low <= plain <= self.high
        bounds = "" if math.isinf(self.high) else f" from {self.low:g} to {self.high:g}"
        refuse_unless(is_number, f"a number{bounds}", plain)
        return float(plain)


@dataclass(frozen=True)
class Text(Form):
    """A text; one of a few if they are listed."""

    one_of: tuple[str, ...] = ()

    def write(self, value: Any, variables: Variables) -> str:
        return str(value)

    def read(self, plain: Any, variables: Variables) -> str:
        wanted = f"one of {', '.join(map(repr, self.one_of))}" if self.one_of else "a text"
        refuse_unless(isinstance(plain, str) and (not self.one_of or plain in self.one_of), wanted, plain)
        return str(plain)


@dataclass(frozen=True)
class Flag(Form):
    """True or false."""

    def write(self, value: Any, variables: Variables) -> bool:
        return bool(value)

    def read(self, plain: Any, variables: Variables) -> bool:
        refuse_unless(isinstance(plain, bool), "true or false", plain)
        return bool(plain)


@dataclass(frozen=True)
class Maybe(Form):
    """A value, or null for None."""

    form: Form

    def write(self, value: Any, variables: Variables) -> Any:
        return None if value is None else self.form.write(value, variables)

    def read(self, plain: Any, variables: Variables) -> Any:
        return None if plain is None else self.form.read(plain, variables)


@dataclass(frozen=True)
class NodeForm(Form):
    """A variable: its name in memory, its place in the list of variables in a file."""

    def write(self, value: Any, variables: Variables) -> int:
        return variables.place[value]

    def read(self, plain: Any, variables: Variables) -> str:
        return variables.names[Whole(0, "n").read(plain, variables)]


@dataclass(frozen=True)
class ListOf(Form):
    """A list; a tuple in memory."""

    form: Form
    least: int = 0

    def write(self, value: Any, variables: Variables) -> list[Any]:
        return [self.form.write(item, variables) for item in value]

    def read(self, plain: Any, variables: Variables) -> tuple[Any, ...]:
        least = f" of {self.least} or more" if self.least else ""
        refuse_unless(isinstance(plain, list) and len(plain) >= self.least, f"a list{least}", plain)
        return tuple(_at(f"row {k}", self.form, item, variables) for k, item in enumerate(plain))


@dataclass(frozen=True)
class RowForm(Form):
    """A list with one place for each form; a tuple, or what `make` makes of the values."""

    forms: tuple[Form, ...]
    make: Callable[..., Any] = lambda *values: values

    def write(self, value: Any, variables: Variables) -> list[Any]:
        values = value if isinstance(value, tuple) else [getattr(value, item.name) for item in fields(value)]
        return [form.write(item, variables) for form, item in zip(self.forms, values, strict=True)]

    def read(self, plain: Any, variables: Variables) -> Any:
        refuse_unless(isinstance(plain, list) and len(plain) == len(self.forms), f"a list of {len(self.forms)}", plain)
        return self.make(*(form.read(item, variables) for form, item in zip(self.forms, plain, strict=True)))


def row(kind: type[Any], *forms: Form) -> RowForm:
    """The row of a named tuple or dataclass; it must have a form for each of its fields."""
    if len(names_of(kind)) != len(forms):
        raise TypeError(f"{kind.__name__} has the fields {names_of(kind)}, and {len(forms)} forms are declared")
    return RowForm(forms, kind)


def names_of(kind: type[Any]) -> list[str]:
    """The fields of a dataclass or named tuple."""
    return [item.name for item in fields(kind)] if is_dataclass(kind) else list(kind._fields)


@dataclass(frozen=True)
class ByPair(Form):
    """A mapping from pairs of variables to values: rows `[a, b, value]`."""

    form: Form

    def write(self, value: Mapping[tuple[str, str], Any], variables: Variables) -> list[Any]:
        place, write = variables.place, self.form.write
        return [[place[a], place[b], write(item, variables)] for (a, b), item in value.items()]

    def read(self, plain: Any, variables: Variables) -> dict[tuple[str, str], Any]:
        rows = ListOf(RowForm((NodeForm(), NodeForm(), self.form))).read(plain, variables)
        return {(a, b): item for a, b, item in rows}


@dataclass(frozen=True)
class BySize(Form):
    """How many tests there were, by the size of the condition set: `{"0": 10, "1": 3}`."""

    def write(self, value: Mapping[int, int], variables: Variables) -> dict[str, int]:
        return {str(int(size)): int(count) for size, count in sorted(value.items())}

    def read(self, plain: Any, variables: Variables) -> dict[int, int]:
        refuse_unless(isinstance(plain, dict), "an object", plain)
        for size in plain:
            is_size = isinstance(size, str) and size.isascii() and size.isdecimal() and len(size) < 10
            refuse_unless(is_size, "the size of a condition set", size)
        return {int(size): _at(f'"{size}"', Whole(), count, variables) for size, count in plain.items()}


@dataclass(frozen=True)
class Object(Form):
    """An object with a form for each key; `make` makes the value of them.

    A key that is missing has the value that `missing` says; without one it is refused. So is a key that is not known.
    """

    forms: Mapping[str, Form]
    make: Callable[..., Any] = dict
    missing: Mapping[str, Any] = field(default_factory=dict)
    get: Callable[[Any, str], Any] = getattr

    def write(self, value: Any, variables: Variables) -> dict[str, Any]:
        return {name: form.write(self.get(value, name), variables) for name, form in self.forms.items()}

    def read(self, plain: Any, variables: Variables) -> Any:
        refuse_unless(isinstance(plain, dict), "an object", plain)
        unknown = [name for name in plain if name not in self.forms]
        refuse_unless(not unknown, f"an object with {', '.join(self.forms)}", unknown[:1] or None)
        return self.make(**{name: self._field(name, plain, variables) for name in self.forms})

    def _field(self, name: str, plain: dict[str, Any], variables: Variables) -> Any:
        if name not in plain and name in self.missing:
            return self.missing[name]
        if name not in plain:
            raise RefusedError(f'"{name}" is missing')
        return _at(f'"{name}"', self.forms[name], plain[name], variables)


def _at(place: str, form: Form, plain: Any, variables: Variables) -> Any:
    """Read a part of the file; a refusal says where."""
    try:
        return form.read(plain, variables)
    except RefusedError as error:
        raise error.at(place) from None


def stored(form: Form, **options: Any) -> Any:
    """A field of a dataclass that is kept in files.

    Args:
        form: how it is written, read and checked.
        options: as for `dataclasses.field`.
    """
    return field(metadata={"stored": form}, **options)


def stored_fields(kind: type[Any]) -> dict[str, Form]:
    """The forms of the stored fields of a dataclass, by name."""
    return {item.name: item.metadata["stored"] for item in fields(kind) if "stored" in item.metadata}


def object_of(kind: type[Any], /, *left_out: str, **forms: Form) -> Object:
    """The object of a dataclass or named tuple: every field has a form, declared by `stored` or given here.

    Args:
        kind: the class.
        left_out: fields that are not kept.
        forms: of fields that do not declare one.

    Raises:
        TypeError: a field has no form and is not left out.
    """
    names = names_of(kind)
    declared = {**(stored_fields(kind) if is_dataclass(kind) else {}), **forms}
    if set(names) - set(left_out) != set(declared):
        differing = sorted((set(names) - set(left_out)) ^ set(declared))
        raise TypeError(f"{kind.__name__}: these fields are not declared, or are not there: {', '.join(differing)}")
    return Object({name: declared[name] for name in names if name in declared}, kind)


@dataclass(frozen=True)
class Nested(Form):
    """A dataclass with stored fields; in a checkpoint each of them has a name of its own.

    A field whose default is None may be missing. A class with a property `is_consistent` is refused where that is
    false: it says whether its fields go together.
    """

    kind: type[Any]

    def write(self, value: Any, variables: Variables) -> dict[str, Any]:
        forms = stored_fields(self.kind)
        found = {name: getattr(value, name) for name in forms}
        return {name: None if found[name] is None else forms[name].write(found[name], variables) for name in forms}

    def read(self, plain: Any, variables: Variables, **others: Any) -> Any:
        values = {}
        for item in fields(self.kind):
            if "stored" in item.metadata:
                values[item.name] = self._field(item, plain.get(item.name), variables)
        made = self.kind(**others, **values)
        if not getattr(made, "is_consistent", True):
            raise RefusedError("its parts do not go together")
        return made

    def _field(self, item: Any, plain: Any, variables: Variables) -> Any:
        if plain is None and item.default is None:
            return None
        return _at(f'"{item.name}"', item.metadata["stored"], plain, variables)


@dataclass(frozen=True)
class Array(Form):
    """An array of this type and shape, with numbers from `low` to below `end`."""

    dtype: str
    shape: tuple[Size, ...]
    low: int | None = None
    end: Size = None
    is_array = True

    def read(self, plain: Any, variables: Variables) -> Any:
        if not isinstance(plain, np.ndarray):
            raise RefusedError("the array is not there")
        shape, end = [variables.size(size) for size in self.shape], variables.size(self.end)
        is_shape = plain.ndim == len(shape) and all(k in {None, s} for k, s in zip(shape, plain.shape, strict=True))
        if not is_shape or plain.dtype != self.dtype:
            raise RefusedError(f"the array is of shape {plain.shape} and type {plain.dtype}")
        if self.low is not None and not (plain >= self.low).all():
            raise RefusedError(f"the array holds numbers below {self.low}")
        if end is not None and not (plain < end).all():
            raise RefusedError(f"the array holds numbers from {end} on")
        return plain


@dataclass(frozen=True)
class MarksMatrix(Form):
    """(n, n) marks: an edge has two, and no node has one with itself; with `many`, any number of such matrices."""

    many: bool = False
    is_array = True

    def read(self, plain: Any, variables: Variables) -> Any:
        shape: tuple[Size, ...] = (None, "n", "n") if self.many else SQUARE
        marks = Array("uint8", shape, 0, 4).read(plain, variables)
        joined = marks != 0
        both = bool((joined == np.swapaxes(joined, -1, -2)).all())
        alone = bool(np.diagonal(joined, axis1=-2, axis2=-1).any())
        if not both or alone:
            raise RefusedError("an edge has two marks, and a node has no edge with itself; here it is not so")
        return marks


@dataclass(frozen=True)
class RuleRows(Form):
    """Marks that rules set or wanted: rows of rule, two nodes, mark and up to two nodes more.

    Args:
        rules: the rules by their numbers, as they are when a file is read.
    """

    rules: Mapping[int, Any]
    is_array = True

    def read(self, plain: Any, variables: Variables) -> Any:
        rows, n = Array("int32", (None, 6), -1).read(plain, variables), len(variables)
        lowest, ends = np.array([0, 0, 0, -1, -1]), np.array([n, n, 4, n, n])
        in_range = ((rows[:, 1:] >= lowest) & (rows[:, 1:] < ends)).all(axis=1)
        if not (np.isin(rows[:, 0], list(self.rules)) & in_range).all():
            raise RefusedError("the array holds what no rule has set")
        return rows


@dataclass(frozen=True)
class PathSet(Form):
    """A set of paths, each a tuple of nodes: one array, the nodes of all paths with -1 after each path."""

    is_array = True

    def write(self, value: Any, variables: Variables) -> Any:
        return np.array([node for path in sorted(value) for node in (*path, -1)], np.int32)

    def read(self, plain: Any, variables: Variables) -> frozenset[tuple[int, ...]]:
        nodes = Array("int32", (None,), -1, "n").read(plain, variables)
        if len(nodes) and nodes[-1] != -1:
            raise RefusedError("the last path is cut off")
        pieces = np.split(nodes, np.flatnonzero(nodes == -1) + 1)[:-1]
        return frozenset(tuple(piece[:-1].tolist()) for piece in pieces)


@dataclass(frozen=True)
class KeyTable(Form):
    """(2^k, 2) keys that compiled code looks up by hashing; at least half of the rows are empty."""

    is_array = True

    def read(self, plain: Any, variables: Variables) -> Any:
        keys = Array("uint64", (None, 2)).read(plain, variables)
        if len(keys) < 2 or len(keys) & (len(keys) - 1) or 2 * np.count_nonzero(keys[:, 0]) > len(keys):
            raise RefusedError("the table of keys is too full, or its length is no power of two")
        return keys
