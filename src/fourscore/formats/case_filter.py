"""Selects cases of a test set: by tag, field or expression; the first n, or a sample of n.

Cases are read as a stream. A sample is chosen by a seeded hash of the id: it does not depend on the
order of the file and is the same on every machine. A larger sample contains a smaller one, and
cases added to the file change only a few cases of the sample.
"""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from fourscore.core import Case, ConfigError
from fourscore.core.frozen import EMPTY, check_tuple, freeze_field
from fourscore.formats.filter_expression import (
    MISSING,
    compile_expression,
    get_field,
    get_item,
    is_equal,
)


class CaseFilter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, dict=True):
    """A filter for cases; every part that is given must match.

    `where` compares fields, keys of the metadata, or keys below them (`expected.answer`); a case
    without the key does not match.
    """

    tags_any: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    tags_not: tuple[str, ...] = ()
    where: dict[str, Any] = EMPTY
    expression: str | None = None

    def __post_init__(self) -> None:
        try:
            for field in ("tags_any", "tags_all", "tags_not"):
                check_tuple(self, field, str)
            force_setattr(self, "where", freeze_field("where", self.where, dict))
        except ValueError as error:
            field, _, message = str(error).partition(": ")
            raise ConfigError(message, field=field) from None
        _ = self._test  # find a mistake in the expression before the first case is read

    def matches(self, case: Case) -> bool:
        """Return whether the case matches all parts of the filter."""
        tags = case.tags
        if self.tags_any and not any(tag in tags for tag in self.tags_any):
            return False
        if not all(tag in tags for tag in self.tags_all):
            return False
        if any(tag in tags for tag in self.tags_not):
            return False
        for key, wanted in self.where.items():
            value = _at(case, key)
            if value is MISSING or not is_equal(value, wanted):
                return False
        return self._test is None or self._test(case)

    @cached_property
    def _test(self) -> Callable[[Case], bool] | None:
        return None if self.expression is None else compile_expression(self.expression)


def take_first(cases: Iterable[Case], n: int) -> Iterator[Case]:
    """Return the first n cases."""
    _check_size(n)
    return islice(cases, n)


def take_sample(cases: Iterable[Case], n: int, seed: int = 0) -> Iterator[Case]:
    """Return a random sample of n cases, in the order of the file; keeps n cases in memory."""
    _check_size(n)
    key = hashlib.blake2b(str(seed).encode()).digest()
    # The heap keeps the n smallest hashes: negated, because heapq has its smallest item on top.
    held: list[tuple[int, int, Case]] = []
    for position, case in enumerate(cases):
        drawn = hashlib.blake2b(case.id.encode(), digest_size=16, key=key).digest()
        entry = (-int.from_bytes(drawn), position, case)
        if len(held) < n:
            heapq.heappush(held, entry)
        elif held and entry > held[0]:
            heapq.heapreplace(held, entry)
    return (case for _, _, case in sorted(held, key=lambda entry: entry[1]))


def _at(case: Case, key: str) -> object:
    value = get_field(case, key)
    if value is not MISSING or "." not in key:
        return value
    name, *path = key.split(".")
    value = get_field(case, name)
    for part in path:
        value = get_item(value, part)
    return value


def _check_size(n: int) -> None:
    if n < 0:
        raise ConfigError(f"expected at least 0, got {n}")
