"""Regular expressions that take linear time, whatever text they are given.

`google-re2` is used where it is installed: it never backs up, and it looks for two hundred
alternatives at once about a hundred times faster than `re`. Where it is missing, `re` reads the
same expressions: slower, and the lists hold nothing that it could be made to back up over without
a bound.
"""

import importlib
import re
from functools import cache
from typing import Any, Protocol

from rubrica.judges.fitness.detectors.lists import sections


class Found(Protocol):
    """What a search gives."""

    def start(self) -> int: ...
    def end(self) -> int: ...
    def group(self) -> Any: ...


class Pattern(Protocol):
    """A compiled expression of either engine."""

    def search(self, text: Any, pos: int = 0, /) -> Found | None: ...


@cache
def pattern(lists: str, *names: str) -> Pattern:
    """One expression for all lines of the named sections of a list: any case, `^` at each line."""
    lines = [line for name in names for line in sections(lists)[name]]
    return compiled("(?im)" + "|".join(f"(?:{line})" for line in lines))


def is_fast() -> bool:
    """Whether expressions are read by `google-re2`; it searches texts and their bytes alike."""
    return _re2() is not None


@cache
def _re2() -> Any:
    try:
        return importlib.import_module("re2")
    except ImportError:
        return None


@cache
def compiled(expression: str) -> Pattern:
    re2 = _re2()
    if re2 is None:
        return re.compile(expression)
    options = re2.Options()
    options.max_mem = 64 << 20
    options.log_errors = False
    found: Pattern = re2.compile(expression, options)
    return found
