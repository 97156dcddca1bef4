"""Where in a value a decoder found something wrong.

It names the fields of types and the positions in lists, but never the keys of a mapping: those are
found by looking for the one whose value does not fit.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import msgspec

from fourscore.core import freeze

_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")


class Place(NamedTuple):
    """A path from the top, and the type that is wanted there."""

    path: str
    kind: Any

    @property
    def words(self) -> tuple[str, ...]:
        """The words that may stand there, if only words may."""
        literal = [part for part in _parts(self.kind) if get_origin(part) is Literal]
        return tuple(map(str, get_args(literal[0]))) if literal else ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The keys that may stand there, if it is an object with fields."""
        return tuple(name for part in _structs(self.kind) for name in part.__struct_encode_fields__)


def place_of(path: str, value: Any, kind: Any) -> Place:
    """A decoder's path (`.dimensions[...].weight`) with the keys that it leaves out."""
    found = ""
    for name, position in _STEP.findall(path):
        if name:
            found, kind = f"{found}.{name}", _field(kind, name)
            value = value.get(name) if isinstance(value, Mapping) else None
        elif position != "...":
            found, kind = f"{found}[{position}]", _inside(kind)
            listed = isinstance(value, Sequence) and int(position) < len(value)
            value = value[int(position)] if listed else None
        elif isinstance(value, Mapping) and (key := _unfit(value, _inside(kind))) is not None:
            found, kind, value = f"{found}.{key}", _inside(kind), value[key]
        else:
            found, kind, value = f"{found}[…]", _inside(kind), None
    return Place(found.removeprefix("."), kind)


def bare(annotation: Any) -> Any:
    """A type without what is annotated to it."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _unfit(value: Mapping[Any, Any], kind: Any) -> Any:
    """The key whose value is of another type, or else is no JSON: a number without end."""
    checks: tuple[Callable[[Any], Any], ...] = (partial(msgspec.convert, type=kind), freeze)
    for check in checks:
        for key, item in value.items():
            try:
                check(item)
            except (ValueError, RecursionError):
                return key
    return None


def _field(kind: Any, name: str) -> Any:
    for part in _structs(kind):
        for field in msgspec.structs.fields(part):
            if field.encode_name == name:
                return field.type
    return Any


def _inside(kind: Any) -> Any:
    """What a list or a mapping holds."""
    for part in _parts(kind):
        if get_origin(part) is dict:
            return get_args(part)[1]
        if get_origin(part) in (list, tuple):
            return get_args(part)[0]
    return Any


def _structs(kind: Any) -> list[type[msgspec.Struct]]:
    parts = _parts(kind)
    return [part for part in parts if isinstance(part, type) and issubclass(part, msgspec.Struct)]


def _parts(annotation: Any) -> list[Any]:
    """A type, or the types of a union."""
    plain = bare(annotation)
    return [plain, *map(bare, get_args(plain))]
