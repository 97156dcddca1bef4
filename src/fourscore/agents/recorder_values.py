"""Foreign values made fit for a trace: anything as JSON, nothing too long, tokens by any name."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from fourscore.core import Usage, freeze
from fourscore.core.numbers import to_finite_float

#: Characters kept of an output, and of any one field of a step.
MAX_TEXT = 4 * 2**20
#: Characters kept of the words of an error or of an object that is no JSON value.
MAX_WORDS = 2_000

_TOKENS = {
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
    "calls": ("calls",),
    "dollars": ("dollars",),
}


def cut(value: Any) -> tuple[Any, int]:
    """A JSON value of bounded size, and 0; or the beginning of its text, and the whole's length."""
    if value is None or type(value) in (bool, int, float):
        return value, 0
    if isinstance(value, str):
        return (value, 0) if len(value) <= MAX_TEXT else (value[:MAX_TEXT], len(value))
    text = msgspec.json.encode(value)
    if len(text) <= MAX_TEXT:
        return value, 0
    return text[:MAX_TEXT].decode(errors="ignore"), len(text)


def plain(value: Any) -> Any:
    """The value as JSON; what JSON cannot say becomes text, where it stands."""
    with suppress(Exception, SystemExit):  # a live object, or one whose methods raise
        return freeze(value)
    with suppress(Exception, SystemExit):
        return freeze(_plain(value, 0))
    return text_of(value)


def _plain(value: Any, depth: int) -> Any:
    if depth < 20 and isinstance(value, Mapping):
        return {text_of(key): _plain(item, depth + 1) for key, item in value.items()}
    if depth < 20 and isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth + 1) for item in value]
    with suppress(Exception, SystemExit):
        return freeze(value)
    return text_of(value)


def text_of(value: object) -> str:
    """The words of a foreign object, whatever its own methods do; bounded."""
    try:
        text = str.__str__(value) if isinstance(value, str) else str(value)
        return text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]}…"
    except (Exception, SystemExit):
        return f"(a {type(value).__name__} that cannot be shown)"


def number(value: Any) -> float | None:
    """A duration, if it is one."""
    found = to_finite_float(value)
    return found if found is not None and found >= 0 else None


def read_usage(used: Any) -> Usage:
    """Tokens and cost under our names or OpenAI's, of a mapping or an object."""
    if isinstance(used, Usage):
        return used
    known: dict[str, Any] = {}
    for field, names in _TOKENS.items():
        for name in names:
            value = used.get(name) if isinstance(used, Mapping) else getattr(used, name, None)
            if value is not None:
                known[field] = value
                break
    if not known:
        raise ValueError("usage: expected input_tokens, output_tokens, calls or dollars")
    return Usage(**known)
