"""Passages in a row, and which of them have a word: only those need to be looked at."""

from collections.abc import Sequence
from functools import lru_cache

from rubrica.judges.citing.passages import Passage, passage_of, share, weight
from rubrica.judges.text.sentences import sentences

#: Sentences of a source that are read one by one.
_MOST = 300
#: So many passages are looked at one by one.
_FEW = 3


class Shelf:
    """Passages by place, and the places of each term."""

    __slots__ = ("_places", "passages")

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self._places: dict[str, list[int]] | None = None

    def _indexed(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, passage in enumerate(self.passages):
            for term in passage.terms:
                if term in places:
                    places[term].append(place)
                else:
                    places[term] = [place]
        return places

    def shares(self, mine: Passage, least: float = 0.0) -> list[tuple[int, float]]:
        """Places in order with the share of the words of `mine` that they have, at least `least`.

        A place without any of them is never among them.
        """
        if len(self.passages) <= _FEW:
            several = ((place, share(mine, each)) for place, each in enumerate(self.passages))
            return [(place, found) for place, found in several if found and found >= least]
        if self._places is None:
            self._places = self._indexed()
        shared = mine.terms & self._places.keys()
        if not shared or sum(map(weight, shared)) / mine.weight < least:
            return []
        held: dict[int, int] = {}
        for term in shared:
            value = weight(term)
            for place in self._places[term]:
                held[place] = held.get(place, 0) + value
        whole = mine.weight
        return [(place, found) for place in sorted(held) if (found := held[place] / whole) >= least]


@lru_cache(maxsize=256)
def sentences_of(source: str) -> Shelf:
    """The sentences of one source."""
    return Shelf([passage_of(sentence.text) for sentence in sentences(source)[:_MOST]])
