"""Declarations (`Form`) of how a value is written to a file, read back and checked.

A `Form` writes a value as JSON (or as an array, in checkpoints), reads it back, and raises `RefusedError` if it
cannot have written what it reads. Forms are built from smaller ones. A dataclass declares the forms of its fields with
`stored`; `object_of` and `Nested` derive the form of the whole. Results, knowledge and checkpoints are declared in this
way. Bounds may depend on the number of variables ("n"), which schema libraries cannot express.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from anypag.errors import AnypagError, abbreviated

Size = int | Literal["n"] | None  # a length or a bound: a number, "n" for the number of variables, None for any
SQUARE: tuple[Size, ...] = ("n", "n")
LARGEST = 2**62  # whole numbers in files are less than this, unless their form says otherwise


class RefusedError(ValueError):
    """A file holds something that anypag did not write."""

    def at(self, place: str) -> RefusedError:
        return type(self)(f"{place}: {self}" if not str(self).startswith(('"', "row ")) else f"{place}, {self}")


class Variables:
    """The variables of a file; the other parts of the file refer to them by index."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.place = {name: i for i, name in enumerate(self.names)}

    def size(self, size: Size) -> int | None:
        return len(self.names) if size == "n" else size


class Form:
    """The way in which a value is written, read and checked; this base class accepts anything unchanged."""

    plain: Callable[[Any], Any] = staticmethod(lambda value: value)  # converts a NumPy value to a plain one

    def write(self, value: Any, variables: Variables) -> Any:
        """The value converted for JSON (or an array)."""
        return self.plain(value)

    def read(self, plain: Any, variables: Variables) -> Any:
        """The value that `plain` stands for. RefusedError if `write` cannot have written `plain`."""
        return plain

    @property
    def is_array(self) -> bool:
        """Is the value kept as an array? Only checkpoints can hold arrays."""
        return False


def refuse_unless(holds: bool, wanted: str, got: object) -> None:
    if not holds:
        raise RefusedError(f"{wanted} was wanted; got {abbreviated(got)}")


@dataclass(frozen=True)
class Whole(Form):
    """A whole number that is at least `low` and less than `end`."""

    low: int = 0
    end: Size = LARGEST
    plain = int

    def read(self, plain: Any, variables: Variables) -> int:
        end = variables.size(self.end)
        is_right = type(plain) is int and self.low <= plain < (LARGEST if end is None else end)
        below = "" if self.end == LARGEST else f" to below {end}"
        refuse_unless(is_right, f"a whole number from {self.low}{below}", plain)
        return int(plain)


@dataclass(frozen=True)
class Number(Form):
    """A finite number between two bounds; with `unknown`, NaN is allowed and written as null."""

    low: float = -math.inf
    high: float = math.inf
    unknown: bool = False

    def write(self, value: Any, variables: Variables) -> float | None:
        return None if self.unknown and math.isnan(value) else float(value)

    def read(self, plain: Any, variables: Variables) -> float:
        if plain is None and self.unknown:
            return math.nan
        is_number = type(plain) in {int, float} and abs(plain) <= 1e308 and self.low <= plain <= self.high
        bounds = "" if math.isinf(self.high) else f" from {self.low:g} to {self.high:g}"
        refuse_unless(is_number, f"a number{bounds}", plain)
        return float(plain)


@dataclass(frozen=True)
class Text(Form):
    """A text. If `one_of` is not empty, only the texts in it are allowed."""

    one_of: tuple[str, ...] = ()
    plain = str

    def read(self, plain: Any, variables: Variables) -> str:
        wanted = f"one of {', '.join(map(repr, self.one_of))}" if self.one_of else "a text"
        refuse_unless(isinstance(plain, str) and (not self.one_of or plain in self.one_of), wanted, plain)
        return str(plain)


@dataclass(frozen=True)
class Flag(Form):
    """True or false."""

    plain = bool

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
class As(Form):
    """A value that `to` converts for writing and `back` after reading; RefusedError if `back` raises AnypagError."""

    form: Form
    to: Callable[[Any, Variables], Any] = lambda value, _: value
    back: Callable[[Any, Variables], Any] = lambda value, _: value

    def write(self, value: Any, variables: Variables) -> Any:
        return self.form.write(self.to(value, variables), variables)

    def read(self, plain: Any, variables: Variables) -> Any:
        found = self.form.read(plain, variables)
        try:
            return self.back(found, variables)
        except AnypagError as error:
            raise RefusedError(str(error).rstrip(".")) from None

    @property
    def is_array(self) -> bool:
        return self.form.is_array


NODE = As(Whole(0, "n"), lambda name, variables: variables.place[name], lambda k, variables: variables.names[k])
"""A variable: its name in memory, its index in a file."""
_BY_TYPE: dict[Any, Form] = {str: Text(), int: Whole(), float: Number(), bool: Flag()}


@dataclass(frozen=True)
class ListOf(Form):
    """A tuple in memory, a list in the file."""

    form: Form
    least: int = 0

    def write(self, value: Any, variables: Variables) -> list[Any]:
        return [self.form.write(item, variables) for item in value]

    def read(self, plain: Any, variables: Variables) -> tuple[Any, ...]:
        least = f" of {self.least} or more" if self.least else ""
        refuse_unless(isinstance(plain, list) and len(plain) >= self.least, f"a list{least}", plain)
        return tuple(read_at(f"row {k}", self.form, item, variables) for k, item in enumerate(plain))


@dataclass(frozen=True)
class RowForm(Form):
    """A list in the file with one entry for each form; in memory, the value that `make` gives (by default a tuple)."""

    forms: tuple[Form, ...]
    make: Callable[..., Any] = lambda *values: values

    def write(self, value: Any, variables: Variables) -> list[Any]:
        values = value if isinstance(value, tuple) else [getattr(value, item.name) for item in fields(value)]
        return [form.write(item, variables) for form, item in zip(self.forms, values, strict=True)]

    def read(self, plain: Any, variables: Variables) -> Any:
        refuse_unless(isinstance(plain, list) and len(plain) == len(self.forms), f"a list of {len(self.forms)}", plain)
        return self.make(*(form.read(item, variables) for form, item in zip(self.forms, plain, strict=True)))


def row(kind: type[Any], **forms: Form) -> RowForm:
    """A named tuple or dataclass stored as a row. A field has its form from `forms`, else from its type."""
    return RowForm(tuple(_with_types(kind, forms).values()), kind)


def plain_object(kind: type[Any], **forms: Form) -> Object:
    """A named tuple or dataclass stored as an object. A field has its form from `forms`, else from its type."""
    return object_of(kind, **_with_types(kind, forms))


def _with_types(kind: type[Any], forms: Mapping[str, Form]) -> dict[str, Form]:
    types = get_type_hints(kind)
    return {name: forms[name] if name in forms else form_of(types[name]) for name in names_of(kind)}


def form_of(kind: Any) -> Form:
    """The form of a type: str, int, float, bool, a Literal of texts, a tuple of one of these, or `X | None`."""
    parts = get_args(kind)
    if get_origin(kind) is Literal:
        return Text(parts)
    if NoneType in parts:
        return Maybe(form_of(parts[0]))
    return ListOf(form_of(parts[0])) if get_origin(kind) is tuple else _BY_TYPE[kind]


def names_of(kind: type[Any]) -> list[str]:
    return [item.name for item in fields(kind)] if is_dataclass(kind) else list(kind._fields)


def by_pair(form: Form) -> Form:
    """A mapping from pairs of variables to values, stored as rows `[a, b, value]`."""
    rows = ListOf(RowForm((NODE, NODE, form)))
    return As(
        rows,
        lambda value, _: ((*pair, item) for pair, item in value.items()),
        lambda rows, _: {(a, b): item for a, b, item in rows},
    )


@dataclass(frozen=True)
class MapOf(Form):
    """An object whose values all have one form. `is_key` checks its keys; `wanted` describes valid keys in errors."""

    form: Form
    is_key: Callable[[str], bool] = lambda key: True
    wanted: str = "a text"

    def write(self, value: Mapping[Any, Any], variables: Variables) -> dict[str, Any]:
        return {str(key): self.form.write(item, variables) for key, item in value.items()}

    def read(self, plain: Any, variables: Variables) -> dict[str, Any]:
        refuse_unless(isinstance(plain, dict), "an object", plain)
        for key in plain:
            refuse_unless(isinstance(key, str) and self.is_key(key), self.wanted, key)
        return {key: read_at(f'"{key}"', self.form, item, variables) for key, item in plain.items()}


BY_SIZE = As(
    MapOf(Whole(), lambda key: key.isascii() and key.isdecimal() and len(key) < 10, "the size of a condition set"),
    lambda value, _: dict(sorted(value.items())),
    lambda value, _: {int(size): count for size, count in value.items()},
)
"""The number of tests for each size of the condition set: `{"0": 10, "1": 3}`."""


@dataclass(frozen=True)
class Object(Form):
    """An object with a form for each key. RefusedError for unknown keys, and for missing ones that `missing` lacks."""

    forms: Mapping[str, Form]
    make: Callable[..., Any] = dict  # builds the value
    missing: Mapping[str, Any] = field(default_factory=dict)  # the values of missing keys
    get: Callable[[Any, str], Any] = getattr

    def write(self, value: Any, variables: Variables) -> dict[str, Any]:
        return {name: form.write(self.get(value, name), variables) for name, form in self.forms.items()}

    def read(self, plain: Any, variables: Variables) -> Any:
        refuse_unless(isinstance(plain, dict), "an object", plain)
        unknown = [name for name in plain if name not in self.forms]
        refuse_unless(not unknown, f"an object with {', '.join(self.forms)}", unknown[:1] or None)
        return _consistent(self.make(**{name: self._field(name, plain, variables) for name in self.forms}))

    def _field(self, name: str, plain: dict[str, Any], variables: Variables) -> Any:
        if name in plain:
            return read_at(f'"{name}"', self.forms[name], plain[name], variables)
        if name not in self.missing:
            raise RefusedError(f'"{name}" is missing')
        return self.missing[name]


def read_at(place: str, form: Form, plain: Any, variables: Variables) -> Any:
    """Read a part of the file; errors name the place."""
    try:
        return form.read(plain, variables)
    except RefusedError as error:
        raise error.at(place) from None


def _consistent(made: Any) -> Any:
    """The object itself. RefusedError if its `is_consistent` is False, because no search writes such an object."""
    if not getattr(made, "is_consistent", True):
        raise RefusedError("its parts do not go together")
    return made


def stored(form: Form, **options: Any) -> Any:
    """A field of a dataclass that is kept in files in this form; `options` are those of `dataclasses.field`."""
    return field(metadata={"stored": form}, **options)


def stored_fields(kind: type[Any]) -> dict[str, Form]:
    """The forms of the stored fields of a dataclass, by name."""
    return {item.name: item.metadata["stored"] for item in fields(kind) if "stored" in item.metadata}


def object_of(kind: type[Any], /, *left_out: str, **forms: Form) -> Object:
    """A dataclass or named tuple stored as an object. Every field needs a form (`stored`, `forms`) or is `left_out`."""
    names = names_of(kind)
    declared = {**(stored_fields(kind) if is_dataclass(kind) else {}), **forms}
    if set(names) - set(left_out) != set(declared):
        differing = sorted((set(names) - set(left_out)) ^ set(declared))
        raise TypeError(f"{kind.__name__}: these fields have no form, or do not exist: {', '.join(differing)}")
    return Object({name: declared[name] for name in names if name in declared}, kind)


@dataclass(frozen=True)
class Nested(Form):
    """A dataclass with `stored` fields, each under its own name. A field may be missing if its default is None."""

    kind: type[Any]

    def write(self, value: Any, variables: Variables) -> dict[str, Any]:
        return {name: Maybe(form).write(getattr(value, name), variables) for name, form in self._forms.items()}

    def read(self, plain: Any, variables: Variables, **others: Any) -> Any:
        values = {name: read_at(f'"{name}"', form, plain.get(name), variables) for name, form in self._forms.items()}
        return _consistent(self.kind(**others, **values))

    @property
    def _forms(self) -> dict[str, Form]:
        may_lack = {item.name for item in fields(self.kind) if item.default is None}
        return {name: Maybe(form) if name in may_lack else form for name, form in stored_fields(self.kind).items()}


@dataclass(frozen=True)
class Array(Form):
    """An array of this type and shape, whose numbers are at least `low` and less than `end`."""

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


def marks_matrix(*, many: bool = False) -> Form:
    """An (n, n) matrix of marks: each edge has two marks, no node has an edge with itself. `many`: several matrices."""
    return As(Array("uint8", (None, *SQUARE) if many else SQUARE, 0, 4), back=_paired)


def _paired(marks: Any, variables: Variables) -> Any:
    joined = marks != 0
    if (joined != np.swapaxes(joined, -1, -2)).any() or np.diagonal(joined, axis1=-2, axis2=-1).any():
        raise RefusedError("an edge must have two marks, and no node may have an edge with itself")
    return marks


def rule_rows(rules: Mapping[int, Any]) -> Form:
    """Rows (rule, i, j, mark, a, b): the rule set or proposed the mark at j on i–j. Its reason: a and b (-1: none)."""

    def of_rules(rows: Any, variables: Variables) -> Any:
        n = len(variables.names)
        lowest, ends = np.array([0, 0, 0, -1, -1]), np.array([n, n, 4, n, n])
        in_range = ((rows[:, 1:] >= lowest) & (rows[:, 1:] < ends)).all(axis=1)
        if not (np.isin(rows[:, 0], list(rules)) & in_range).all():
            raise RefusedError("the array holds a mark that no rule sets")
        return rows

    return As(Array("int32", (None, 6), -1), back=of_rules)


def _paths(nodes: Any, variables: Variables) -> frozenset[tuple[int, ...]]:
    if len(nodes) and nodes[-1] != -1:
        raise RefusedError("the last path is cut off")
    pieces = np.split(nodes, np.flatnonzero(nodes == -1) + 1)[:-1]
    return frozenset(tuple(piece[:-1].tolist()) for piece in pieces)


PATHS = As(
    Array("int32", (None,), -1, "n"),
    lambda paths, _: np.array([node for path in sorted(paths) for node in (*path, -1)], np.int32),
    _paths,
)
"""A set of paths, each a tuple of nodes. They are stored as one array with -1 after each path."""


def _keys(keys: Any, variables: Variables) -> Any:
    if len(keys) < 2 or len(keys) & (len(keys) - 1) or 2 * np.count_nonzero(keys[:, 0]) > len(keys):
        raise RefusedError("the table of keys is too full, or its length is no power of two")
    return keys


KEYS = As(Array("uint64", (None, 2)), back=_keys)  # (2^k, 2) a hash table for compiled code; half or more is empty
