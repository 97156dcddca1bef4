"""Parse a verdict in a reply: exactly one JSON object that fits the schema, or a `ModelError`.

A judge's model has read what an agent wrote, and the agent would like to choose the verdict. So
nothing is guessed or repaired here: no key twice (which of the two would count?), no second object,
no text around it except where the endpoint has no JSON mode, no NaN, no truncated reply. Only keys
that nobody asked for are dropped, and counted.
"""

import json
import re
from collections import Counter
from math import isfinite
from typing import Any, NamedTuple, NoReturn

from fourscore.core import Usage, freeze
from fourscore.models.messages import ModelError
from fourscore.models.schema import drop_extra_keys, find_mismatch

#: A longer reply is not read: verdicts are short.
MAX_TEXT = 1 << 20
FENCE = re.compile(r"```[A-Za-z]*[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
#: The begin of a JSON object; a set, a formula or a template in prose begins differently.
OBJECT_START = re.compile(r'\{\s*["}]')
MAX_QUOTED = 120


class MalformedError(ValueError):
    """The reason why a reply is not a verdict."""


class ParsedReply(NamedTuple):
    """The object in a reply, frozen, without the `extra_keys` that nobody asked for."""

    value: Any
    extra_keys: int


#: For requests without a schema.
NO_VERDICT = ParsedReply(None, 0)


def parse_verdict(
    text: str,
    schema: dict[str, Any],
    *,
    prose: bool = False,
    truncated: bool = False,
    usage: Usage | None = None,
    model: str = "",
) -> ParsedReply:
    """Return the object in a reply of `model`; `prose` allows text around it.

    A truncated reply is refused even with a whole object in it: a second may have been cut off.
    """
    try:
        if truncated:
            raise MalformedError("it was cut off at its token limit; raise max_tokens")
        value, extra_keys = drop_extra_keys(_parse_only_object(text, prose), schema)
        why = find_mismatch(value, schema)
        if why is not None:
            raise MalformedError(why)
        return ParsedReply(freeze(value), extra_keys)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        named = f"{model}: the" if model else "the"
        began = f"; it began: {quote_beginning(text)}" if text.strip() else ""
        raise ModelError(
            "malformed",
            f"{named} reply is no verdict: {reason}{began}",
            usage=usage,
            transient=not truncated,  # a retry has the same limit
        ) from None


def _parse_only_object(text: str, prose: bool) -> Any:
    if len(text) > MAX_TEXT:
        raise MalformedError(f"it is longer than {MAX_TEXT} characters")
    body = text.strip()
    if not body:
        raise MalformedError("it is empty")
    if body.startswith("```") and (fenced := FENCE.fullmatch(body)) is not None:
        body = fenced[1].strip()
    elif prose:
        return _find_in_prose(body)
    value, end = _parse_object_at(body, 0)
    if end != len(body):
        raise MalformedError("it goes on after its JSON object")
    return value


def _find_in_prose(text: str) -> Any:
    """Return the only object in prose. A broken object is refused, not skipped: it may be the
    verdict, and a later object a quotation."""
    found: list[Any] = []
    at = OBJECT_START.search(text)
    while at is not None:
        value, end = _parse_object_at(text, at.start())
        found.append(value)
        if len(found) > 1:
            raise MalformedError("it has more than one JSON object")
        at = OBJECT_START.search(text, end)
    if not found:
        raise MalformedError("it has no JSON object")
    return found[0]


def _parse_object_at(text: str, start: int) -> tuple[Any, int]:
    if not text.startswith("{", start):
        raise MalformedError("it is not one JSON object and nothing else")
    try:
        return STRICT_DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise MalformedError(f"it is not JSON: {error.msg} at character {error.pos}") from None


def _check_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = next(
            name for name, times in Counter(name for name, _ in pairs).items() if times > 1
        )
        raise MalformedError(f"the key {twice[:40]!r} occurs more than once")
    return value


def _parse_number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise MalformedError(f"{text[:40]} is not a finite number")
    return number


def _parse_integer(text: str) -> int:
    if len(text) > 400:
        raise MalformedError("a number of more than 400 digits")
    return int(text)


def _refuse_constant(word: str) -> NoReturn:
    raise MalformedError(f"{word} is not JSON")


def quote_beginning(text: str) -> str:
    """Return the beginning of a reply for a message, with escapes for what cannot be printed."""
    return repr(text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}...")


#: A JSON decoder that refuses each of these.
STRICT_DECODER = json.JSONDecoder(
    object_pairs_hook=_check_keys,
    parse_float=_parse_number,
    parse_int=_parse_integer,
    parse_constant=_refuse_constant,
)
