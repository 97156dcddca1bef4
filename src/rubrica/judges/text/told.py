"""A text made ready to be asked of: what each sentence speaks of, and where its figures stand.

It is kept for the last few texts, so that all claims of a case ask the same reading.
"""

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter

from rubrica.judges.text.amount import Kind, Quantity
from rubrica.judges.text.gist import FIGURE, gist
from rubrica.judges.text.quantities import amounts
from rubrica.judges.text.sentences import Sentence
from rubrica.judges.text.words import LONGEST_KEPT

_NONE: frozenset[str] = frozenset()
#: A quantity, and the sentence that it stands in.
Placed = tuple[int, Quantity]


class Told:
    """The sentences of a text, their gists when asked for, and all its quantities with their
    sentence.
    """

    __slots__ = ("_all", "_gists", "_kinds", "passages", "quantities")

    def __init__(self, passages: Sequence[Sentence]) -> None:
        self.passages = passages
        self._gists: dict[int, frozenset[str]] = {}
        self._all: list[frozenset[str]] = []
        texts = list(map(itemgetter(0), passages))
        short = max(map(len, texts), default=0) <= LONGEST_KEPT
        self.quantities: list[Placed] = [
            (index, amount)
            for index, found in enumerate(map(_figures if short else _figures.__wrapped__, texts))
            if found
            for amount in found
        ]
        self._kinds: dict[Kind, list[Placed]] = {"number": self.quantities}

    @property
    def gists(self) -> list[frozenset[str]]:
        """What each sentence speaks of."""
        if not self._all:
            self._all = [self.gist(index) for index in range(len(self.passages))]
        return self._all

    def gist(self, index: int) -> frozenset[str]:
        """What a sentence speaks of."""
        found = self._gists.get(index)
        if found is None:
            found = self._gists[index] = gist(self.passages[index].text)
        return found

    def before(self, index: int) -> frozenset[str]:
        """The gist of the sentence before, for what `it` is; a question tells nothing."""
        if not index or self.passages[index - 1].text[-1] in "?？":
            return _NONE
        return self.gist(index - 1)

    def of_kind(self, kind: Kind) -> list[Placed]:
        """The quantities that one of this kind may be compared with: plain numbers with any."""
        found = self._kinds.get(kind)
        if found is None:
            both = (kind, "number")
            found = [each for each in self.quantities if each[1].kind in both]
            self._kinds[kind] = found
        return found


@lru_cache(maxsize=1024)
def _figures(text: str) -> tuple[Quantity, ...]:
    """The quantities of a sentence; none of an address. Most have none and need no gist."""
    if "://" in text and FIGURE not in gist(text):
        return ()
    found = amounts(text)
    return found if found and FIGURE in gist(text) else ()


def told(passages: Sequence[Sentence]) -> Told:
    """The passages made ready."""
    return _told(tuple(passages))


@lru_cache(maxsize=16)
def _told(passages: tuple[Sentence, ...]) -> Told:
    return Told(passages)
