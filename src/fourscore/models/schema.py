"""The part of JSON Schema that verdicts need, and nothing that would be passed over in silence.

A schema with any other word in it is refused when the question is made, so that what a reply was
checked against is the whole schema. Types are strict: true is no number, 7.0 no integer, "7" no 7.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

#: Words that check something, and words that only tell the model what is meant.
WORDS: Final = frozenset(
    {"type", "enum", "const", "minimum", "maximum", "required", "properties"}
    | {"additionalProperties", "items", "minItems", "maxItems", "maxLength", "title", "description"}
)
TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}

#: The types in words for a person.
KIND_WORDS: Final[Mapping[str, str]] = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
    "integer": "a whole number",
    "number": "a number",
}
#: Choices that a message lists.
MAX_CHOICES = 12


def check_schema(schema: Any, place: str = "schema") -> None:
    """`ValueError` where it says what we do not check, or is not about an object."""
    if not isinstance(schema, dict):
        raise ValueError(f"{place}: expected an object, got {type(schema).__name__}")
    if place == "schema" and schema.get("type") != "object":
        raise ValueError("schema: a verdict is an object: expected type: object")
    if odd := sorted(set(schema) - WORDS):
        raise ValueError(f"{place}: {', '.join(odd)}: not checked here; known: {_list_keywords()}")
    for kind in _types(schema):
        if kind not in TYPES:
            raise ValueError(f"{place}.type: {kind!r} is none of {', '.join(TYPES)}")
    for word, right in _SHAPES.items():
        if word in schema and not right(schema[word]):
            raise ValueError(f"{place}.{word}: {schema[word]!r} is out of place")
    for name, inner in schema.get("properties", {}).items():
        check_schema(inner, f"{place}.{name}")
    if "items" in schema:
        check_schema(schema["items"], f"{place}[]")


def drop_extra_keys(value: Any, schema: dict[str, Any]) -> tuple[Any, int]:
    """Return the value without the keys that the schema does not allow, and their number.

    Models like to add a remark; what was asked for is there all the same.
    """
    if isinstance(value, dict) and "properties" in schema:
        known, closed = schema["properties"], schema.get("additionalProperties") is False
        kept = {name: inner for name, inner in value.items() if name in known or not closed}
        dropped = len(value) - len(kept)
        for name in kept.keys() & known.keys():
            kept[name], more = drop_extra_keys(kept[name], known[name])
            dropped += more
        return kept, dropped
    if isinstance(value, list) and "items" in schema:
        pairs = [drop_extra_keys(item, schema["items"]) for item in value]
        return [item for item, _ in pairs], sum(dropped for _, dropped in pairs)
    return value, 0


def find_mismatch(value: Any, schema: dict[str, Any], place: str = "") -> str | None:
    """Why the value does not fit, in words for a person; None where it does."""
    named, kind = place or "the reply", schema.get("type")
    if kind is not None and not _has_type(value, kind):
        kinds = " or ".join(KIND_WORDS[one] for one in _types(schema))
        return f"{named} is {_quote(value)}, expected {kinds}"
    if "enum" in schema and not any(_is_same(value, choice) for choice in schema["enum"]):
        choices = ", ".join(_quote(choice) for choice in schema["enum"][:MAX_CHOICES])
        more = ", …" if len(schema["enum"]) > MAX_CHOICES else ""
        return f"{named} is {_quote(value)}, expected one of {choices}{more}"
    if "const" in schema and not _is_same(value, schema["const"]):
        return f"{named} is {_quote(value)}, expected {_quote(schema['const'])}"
    if isinstance(value, str):
        if len(value) > schema.get("maxLength", len(value)):
            return f"{named} is longer than {schema['maxLength']} characters"
        return None
    if isinstance(value, dict):
        return _check_object(value, schema, place)
    if isinstance(value, list):
        return _check_array(value, schema, place)
    if TYPES["number"](value):
        low, high = schema.get("minimum"), schema.get("maximum")
        if (low is not None and value < low) or (high is not None and value > high):
            return f"{named} is {_quote(value)}, outside [{low}, {high}]"
    return None


def _has_type(value: Any, kind: str | list[str]) -> bool:
    if isinstance(kind, str):
        return TYPES[kind](value)
    return any(TYPES[one](value) for one in kind)


def _check_object(value: dict[str, Any], schema: dict[str, Any], place: str) -> str | None:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{f'{place}.{name}' if place else name} is missing"
    if schema.get("additionalProperties") is False and not value.keys() <= known.keys():
        odd = next(name for name in value if name not in known)
        return f"{_quote(odd)} was not asked for"
    for name, inner in known.items():
        if name in value:
            why = find_mismatch(value[name], inner, f"{place}.{name}" if place else name)
            if why is not None:
                return why
    return None


def _check_array(value: list[Any], schema: dict[str, Any], place: str) -> str | None:
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    if len(value) < low or (high is not None and len(value) > high):
        most = "more" if high is None else high
        return f"{place or 'the reply'} has {len(value)} items, expected {low} to {most}"
    if "items" in schema:
        for position, item in enumerate(value):
            if why := find_mismatch(item, schema["items"], f"{place}[{position}]"):
                return why
    return None


def _types(schema: dict[str, Any]) -> list[Any]:
    kinds = schema.get("type", [])
    return kinds if isinstance(kinds, list) else [kinds]


def _is_same(value: Any, choice: Any) -> bool:
    """Equal, and of the same type: 1 is not true."""
    if isinstance(value, dict) and isinstance(choice, dict):
        return value.keys() == choice.keys() and all(
            _is_same(value[key], choice[key]) for key in value
        )
    if isinstance(value, list) and isinstance(choice, list):
        return len(value) == len(choice) and all(map(_is_same, value, choice))
    return type(value) is type(choice) and bool(value == choice)


def _quote(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _list_keywords() -> str:
    return ", ".join(sorted(WORDS))


def _count(value: Any) -> bool:
    return TYPES["integer"](value) and value >= 0


_SHAPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "enum": lambda value: isinstance(value, list) and bool(value),
    "minimum": TYPES["number"],
    "maximum": TYPES["number"],
    "minItems": _count,
    "maxItems": _count,
    "maxLength": _count,
    "properties": TYPES["object"],
    "additionalProperties": TYPES["boolean"],
    "required": lambda value: isinstance(value, list) and all(isinstance(v, str) for v in value),
}
