"""Reads what an agent gave as its answer: JSON data, or the text of a message object."""

from collections.abc import Mapping
from typing import Any

from fourscore.core.frozen import MAX_DEPTH, freeze

READABLE = "expected text, other JSON data, or a message with get_text_content() or content"


def read_answer(value: object, depth: int = 0) -> Any:
    """Return an answer as JSON data: arrays become lists, messages their text.

    A message has `get_text_content()` (AgentScope) or `content`, as text or as a list of blocks; a
    pydantic model without these is its fields. Anything else raises a `ValueError` that names its
    type: read as an empty answer it would be paid a silent 0.
    """
    if value is None or isinstance(value, str):
        return value
    if depth >= MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    try:
        found = _read_object(value)
    except Exception as error:  # of a method of the object
        raise ValueError(f"{_name_type(value)}: {type(error).__name__}: {error}") from None
    if found is not value:
        return read_answer(found, depth + 1)
    if isinstance(value, Mapping):
        return {key: read_answer(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [read_answer(item, depth + 1) for item in value]
    if isinstance(value, int | float):
        return freeze(value)
    raise ValueError(f"{_name_type(value)} cannot be read as an answer: {READABLE}")


def _read_object(value: Any) -> object:
    """Return the text or the data of a live object; JSON data and unknown objects as they are."""
    if isinstance(value, type):
        return value
    if callable(read := getattr(value, "get_text_content", None)):
        text = read()
        return "" if text is None else text
    if isinstance(value, Mapping | list | tuple | bool | int | float) and not hasattr(
        value, "tolist"
    ):
        return value
    if callable(convert := getattr(value, "tolist", None)):
        return convert()
    if hasattr(value, "content"):
        return read_message_text(value.content)
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    return value


def read_message_text(content: object) -> str:
    """Return the text of a message's content: the string, or the texts of its blocks joined.

    Blocks without text (an image, a tool call) are left out, and so is other JSON data. A live
    object without text raises a `ValueError` that names its type.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        texts = (part if isinstance(part, str) else _get_text(part) for part in content)
        return "".join(text for text in texts if isinstance(text, str))
    text = _get_text(content)
    if isinstance(text, str) or isinstance(content, Mapping | int | float):
        return text if isinstance(text, str) else ""
    raise ValueError(f"a message's content of type {type(content).__name__} has no text")


def _get_text(part: object) -> object:
    return part.get("text") if isinstance(part, Mapping) else getattr(part, "text", None)


def _name_type(value: object) -> str:
    kind = value if isinstance(value, type) else type(value)
    what = "the class" if kind is value else "an object of type"
    return f"{what} {kind.__module__}.{kind.__qualname__}"
