"""The steps that an agent gives back or a case file records, as values or as mappings.

With a `name` a step is a tool call, with a `role` a message; `kind` need not be said. Agents write
what they like beside our fields, and it is left alone. What is plainly one of them in other words
is read as that, and a misspelt one refused: without its arguments one call looks like another.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from fourscore.core import Message, Step, ToolCall
from fourscore.core.errors import find_close_word
from fourscore.formats.validation import explained

#: How others call the fields of a tool call.
_ALIASES = {
    "args": "arguments",
    "input": "arguments",
    "parameters": "arguments",
    "params": "arguments",
    "output": "result",
    "response": "result",
}
#: How alike two words are of which one is the other misspelt.
_ALIKE = 0.8


def read_steps(listed: Any) -> tuple[Step, ...]:
    """The steps of a list; a `ValueError` at the first that is none."""
    if not isinstance(listed, Sequence) or isinstance(listed, str | bytes):
        raise ValueError(f"steps: expected a list, got {type(listed).__name__}")
    return tuple([_step(f"steps[{position}]", item) for position, item in enumerate(listed)])


def _step(place: str, item: Any) -> Step:
    if isinstance(item, Message | ToolCall):
        return item
    if isinstance(item, Mapping):
        kind = item.get("kind") or ("message" if "role" in item else "tool")
        if kind == "message" and "role" in item:
            return _made(place, item, Message)
        if kind == "tool" and "name" in item:
            return _made(place, item, ToolCall)
    raise ValueError(f"{place}: neither a tool call (name) nor a message (role)")


def _made(place: str, item: Mapping[str, Any], kind: type[Step]) -> Step:
    known = kind.__struct_fields__
    fields = {name: item[name] for name in known if name in item}
    for key, value in item.items() if len(fields) < len(item) else ():
        name = _ALIASES.get(key, key)
        if name in known:
            fields.setdefault(name, value)
        elif key != "kind" and (meant := misspelt(str(key), known)):
            raise ValueError(f"{place}.{key}: unknown key; did you mean {meant}?")
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        message, field = explained(error, fields, kind)
        raise ValueError(
            f"{place}.{field}: {message}" if field else f"{place}: {message}"
        ) from None


@lru_cache(maxsize=256)
def misspelt(key: str, known: tuple[str, ...]) -> str:
    """The field that is meant; nothing where the key is somebody's own."""
    return find_close_word(key, known, _ALIKE)
