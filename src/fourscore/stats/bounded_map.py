"""`BoundedMap`: a map of at most `limit` names, the first in alphabetical order.

Tags are other people's, and a file may give every case a tag of its own. The first by name are the
same whatever order they come in, and one that ends among them was never dropped on the way.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedMap(Generic[T]):
    """Use `known[name]`, or `new(name)` where the name is missing."""

    __slots__ = ("_last", "_make", "_spare", "known", "left_out", "limit")

    def __init__(self, limit: int, make: Callable[[], T]) -> None:
        self.limit, self._make = limit, make
        self.left_out = False
        self.known: dict[str, T] = {}
        self._last: str | None = None
        self._spare = make()  # takes what nobody will read

    def new(self, name: str) -> T:
        if self._last is not None and name > self._last:
            self.left_out = True
            return self._spare
        thing = self.known[name] = self._make()
        if len(self.known) > 2 * self.limit:
            self._trim()
        return thing

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
