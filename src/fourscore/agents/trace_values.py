"""Foreign values made fit for a trace: anything as JSON, nothing too long, tokens by any name."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from fourscore.core import Usage, freeze
from fourscore.core.answer import read_answer
from fourscore.core.numbers import to_finite_float

#: Characters kept of an output, and of any one field of a step.
MAX_TEXT = 4 * 2**20
#: Characters kept of an error's message, or of the text of an object that is no JSON value.
MAX_MESSAGE = 2_000
_MAX_DEPTH = 20

_USAGE_KEYS = {
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
    "calls": ("calls",),
    "dollars": ("dollars",),
}


def truncate(value: object) -> tuple[Any, int]:
    """Return the value and 0 where it is short enough; else its first text, and its full length."""
    if value is None or type(value) in (bool, int, float):
        return value, 0
    if isinstance(value, str):
        return (value, 0) if len(value) <= MAX_TEXT else (value[:MAX_TEXT], len(value))
    text = msgspec.json.encode(value)
    if len(text) <= MAX_TEXT:
        return value, 0
    return text[:MAX_TEXT].decode(errors="ignore"), len(text)


def to_json(value: object) -> Any:
    """Return the value as frozen JSON; what JSON cannot hold becomes text, in its place."""
    with suppress(Exception, SystemExit):  # a live object, or one whose methods raise
        return freeze(value)
    with suppress(Exception, SystemExit):  # a message of a framework is its text
        return freeze(read_answer(value))
    with suppress(Exception, SystemExit):
        return freeze(_convert_parts(value, 0))
    return to_text(value)


def _convert_parts(value: object, depth: int) -> Any:
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        return {to_text(key): _convert_parts(item, depth + 1) for key, item in value.items()}
    if depth < _MAX_DEPTH and isinstance(value, list | tuple | set | frozenset):
        return [_convert_parts(item, depth + 1) for item in value]
    with suppress(Exception, SystemExit):
        return freeze(value)
    return to_text(value)


def to_text(value: object) -> str:
    """Return `str(value)` of a foreign object, bounded; never raises."""
    try:
        text = str.__str__(value) if isinstance(value, str) else str(value)
        return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}…"
    except (Exception, SystemExit):
        return f"(a {type(value).__name__} that cannot be shown)"


def read_seconds(value: object) -> float | None:
    """Return a duration in seconds; None where the value is not one."""
    found = to_finite_float(value)
    return found if found is not None and found >= 0 else None


def read_usage(used: object) -> Usage:
    """Read tokens and cost under our names or OpenAI's, from a mapping or an object."""
    if isinstance(used, Usage):
        return used
    known: dict[str, Any] = {}
    for field, names in _USAGE_KEYS.items():
        for name in names:
            value = used.get(name) if isinstance(used, Mapping) else getattr(used, name, None)
            if value is not None:
                known[field] = value
                break
    if not known:
        raise ValueError("usage: expected input_tokens, output_tokens, calls or dollars")
    return Usage(**known)
