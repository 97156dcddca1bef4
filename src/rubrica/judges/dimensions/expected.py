"""What a case expects, in the form that the five dimensions read."""

from functools import lru_cache
from typing import Any

import msgspec

from rubrica.core import Case, CaseError
from rubrica.core.frozen import FrozenDict, thaw
from rubrica.readers.conversion import explained
from rubrica.readers.fields import Expected


def expected_of(case: Case) -> Expected:
    """`case.expected` as an object; text, numbers and lists are the reference answer."""
    value = case.expected
    if not isinstance(value, dict):
        return Expected(answer=value)
    try:
        return _converted(value) if isinstance(value, FrozenDict) else _convert(value)
    except msgspec.ValidationError as error:
        message, field = explained(error)
        raise CaseError(case.id, f"expected.{field}" if field else "expected", message) from None


def _convert(value: Any) -> Expected:
    return msgspec.convert(thaw(value), Expected)


# The dimensions of one case ask one after another.
_converted = lru_cache(maxsize=64)(_convert)
