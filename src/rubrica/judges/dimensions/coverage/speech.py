"""How far a sentence speaks of each aspect: which it names is known at once, how far on demand.

Most answers stand under headings, and of a sentence there only one aspect is asked about.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from rubrica.judges.dimensions.coverage.shapes import SHAPES

#: What is left where one of two words is not spoken of, `deadline` in `deadline for contributing`.
_HALF = 0.87
#: What is left where nothing speaks of the very thing that is asked.
_UNASKED = 0.75
#: What a plain yes or no makes of a question that asks for one.
_YES = 0.6
_NONE = frozenset[int]()


class Sign(NamedTuple):
    """What a key or shape says: for which slot of which aspect, and how much."""

    aspect: int
    slot: int
    chance: float
    literal: bool = False
    name: bool = False


class Wanted(msgspec.Struct, frozen=True, gc=False):
    """How much each slot of an aspect counts, and the shapes that speak of it, with their slots."""

    shares: tuple[float, ...]
    shapes: tuple[tuple[str, Sign], ...]
    #: Slots without which little is left, and those that say what is asked.
    heads: tuple[int, ...]
    asking: tuple[int, ...]
    yes_no: bool


class Speech:
    """The aspects that a sentence names, if by another name (`literal`), and how far it speaks of
    each: from 0, not at all, to 1."""

    __slots__ = (
        "_forms",
        "_hits",
        "_lower",
        "_text",
        "_values",
        "_wanted",
        "again",
        "blocked",
        "literal",
        "named",
    )

    def __init__(
        self,
        text: str,
        lower: str,
        wanted: Sequence[Wanted],
        hits: Sequence[Sign],
        blocked: frozenset[int],
    ) -> None:
        self._text, self._lower = text, lower
        self._wanted, self._hits = wanted, hits
        self._values: dict[int, float] = {}
        self._forms: dict[str, bool] = {}
        self.named = self.literal = _NONE
        if hits:
            self.named = frozenset([sign.aspect for sign in hits if sign.name])
            self.literal = frozenset([sign.aspect for sign in hits if sign.literal])
        #: Aspects of which a word is there in another sense.
        self.blocked = blocked
        #: New words that a text needs which says the name of an aspect again and again.
        self.again = 0.0

    def values(self) -> list[float]:
        """How far it speaks of each aspect."""
        return [self.value(at) for at in range(len(self._wanted))]

    def value(self, at: int) -> float:
        """How far it speaks of one."""
        value = self._values.get(at)
        if value is None:
            value = self._values[at] = self._value(at, self._wanted[at])
        return value

    @property
    def answers(self) -> bool:
        """Whether it opens with a yes or a no."""
        return self._has("answer")

    def asks(self, at: int) -> bool:
        """Whether a word of an aspect asks for something of a certain form, as `who` does."""
        return bool(self._wanted[at].asking)

    def hits(self, at: int) -> bool:
        """Whether it has the form of what an aspect asks for: a date for `when`."""
        wanted = self._wanted[at]
        return any(
            (sign.slot in wanted.asking or len(wanted.shares) == 1) and self._has(shape)
            for shape, sign in wanted.shapes
        )

    def _value(self, at: int, wanted: Wanted) -> float:
        missed: dict[int, float] = {}
        for aspect, slot, chance, _, _ in self._hits:
            if aspect == at:
                missed[slot] = missed.get(slot, 1.0) * (1 - chance)
        for shape, sign in wanted.shapes:
            if self._has(shape):
                missed[sign.slot] = missed.get(sign.slot, 1.0) * (1 - sign.chance)
        value = _weighed(missed, wanted) if missed else 0.0
        return max(value, _YES) if wanted.yes_no and self.answers else value

    def _has(self, shape: str) -> bool:
        has = self._forms.get(shape)
        if has is None:
            has = self._forms[shape] = SHAPES[shape](self._text, self._lower)
        return has


def _weighed(missed: Mapping[int, float], wanted: Wanted) -> float:
    """How far all slots are spoken of, given for some how likely each is not."""
    value = 0.0
    for slot, miss in missed.items():
        value += wanted.shares[slot] * (1 - miss)
    for slot in wanted.heads:
        if slot not in missed:
            value *= _HALF
    for slot in wanted.asking:
        if slot not in missed:  # `who built it` is not told by how it was built
            value *= _UNASKED
    return value
