"""Plain values into typed ones, with errors that name the field, in words for people."""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from rubrica.core import InputError, nearest

T = TypeVar("T", bound=msgspec.Struct)

_PLACE = re.compile(r" - at `\$\.?(.*)`$")


class ConversionError(InputError):
    """A value that does not fit; `field` is its path from the top."""


def converted(value: Any, kind: type[T]) -> T:
    """The value as `kind`; a `ConversionError` where a key is unknown or a type is wrong."""
    _check_keys(value, kind, "")
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message, field = explained(error)
        words = _allowed(kind, field)
        if words and message.startswith("invalid enum value"):
            message = f"expected one of {', '.join(words)}, got {message.split(None, 3)[3]}"
        raise ConversionError(message, field=field) from None
    except ValueError as error:  # the type's own checks
        raise ConversionError(str(error)) from None


def explained(error: msgspec.ValidationError) -> tuple[str, str | None]:
    """What a decoder found wrong, and where."""
    message = str(error)
    place = _PLACE.search(message)
    if place is not None:
        message = message[: place.start()]
    field = place[1].replace("[...]", "[…]") if place else None
    return message[:1].lower() + message[1:].replace("`", ""), field or None


def _check_keys(value: Any, kind: type[msgspec.Struct], path: str) -> None:
    """Unknown keys, at any depth, with the nearest known one."""
    if not isinstance(value, Mapping):
        return
    for field in msgspec.structs.fields(kind):
        for inner in (field.type, *get_args(field.type)):
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                _check_keys(value.get(field.name), inner, f"{path}{field.name}.")
    for key in value:
        if key not in kind.__struct_fields__:
            hint = nearest(str(key), kind.__struct_fields__)
            raise ConversionError(f"unknown key; {hint}", field=f"{path}{key}")


def _allowed(kind: type[msgspec.Struct], path: str | None) -> list[str]:
    """The words that a field at this path takes, if it takes words."""
    annotation: Any = kind
    for part in (path or "").split("."):
        inner = [a for a in (annotation, *get_args(annotation)) if hasattr(a, "__struct_fields__")]
        if not inner:
            return []
        types = {field.name: field.type for field in msgspec.structs.fields(inner[0])}
        annotation = types.get(part)
    literal = [a for a in (annotation, *get_args(annotation)) if get_origin(a) is Literal]
    return [str(word) for word in get_args(literal[0])] if literal else []
