"""Plain values into typed ones, with errors that name the field, in words for people."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

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
    message = message[:1].lower() + message[1:].replace("`", "")
    for words, meaning in (("unknown", "unknown key"), ("missing required", "it is missing")):
        _, found, key = message.partition(f"{words} field ")
        if found:
            return meaning, f"{field}.{key}" if field else key
    return message, field or None


def _check_keys(value: Any, kind: type[msgspec.Struct], path: str) -> None:
    """Unknown keys, at any depth, with the nearest known one."""
    if not isinstance(value, Mapping):
        return
    for field in msgspec.structs.fields(kind):
        name, kind_of_field = field.encode_name, _bare(field.type)
        for inner in (kind_of_field, *map(_bare, get_args(kind_of_field))):
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
            hint = nearest(str(key), known)
            raise ConversionError(f"unknown key; {hint}", field=f"{path}{key}")


def _bare(annotation: Any) -> Any:
    """A type without what is annotated to it."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _allowed(kind: type[msgspec.Struct], path: str | None) -> list[str]:
    """The words that a field at this path takes, if it takes words."""
    annotation: Any = kind
    for part in (path or "").split("."):
        inner = [a for a in _parts(annotation) if hasattr(a, "__struct_fields__")]
        if not inner:
            return []
        types = {field.encode_name: field.type for field in msgspec.structs.fields(inner[0])}
        annotation = types.get(part)
    literal = [a for a in _parts(annotation) if get_origin(a) is Literal]
    return [str(word) for word in get_args(literal[0])] if literal else []


def _parts(annotation: Any) -> list[Any]:
    bare = _bare(annotation)
    return [bare, *map(_bare, get_args(bare))]
