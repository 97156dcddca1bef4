"""Passages in a row, and which of them have a word: only those need to be looked at."""

from collections.abc import Sequence
from functools import lru_cache

from rubrica.judges.citing.passages import Passage, passage_of, share, weight
from rubrica.judges.text.sentences import sentences

#: Sentences of a source that are read one by one.
_MOST = 300
#: So many passages are looked at one by one.
_FEW = 3
#: So that no rounding hides a place.
_SLACK = 0.999


class Shelf:
    """Passages by place, and of each term its weight and places."""

    __slots__ = ("_places", "_terms", "passages")

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self._places: dict[str, tuple[int, list[int]]] | None = None
        self._terms: frozenset[str] = frozenset()

    def _indexed(self) -> dict[str, tuple[int, list[int]]]:
        places: dict[str, tuple[int, list[int]]] = {}
        for place, passage in enumerate(self.passages):
            for term in passage.terms:
                if term in places:
                    places[term][1].append(place)
                else:
                    places[term] = (weight(term), [place])
        return places

    def shares(self, mine: Passage, least: float = 0.0) -> list[tuple[int, float]]:
        """Places in order with the share of the words of `mine` that they have, at least `least`.

        A place without any of them is never among them.
        """
        if len(self.passages) <= _FEW:
            several = [share(mine, each) for each in self.passages]
            return [(at, found) for at, found in enumerate(several) if found and found >= least]
        if not self._terms:
            self._terms = frozenset().union(*[passage.terms for passage in self.passages])
        shared = mine.terms & self._terms
        if not shared:
            return []
        whole = mine.weight
        if sum(map(weight, shared)) < least * whole * _SLACK:
            return []
        if self._places is None:
            self._places = self._indexed()
        held: dict[int, int] = {}
        for term in shared:
            value, places = self._places[term]
            for place in places:
                held[place] = held.get(place, 0) + value
        return [(place, found) for place in sorted(held) if (found := held[place] / whole) >= least]


@lru_cache(maxsize=64)
def sentences_of(source: str) -> Shelf:
    """The sentences of one source."""
    return Shelf([passage_of(sentence.text) for sentence in sentences(source)[:_MOST]])
