"""One tool call as the rules see it: what was asked, what came of it, and whether it failed.

Calls are compared by digests of their arguments and results, whatever the size of these.
"""

import re
from functools import cache, lru_cache
from itertools import islice
from typing import Any

import msgspec

from rubrica.core import ToolCall
from rubrica.judges.dimensions.calling.failures import (
    HEAD,
    Failure,
    error_in,
    error_text,
    failure_of,
    is_empty,
)
from rubrica.judges.dimensions.calling.natures import Nature, listed, nature_of, words
from rubrica.judges.dimensions.calling.plain import HASHED, LONG, SHORT, digest, encode, even, told

#: Values of one call that are compared with what was written, and characters of each.
VALUES, VALUE = 50, 200

_QUOTED = re.compile(r'"(-?\d+(?:\.\d+)?)"')
#: Words and, for scripts without spaces, pairs of characters.
_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class Call(msgspec.Struct, frozen=True, gc=False):
    """What the rules know of a call. `step` is its index in the trace's steps."""

    step: int
    name: str
    key: bytes
    result: bytes
    failure: Failure
    nature: Nature
    #: Nothing was recorded of what came of it.
    mute: bool
    #: It found nothing.
    empty: bool
    #: The result in JSON where it is short.
    said: bytes
    plain: Any

    @property
    def pending(self) -> bool:
        """Whether it says that something is not done yet."""
        text = self.said.decode().lower()
        return not self.failure and _pending().search(text) is not None


class _Outcome(msgspec.Struct, frozen=True, gc=False):
    """What a result tells by itself."""

    failure: Failure
    digest: bytes
    said: bytes
    empty: bool


def call_of(step: int, call: ToolCall, writes: frozenset[str] = frozenset()) -> Call:
    plain = even(call.arguments)
    name = call.name.strip()
    result = call.result
    bare = call.error is None and not call.exit_code
    mute = bare and result is None and call.exit_code is None
    if bare and type(result) is str and len(result) <= SHORT:
        came = _of_text(result)
    else:
        came = _outcome(result, error_text(call), call.error or "")
    return Call(
        step,
        name,
        digest(name.encode() + b"\0" + encode(plain)),
        came.digest,
        came.failure,
        nature_of(name, plain, writes),
        mute,
        came.empty and not mute,
        came.said,
        plain,
    )


def _outcome(result: Any, said: str | None, error: str) -> _Outcome:
    """`said` is what the error says that the call or its result tells of."""
    failure = failure_of(said)
    encoded = encode(told(result))
    return _Outcome(
        failure,
        digest(encoded + error[:HEAD].encode()),
        encoded if len(encoded) < HEAD else b"",
        not failure and is_empty(result),
    )


@lru_cache(maxsize=1024)
def _of_text(result: str) -> _Outcome:
    """Pages are opened again, and by other attempts at the same case."""
    return _outcome(result, error_in(result), "")


@cache
def _pending() -> "re.Pattern[str]":
    return re.compile("|".join(map(re.escape, listed("pending"))))


def respelt(call: Call) -> bytes:
    """What was asked of a tool, whatever its capitals and the quotes around its numbers."""
    key = call.key
    asked = encode(call.plain)[:LONG] if key.startswith(HASHED) else key.partition(b"\0")[2]
    text = asked.decode("utf-8", "ignore").casefold()
    if _QUOTED.search(text):
        text = _QUOTED.sub(r"\1", text)
    return digest(text.encode())


def values_of(plain: Any) -> list[str]:
    """The texts and numbers in the arguments, which tell what a call is about."""
    found: list[str] = []
    _gather(plain, found)
    return found


def _gather(plain: Any, found: list[str]) -> None:
    if len(found) >= VALUES:
        return
    if isinstance(plain, str):
        if plain:
            found.append(plain[:VALUE])
    elif isinstance(plain, dict | list):
        for item in islice(plain.values() if isinstance(plain, dict) else plain, VALUES):
            _gather(item, found)
    elif isinstance(plain, int | float) and not isinstance(plain, bool):
        found.append(str(plain))


def terms_of(plain: Any) -> tuple[frozenset[str], frozenset[str]]:
    """What a search is after: its words (in Chinese pairs of characters), and its numbers."""
    found: set[str] = set()
    numbers: set[str] = set()
    for word in _WORD.findall(" ".join(values_of(plain))[:HEAD].lower()):
        if not word.isalpha():
            numbers.add(word)
        elif _HAN.search(word):
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in words("stops"):
            found.add(word[:6].rstrip("s"))
    return frozenset(found), frozenset(numbers)
