"""Refuse JSON in which an object has a key twice: decoders silently keep the last value.

A search through every text would slow bulk readers down. So the decoded value is encoded again and
the colons are counted: a key that was dropped took its colon with it. Only where the counts differ
is the text searched for the key.
"""

import json
import re
from typing import NamedTuple

import msgspec

from fourscore.core import DataError
from fourscore.core.frozen import replace_surrogates

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()
#: Texts and the marks around them; one without an end reaches to the end of all.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*+(?:"|\Z)|[{}\[\],]', re.DOTALL)


class RepeatedKeyError(DataError):
    """A JSON text that is valid, but ambiguous."""


class RepeatedKey(NamedTuple):
    """The path of a key that its object has twice, and the position of the second one."""

    path: str
    position: int


def check_decoded(text: bytes, value: object) -> None:
    """Raise a `DataError` with line and key where an object of a decoded text has a key twice."""
    try:
        again = _ENCODER.encode(value)
    except (ValueError, RecursionError):  # it has a lone surrogate, or is very deep
        again = b""
    if not has_all_keys(text, again):
        check_json(text)


def check_undecoded(text: bytes) -> None:
    """Do the same where the text was decoded as a type, which may leave keys out."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        value = None
    check_decoded(text, value)


def are_lines_sound(lines: bytes) -> bool:
    """Return whether lines of JSON surely have no repeated key; False where they may have one."""
    try:
        return has_all_keys(lines, _ENCODER.encode_lines(_DECODER.decode_lines(lines)))
    except (ValueError, RecursionError):
        return False


def has_all_keys(text: bytes, again: bytes) -> bool:
    r"""Return whether `again`, the text after decoding and encoding, surely lacks no key.

    An escaped colon (`\u003a`) is a colon only in the second one: then the answer is no.
    """
    if text.count(b":") != again.count(b":"):
        return False
    return b"\\" not in text or b"\\u003" not in text  # the first is the faster search


def check_json(text: bytes) -> None:
    """Search a JSON text; raise a `DataError` with line and key where a key is repeated."""
    try:
        whole = text.decode()
    except UnicodeDecodeError:
        return  # in a part that nobody has decoded yet: whoever does will say so
    found = find_repeated_key(whole)
    if found is not None:
        line = whole.count("\n", 0, found.position) + 1
        raise RepeatedKeyError("the key is used twice", line=line, field=found.path)


def find_repeated_key(text: str) -> RepeatedKey | None:
    """Return the first key of a valid JSON text that its object already has, if there is one."""
    seen: list[set[str] | None] = []  # the keys of each open object; None for a list
    path: list[str | int] = []
    at_key = False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == "{":
            seen.append(set())
            path.append("")
            at_key = True
        elif mark == "[":
            seen.append(None)
            path.append(0)
            at_key = False
        elif mark in "}]":
            seen.pop()
            path.pop()
            at_key = False
        elif mark == ",":
            step = path[-1]
            at_key = isinstance(step, str)
            path[-1] = step if isinstance(step, str) else step + 1
        elif at_key and (keys := seen[-1]) is not None:
            at_key = False
            path[-1] = key = _read_key(mark)
            if key in keys:
                return RepeatedKey(_join(path), token.start())
            keys.add(key)
    return None


def _read_key(mark: str) -> str:
    try:
        return replace_surrogates(str(json.loads(mark, strict=False)))
    except ValueError:  # an escape that is not JSON, in a part that nobody has decoded yet
        return mark


def _join(path: list[str | int]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")
