"""Convert plain values to typed ones, with readable errors that name the field.

msgspec's errors name fields and list positions, but not the keys of a mapping: the key is found by
looking for the one whose value does not fit.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

import msgspec

from fourscore.core import InputError, freeze, suggest_known

T = TypeVar("T", bound=msgspec.Struct)

_PLACE = re.compile(r" - at (`key` in )?`\$([^`]*+)`$")
#: A message that a type's own check raised begins with the field.
_OWN = re.compile(r"([a-z_]\w*+(?:\.[^\s:]++|\[\d++\])*+): ")
#: Longer integers Python refuses to read.
_DIGITS = 4_000
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")


class ValuePlace(NamedTuple):
    """A path from the top of a value, and the type expected there."""

    path: str
    kind: Any

    @property
    def words(self) -> tuple[str, ...]:
        """The words allowed there, if the type is a `Literal`."""
        literal = [part for part in _parts(self.kind) if get_origin(part) is Literal]
        return tuple(map(str, get_args(literal[0]))) if literal else ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The keys allowed there, if the type is a Struct."""
        return tuple(name for part in _structs(self.kind) for name in part.__struct_encode_fields__)


class ConversionError(InputError):
    """A value that does not fit its type; `field` is its path from the top."""


def convert_value(value: object, kind: type[T]) -> T:
    """Convert a value to `kind`; a `ConversionError` where a key is unknown or a type is wrong."""
    _check_keys(value, kind, "")
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message, field = explain_error(error, value, kind)
        raise ConversionError(message, field=field) from None
    except ValueError as error:  # the text has a lone surrogate
        raise ConversionError(str(error)) from None


def explain_error(
    error: msgspec.ValidationError, value: object = None, kind: object = Any
) -> tuple[str, str | None]:
    """Return a readable message for a msgspec error in a value of this kind, and the field."""
    message = str(error)
    found = _PLACE.search(message)
    place = find_place(found[2] if found else "", value, kind)
    message = message[: found.start()] if found else message
    message = message[:1].lower() + message[1:].replace("`", "")
    if found and found[1]:
        return f"a key of it: {message}", place.path or None
    message, below = _worded(message, place)
    return message, ".".join(part for part in (place.path, below) if part) or None


def _worded(message: str, place: ValuePlace) -> tuple[str, str]:
    """Return the message in plain words, and the field below the place that it names, if any."""
    _, unknown, key = message.partition("unknown field ")
    if unknown:
        return (
            f"unknown key; {suggest_known(key, place.fields)}" if place.fields else "unknown key"
        ), key
    _, missing, key = message.partition("missing required field ")
    if missing:
        return "it is missing", key
    if place.words and message.startswith("invalid enum value"):
        got = message.removeprefix("invalid enum value ")
        return f"expected one of {', '.join(place.words)}, got {got}", ""
    own = _OWN.match(message)
    return (message[own.end() :], own[1]) if own else (message, "")


def explain_json_error(
    error: msgspec.ValidationError, line: bytes | str, kind: object = Any
) -> tuple[str, str | None]:
    """Return the same as `explain_error` for JSON text."""
    try:
        value = json.loads(line, parse_int=_whole)
    except (ValueError, RecursionError):  # the text has another mistake further on
        value = None
    return explain_error(error, value, kind)


def _whole(digits: str) -> float:
    return int(digits) if len(digits) <= _DIGITS else inf


def _check_keys(value: object, kind: type[msgspec.Struct], path: str) -> None:
    """Refuse unknown keys at any depth, with a suggestion."""
    if not isinstance(value, Mapping):
        return
    for field in msgspec.structs.fields(kind):
        name, kind_of_field = field.encode_name, strip_annotations(field.type)
        for inner in (kind_of_field, *map(strip_annotations, get_args(kind_of_field))):
            if not isinstance(inner, type) or not issubclass(inner, msgspec.Struct):
                continue
            below = value.get(name)
            if get_origin(kind_of_field) is dict and isinstance(below, Mapping):
                for key, item in below.items():
                    _check_keys(item, inner, f"{path}{name}.{key}.")
            else:
                _check_keys(below, inner, f"{path}{name}.")
    known = kind.__struct_encode_fields__
    for key in value:
        if key not in known:
            hint = suggest_known(str(key), known)
            raise ConversionError(f"unknown key; {hint}", field=f"{path}{key}")


def find_place(path: str, value: object, kind: object) -> ValuePlace:
    """Complete msgspec's path (`.dimensions[...].weight`) with the keys of mappings."""
    found = ""
    for name, position in _STEP.findall(path):
        if name:
            found, kind = f"{found}.{name}", _field(kind, name)
            value = value.get(name) if isinstance(value, Mapping) else None
        elif position != "...":
            found, kind = f"{found}[{position}]", _inside(kind)
            items = value if isinstance(value, Sequence) else ()
            value = items[int(position)] if int(position) < len(items) else None
        elif isinstance(value, Mapping) and (key := _unfit(value, _inside(kind))) is not None:
            found, kind, value = f"{found}.{key}", _inside(kind), value[key]
        else:
            found, kind, value = f"{found}[…]", _inside(kind), None
    return ValuePlace(found.removeprefix("."), kind)


def strip_annotations(annotation: object) -> object:
    """Return the type inside `Annotated`."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _unfit(value: Mapping[object, object], kind: object) -> object:
    """Return the key whose value has another type, or is not JSON (an infinite number)."""
    checks: tuple[Callable[[object], object], ...] = (partial(msgspec.convert, type=kind), freeze)
    for check in checks:
        for key, item in value.items():
            try:
                check(item)
            except (ValueError, RecursionError):
                return key
    return None


def _field(kind: object, name: str) -> object:
    for part in _structs(kind):
        for field in msgspec.structs.fields(part):
            if field.encode_name == name:
                return field.type
    return Any


def _inside(kind: object) -> object:
    """Return the type of the items of a list or a mapping."""
    for part in _parts(kind):
        if get_origin(part) is dict:
            return get_args(part)[1]
        if get_origin(part) in (list, tuple):
            return get_args(part)[0]
    return Any


def _structs(kind: object) -> list[type[msgspec.Struct]]:
    parts = _parts(kind)
    return [part for part in parts if isinstance(part, type) and issubclass(part, msgspec.Struct)]


def _parts(annotation: object) -> list[object]:
    """Return a type, or the types of a union."""
    plain = strip_annotations(annotation)
    return [plain, *map(strip_annotations, get_args(plain))]
