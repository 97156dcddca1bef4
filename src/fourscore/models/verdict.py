"""A verdict out of a reply: exactly one JSON object that fits the schema, or a `ModelError`.

A judge's model has read what an agent wrote, and the agent would like to choose the verdict. So
nothing is guessed here: no key twice (which of the two would count?), no second object, no text
around it except where the endpoint has no better way, no NaN, no cut-off end, no mending.
"""

import json
import re
from math import isfinite
from typing import Any, NoReturn

from fourscore.core import Usage, freeze
from fourscore.models.messages import ModelError
from fourscore.models.schema import mismatch

#: A verdict is short; a longer reply is not read.
MAX_TEXT = 1 << 20
FENCE = re.compile(r"```[A-Za-z]*[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
#: What begins an object and not a set, a formula or a template in prose.
OBJECT = re.compile(r'\{\s*["}]')
QUOTED = 120


class MalformedError(ValueError):
    """Why a reply is not a verdict."""


def verdict(
    text: str,
    schema: dict[str, Any],
    *,
    prose: bool = False,
    truncated: bool = False,
    usage: Usage | None = None,
) -> Any:
    """The object in the reply, frozen; `prose` allows text around it.

    Of a truncated reply even a whole object is refused: what was cut off may have been a second.
    """
    try:
        if truncated:
            raise MalformedError("the reply was cut off at its token limit")
        value = _one(text, prose)
        why = mismatch(value, schema)
        if why is not None:
            raise MalformedError(why)
        return freeze(value)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise ModelError(
            "malformed",
            f"{reason}; the reply: {_quoted(text)}",
            usage=usage,
            transient=not truncated,  # the limit will be the same the next time
        ) from None


def _one(text: str, prose: bool) -> Any:
    if len(text) > MAX_TEXT:
        raise MalformedError(f"the reply is longer than {MAX_TEXT} characters")
    body = text.strip()
    if not body:
        raise MalformedError("the reply is empty")
    if body.startswith("```") and (fenced := FENCE.fullmatch(body)) is not None:
        body = fenced[1].strip()
    elif prose:
        return _found(body)
    value, end = _object_at(body, 0)
    if end != len(body):
        raise MalformedError("there is more than one JSON object")
    return value


def _found(text: str) -> Any:
    """The only object in prose. What begins like one and is none is refused, not passed over: it
    may be the verdict, broken, and what comes later a quotation."""
    found: list[Any] = []
    at = OBJECT.search(text)
    while at is not None:
        value, end = _object_at(text, at.start())
        found.append(value)
        if len(found) > 1:
            raise MalformedError("there is more than one JSON object")
        at = OBJECT.search(text, end)
    if not found:
        raise MalformedError("there is no JSON object")
    return found[0]


def _object_at(text: str, start: int) -> tuple[Any, int]:
    if not text.startswith("{", start):
        raise MalformedError("expected one JSON object and nothing else")
    try:
        return STRICT.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise MalformedError(f"not JSON: {error.msg} at character {error.pos}") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise MalformedError(f"the key {twice[:40]!r} is there more than once")
    return value


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise MalformedError(f"{text[:40]} is not a finite number")
    return number


def _whole(text: str) -> int:
    if len(text) > 400:
        raise MalformedError("a number of more than 400 digits")
    return int(text)


def _constant(word: str) -> NoReturn:
    raise MalformedError(f"{word} is not JSON")


def _quoted(text: str) -> str:
    return repr(text if len(text) <= QUOTED else f"{text[:QUOTED]}...")


#: A decoder that takes each of these for an error.
STRICT = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_float=_number, parse_int=_whole, parse_constant=_constant
)
