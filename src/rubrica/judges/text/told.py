"""A text made ready to be asked of: what each sentence speaks of, and where its figures stand.

It is kept for the last few texts, so that all claims of a case ask the same reading.
"""

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter

from rubrica.judges.text.amount import Kind, Quantity
from rubrica.judges.text.gist import FIGURE, gists_of
from rubrica.judges.text.quantities import amounts
from rubrica.judges.text.sentences import Sentence

_NONE: frozenset[str] = frozenset()


class Told:
    """The sentences of a text, their gists, and all its quantities with their sentence."""

    __slots__ = ("_kinds", "gists", "passages", "quantities")

    def __init__(self, passages: Sequence[Sentence]) -> None:
        self.passages = passages
        texts = list(map(itemgetter(0), passages))
        self.gists = list(map(gists_of(max(map(len, texts), default=0)), texts))
        self.quantities: list[tuple[int, Quantity]] = [
            (index, amount)
            for index, found in enumerate(self.gists)
            if FIGURE in found
            for amount in amounts(texts[index])
        ]
        self._kinds: dict[Kind, list[tuple[int, Quantity]]] = {"number": self.quantities}

    def before(self, index: int) -> frozenset[str]:
        """The gist of the sentence before, for what `it` is; a question tells nothing."""
        if not index or self.passages[index - 1].text[-1] in "?？":
            return _NONE
        return self.gists[index - 1]

    def of_kind(self, kind: Kind) -> list[tuple[int, Quantity]]:
        """The quantities that one of this kind may be compared with: plain numbers with any."""
        found = self._kinds.get(kind)
        if found is None:
            both = (kind, "number")
            found = [each for each in self.quantities if each[1].kind in both]
            self._kinds[kind] = found
        return found


def told(passages: Sequence[Sentence]) -> Told:
    """The passages made ready."""
    return _told(tuple(passages))


@lru_cache(maxsize=16)
def _told(passages: tuple[Sentence, ...]) -> Told:
    return Told(passages)
