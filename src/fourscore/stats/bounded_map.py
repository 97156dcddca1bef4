"""`BoundedMap`: a map of at most `limit` names, the first in alphabetical order.

Users choose the tags, and a file may give every case its own tag, so memory needs a limit. The
first names do not depend on the order of arrival, and a name that is kept has all of its values.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedMap(Generic[T]):
    """A map of the first names: read `known[name]`, call `new(name)` where the name is missing."""

    __slots__ = ("_last", "_make", "_spare", "known", "left_out", "limit")

    def __init__(self, limit: int, make: Callable[[], T]) -> None:
        self.limit, self._make = limit, make
        self.left_out = False
        self.known: dict[str, T] = {}
        self._last: str | None = None
        self._spare = make()  # receives the values of names that are not kept

    def new(self, name: str) -> T:
        """Return a new value for the name; a shared dummy where the name comes after the limit."""
        if self._last is not None and name > self._last:
            self.left_out = True
            return self._spare
        value = self.known[name] = self._make()
        if len(self.known) > 2 * self.limit:
            self._trim()
        return value

    def items(self) -> dict[str, T]:
        """Return the items, sorted by name."""
        self._trim()
        return dict(self.known)

    def _trim(self) -> None:
        names = sorted(self.known)
        if len(names) > self.limit:
            self.left_out = True
            del names[self.limit :]
        if names and len(names) == self.limit:
            self._last = names[-1]
        self.known = {name: self.known[name] for name in names}
