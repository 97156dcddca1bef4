"""A text made ready to be asked of: what each sentence speaks of, and where its figures stand.

It is kept for the last few texts, so that all claims of a case ask the same reading.
"""

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter

from rubrica.judges.text.gist import FIGURE, gist, is_entry
from rubrica.judges.text.ledger import Family, Ledger, ledger
from rubrica.judges.text.quantities import amounts
from rubrica.judges.text.sentences import Sentence
from rubrica.judges.text.words import LONGEST_KEPT

_NONE: frozenset[str] = frozenset()
#: The number of a sentence, and its quantities.
Placed = tuple[int, Ledger]


class Told:
    """The sentences of a text, their gists when asked for, and the quantities of those that have
    any.
    """

    __slots__ = ("_all", "_families", "_gists", "_has", "_rows", "passages", "quantities")

    def __init__(self, passages: Sequence[Sentence]) -> None:
        self.passages = passages
        self._gists: dict[int, frozenset[str]] = {}
        self._all: list[frozenset[str]] = []
        self._has: dict[frozenset[str], bool] = {}
        texts = list(map(itemgetter(0), passages))
        short = max(map(len, texts), default=0) <= LONGEST_KEPT
        self.quantities: list[Placed] = [
            (index, found)
            for index, found in enumerate(map(_figures if short else _figures.__wrapped__, texts))
            if found is not None
        ]
        self._families: dict[Family, list[Placed]] | None = None
        self._rows: list[Placed] = []

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

    def has(self, terms: frozenset[str]) -> bool:
        """Whether any sentence has one of these, or a word that begins with one."""
        found = self._has.get(terms)
        if found is None:
            starts = tuple(terms)
            found = any(term.startswith(starts) for gist in self.gists for term in gist)
            self._has[terms] = found
        return found

    def before(self, index: int) -> frozenset[str]:
        """The gist of the sentence before, for what `it` is; a question tells nothing."""
        if not index or self.passages[index - 1].text[-1] in "?？":
            return _NONE
        return self.gist(index - 1)

    def figured(self, name: Family) -> list[Placed]:
        """The sentences with a quantity of a family; and the rows of tables, where a number stands
        without its unit.
        """
        if self._families is None:
            self._families, self._rows = _parted(self.quantities, self.passages)
        return self._families.get(name, self._rows)


def _parted(
    placed: list[Placed], passages: Sequence[Sentence]
) -> tuple[dict[Family, list[Placed]], list[Placed]]:
    families: dict[Family, list[Placed]] = {}
    for each in placed:
        for name in each[1].families:
            families.setdefault(name, []).append(each)
    rows = [each for each in placed if passages[each[0]].text[0] == "|"]
    if rows:
        families = {name: sorted(dict(each + rows).items()) for name, each in families.items()}
    return families, rows


@lru_cache(maxsize=1024)
def _figures(text: str) -> Ledger | None:
    """The quantities of a sentence; none of an address. Most have none and need no gist."""
    found = () if is_entry(text) else amounts(text)
    return ledger(found) if found and FIGURE in gist(text) else None


def told(passages: Sequence[Sentence]) -> Told:
    """The passages made ready."""
    return _told(tuple(passages))


@lru_cache(maxsize=16)
def _told(passages: tuple[Sentence, ...]) -> Told:
    return Told(passages)
