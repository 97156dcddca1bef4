"""Passages in a row, and which of them have a word: only those need to be looked at."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from rubrica.judges.citing.passages import Passage, passage_of, weight
from rubrica.judges.text.sentences import sentences

#: Sentences of a source that are read one by one.
_MOST = 300
#: So many passages are looked at one by one.
_FEW = 12
#: So that no rounding hides a place.
_SLACK = 0.999
_NONE: frozenset[str] = frozenset()


class Shelf:
    """Passages by place, and of each term its weight and places."""

    __slots__ = ("_places", "passages", "terms")

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self.terms = _NONE.union(*[passage.terms for passage in passages])
        self._places: dict[str, tuple[int, list[int]]] | None = None

    def _indexed(self) -> dict[str, tuple[int, list[int]]]:
        places: dict[str, tuple[int, list[int]]] = {}
        for place, passage in enumerate(self.passages):
            for term in passage.terms:
                if term in places:
                    places[term][1].append(place)
                else:
                    places[term] = (weight(term), [place])
        return places

    def shares(self, mine: Passage, least: float = 0.0) -> Iterable[tuple[int, float]]:
        """Places in order with the share of the words of `mine` that they have, at least `least`.

        A place without any of them is never among them. Few ask for more than the first.
        """
        shared = mine.terms & self.terms
        if not shared:
            return ()
        whole = mine.weight
        if sum(map(weight, shared)) < least * whole * _SLACK:
            return ()
        if len(self.passages) <= _FEW:
            return self._one_by_one(shared, whole, least)
        return self._all(shared, whole, least)

    def _one_by_one(
        self, shared: frozenset[str], whole: int, least: float
    ) -> Iterator[tuple[int, float]]:
        for place, each in enumerate(self.passages):
            held = shared & each.terms
            if held and (found := sum(map(weight, held)) / whole) >= least:
                yield place, found

    def _all(self, shared: frozenset[str], whole: int, least: float) -> list[tuple[int, float]]:
        places = self._places
        if places is None:
            places = self._places = self._indexed()
        held = [0] * len(self.passages)
        for term in shared:
            value, where = places[term]
            for place in where:
                held[place] += value
        enough = max(1, least * whole * _SLACK)
        return [
            (place, found)
            for place, value in enumerate(held)
            if value >= enough and (found := value / whole) >= least
        ]


@lru_cache(maxsize=64)
def sentences_of(source: str) -> Shelf:
    """The sentences of one source."""
    return Shelf([passage_of(sentence.text) for sentence in sentences(source)[:_MOST]])
