"""JSON values without what makes no difference, and their digests.

Two values are the same when only the order of keys, 1 against 1.0, white space, nulls or JSON
written as text tell them apart.
"""

import hashlib
from typing import Any

import msgspec

from rubrica.judges.dimensions.calling.natures import words

#: Beyond this many characters only the order of keys is evened out.
LONG = 100_000
#: Characters of a result that is unfolded where it is JSON written as text.
SHORT = 2_000
#: Bytes that are their own digest, and what any other begins with: no text in UTF-8 does.
BARE, HASHED = 128, b"\xff"
#: Structures in JSON written as text are unfolded down to this depth.
DEEP = 100


def even(value: Any, depth: int = 0) -> Any:
    """The value without what makes no difference."""
    if isinstance(value, dict) and depth < DEEP:
        return {
            k.strip(): _even_text(v, depth + 1) if type(v) is str else even(v, depth + 1)
            for k, v in value.items()
            if v is not None
        }
    if isinstance(value, str):
        return _even_text(value, depth)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, list) and depth < DEEP:
        return [even(item, depth + 1) for item in value]
    return value


def _even_text(text: str, depth: int) -> Any:
    if len(text) > LONG:
        return text
    text = " ".join(text.split())
    if text[:1] in ("{", "[") and text[-1:] in ("}", "]") and depth < DEEP:
        found = _unfolded(text)
        return text if found is text else even(found, depth + 1)
    return text


def _unfolded(text: str) -> Any:
    """The JSON that is written in a text, else the text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return text


def told(result: Any) -> Any:
    """What a result tells, without the time of day and the number of the request.

    Tools write alike each time, so results are not evened out; JSON as text is read where short.
    """
    if isinstance(result, str) and len(result) <= SHORT:
        result = " ".join(result.split())
        result = _unfolded(result) if result[:1] == "{" else result
    if isinstance(result, dict) and not words("volatile").isdisjoint(map(str.lower, result)):
        return {k: v for k, v in result.items() if k.lower() not in words("volatile")}
    return result


#: A value in JSON. One encoder for all: to make one takes longer than to use it.
encode = msgspec.json.Encoder(order="sorted").encode


def digest(encoded: bytes) -> bytes:
    # Valid UTF-8 of 16 bytes could be made to pass for a digest: the mark keeps the two apart.
    if len(encoded) <= BARE:
        return encoded
    return HASHED + hashlib.blake2b(encoded, digest_size=16).digest()
