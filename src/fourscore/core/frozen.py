"""JSON values that cannot be changed, and their digests.

Every value in a Case or a Trace passes through `freeze`: it refuses what JSON cannot represent
(NaN, infinities, keys that are not text, other objects) and returns dictionaries and lists that
raise on every attempt to change them, so that no judge can change the case that others read. They
still are `dict` and `list`, so equality, `isinstance` and encoding work.
"""

import hashlib
from collections.abc import Iterable, Mapping
from math import isfinite
from types import UnionType
from typing import Any, Never

import msgspec
from msgspec.structs import force_setattr

#: Deeper nesting is refused: it is an attack on the recursion limit, not data.
MAX_DEPTH = 100
#: Python refuses to print integers beyond 4,300 digits; this keeps below that limit.
MAX_INT_BITS = 14_000


def _refuse_change(*_: object, **__: object) -> Never:
    raise TypeError("this value is frozen: cases and traces cannot be changed; change a copy")


class FrozenDict(dict[str, Any]):
    """A dictionary that refuses to change."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse_change
    clear = pop = popitem = setdefault = update = _refuse_change

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenDict, (dict(self),))


class FrozenList(list[Any]):
    """A list that refuses to change."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse_change
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse_change

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[object, ...]:
        return (FrozenList, (list(self),))


EMPTY = FrozenDict()


class _TooDeepError(ValueError):
    """A value nested so deeply that an error should not print its path."""


def freeze(value: Any, depth: int = 0) -> Any:
    """Return a frozen copy of a JSON value; raise `ValueError` where JSON cannot represent it."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else replace_surrogates(value)
    if kind is FrozenDict or kind is FrozenList or value is None or kind is bool:
        return value
    if kind is int:
        if value.bit_length() > MAX_INT_BITS:
            raise ValueError("an integer of more than 4,000 digits is refused")
        return value
    if kind is float:
        if not isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        return value
    if depth >= MAX_DEPTH:
        raise _TooDeepError(f"nested more than {MAX_DEPTH} deep")
    if kind is dict or isinstance(value, Mapping):
        for key, item in value.items():
            if (
                type(key) is not str
                or type(item) is not str
                or not (key.isascii() and item.isascii())
            ):
                break
        else:
            return FrozenDict(value)  # all values are plain text, as in most metadata
        return FrozenDict({_check_key(key): freeze(item, depth + 1) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return FrozenList([freeze(item, depth + 1) for item in value])
    if isinstance(value, str):
        return freeze(str.__str__(value))  # an enum's value, not its name
    if isinstance(value, int | float):  # numpy.float64, IntEnum
        return freeze(int(value) if isinstance(value, int) else float(value))
    raise ValueError(f"{kind.__name__} is not a JSON value")


def freeze_field(field: str, value: Any, kind: type | None = None) -> Any:
    """Return the frozen value of a field; errors name the field and the expected type."""
    if kind is not None and not isinstance(value, kind):
        raise ValueError(f"{field}: expected an object, got {type(value).__name__}")
    try:
        return freeze(value)
    except _TooDeepError as error:
        raise ValueError(f"{field}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{field}{_find_refused_path(value)}: {error}") from None


def _find_refused_path(value: Any) -> str:
    """Return the path inside a value to the part that `freeze` refuses."""
    pairs: Iterable[tuple[str, Any]] = ()
    if isinstance(value, Mapping):
        pairs = ((f".{key}", item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        pairs = ((f"[{position}]", item) for position, item in enumerate(value))
    for step, item in pairs:
        try:
            freeze(item)
        except ValueError:
            return step + _find_refused_path(item)
    return ""


def _check_key(key: object) -> str:
    if not isinstance(key, str):
        raise ValueError(f"the key {key!r} is not text")
    return key if key.isascii() else replace_surrogates(key)


def thaw(value: Any) -> Any:
    """Return a copy of a frozen value that can be changed."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list):
        return [thaw(item) for item in value]
    return value


def clean_fields(value: msgspec.Struct, *fields: str) -> None:
    """Replace surrogates in text fields in `__post_init__`; refuse values that are not text."""
    for field in fields:
        text = getattr(value, field)
        if type(text) is str:
            if not text.isascii():
                force_setattr(value, field, replace_surrogates(text))
        elif isinstance(text, str):
            force_setattr(value, field, replace_surrogates(str.__str__(text)))
        elif text is not None:
            raise ValueError(f"{field}: expected text, got {type(text).__name__}")


def check_tuple(value: msgspec.Struct, field: str, kind: type | UnionType) -> None:
    """Make a field a tuple in `__post_init__`; refuse items that are not of `kind`."""
    items = getattr(value, field)
    if type(items) is not tuple:
        if not isinstance(items, list):
            raise ValueError(f"{field}: expected a list, got {type(items).__name__}")
        force_setattr(value, field, tuple(items))
    for item in items:
        if not isinstance(item, kind):
            raise ValueError(f"{field}: an item has the wrong type {type(item).__name__}")


def replace_surrogates(text: str) -> str:
    """Return text that UTF-8 can encode: a lone surrogate becomes U+FFFD, a pair its character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def digest(value: Any, size: int = 16) -> str:
    """Return the digest of a JSON value: key order does not matter, 1 and 1.0 differ."""
    encoded = msgspec.json.encode(value, order="sorted")
    return hashlib.blake2b(encoded, digest_size=size).hexdigest()
