"""A text made ready to be asked of: what each sentence speaks of, and where its figures stand.

It is kept for the last few texts, so that all claims of a case ask the same reading.
"""

from collections.abc import Sequence
from functools import lru_cache

from rubrica.judges.text.amount import Kind, Quantity
from rubrica.judges.text.gist import FIGURE, gists_of
from rubrica.judges.text.quantities import amounts
from rubrica.judges.text.sentences import Sentence

#: Spaces in a line that is nothing but an address and its mark.
_ENTRY = 2
_NONE: frozenset[str] = frozenset()


class Told:
    """The sentences of a text, their gists, and all its quantities with their sentence."""

    __slots__ = ("_kinds", "before", "gists", "passages", "quantities")

    def __init__(self, passages: Sequence[Sentence]) -> None:
        self.passages = passages
        ask = gists_of(max([len(text) for text, _, _ in passages], default=0))
        self.gists = [
            _NONE if "://" in text and _is_entry(text) else ask(text) for text, _, _ in passages
        ]
        #: The gist of the sentence before each, for what `it` is; a question tells nothing.
        self.before = [
            _NONE,
            *[
                _NONE if text[-1] in "?？" else found
                for (text, _, _), found in zip(passages, self.gists, strict=True)
            ],
        ]
        self.quantities: list[tuple[int, Quantity]] = [
            (index, amount)
            for index, found in enumerate(self.gists)
            if FIGURE in found
            for amount in amounts(passages[index].text)
        ]
        self._kinds: dict[Kind, list[tuple[int, Quantity]]] = {"number": self.quantities}

    def of_kind(self, kind: Kind) -> list[tuple[int, Quantity]]:
        """The quantities that one of this kind may be compared with: plain numbers with any."""
        found = self._kinds.get(kind)
        if found is None:
            both = (kind, "number")
            found = [each for each in self.quantities if each[1].kind in both]
            self._kinds[kind] = found
        return found


def _is_entry(text: str) -> bool:
    """Whether an address is all there is: an entry of a list of sources, which tells nothing."""
    return text.count(" ") <= _ENTRY


def told(passages: Sequence[Sentence]) -> Told:
    """The passages made ready."""
    return _told(tuple(passages))


@lru_cache(maxsize=16)
def _told(passages: tuple[Sentence, ...]) -> Told:
    return Told(passages)
