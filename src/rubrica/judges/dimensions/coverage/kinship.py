"""How near the words of an answer are to what is asked, aspect by aspect."""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from rubrica.judges.dimensions.coverage.aspects import Aspect
from rubrica.judges.dimensions.coverage.concepts import concepts, words_in
from rubrica.judges.dimensions.coverage.meaning import CLOSE, SAME_FIELD, codes, meant, middle
from rubrica.judges.dimensions.coverage.scanning import keys_in

#: How much nearness to a whole concept counts beside nearness to a word of the aspect.
_CONCEPT = 0.6
#: Words of a piece of text that count for an aspect.
_TOP = 4
#: Words and sentences that are kept.
_KEPT = 20_000
#: From which closeness a word is near to what is asked, and which share of an answer's words is.
_NEAR, _OWN = 0.3, 0.08
#: Words of an answer, and of a question with its aspects, from which that can be told.
_MANY, _KNOWN = 8, 5
#: For each aspect how near some words are.
Row = tuple[float, ...]
#: The codes of the words of an aspect, and of the concepts that it means.
_Codes = tuple[tuple[int, ...], tuple[int, ...]]
_NOTHING = frozenset[str]()


class _Kin:
    """What is near to some aspects, whatever the question."""

    def __init__(self, aspects: Sequence["_Codes"]) -> None:
        self._aspects = aspects
        self._rows: dict[str, Row] = {}
        self._near: dict[tuple[str, ...], Row] = {}
        self.known = sum(len(own) + len(wholes) for own, wholes in aspects)
        self.nothing: Row = (0.0,) * len(aspects)

    def row(self, word: str) -> Row:
        row = self._rows.get(word)
        if row is None:
            if len(self._rows) >= _KEPT:
                self._rows.clear()
            row = self._rows[word] = self._row(codes()[word])
        return row

    def _row(self, code: int) -> Row:
        row = []
        for own, wholes in self._aspects:
            near = _closest(code, own)
            if wholes:
                near = max(near, _CONCEPT * _closest(code, wholes))
            row.append(near)
        return tuple(row)

    def near(self, words: tuple[str, ...]) -> Row:
        """For each aspect how near the nearest of some words are, taken together."""
        if not words:
            return self.nothing
        near = self._near.get(words)
        if near is None:
            if len(self._near) >= _KEPT:
                self._near.clear()
            rows = zip(*map(self.row, words), strict=True)
            near = self._near[words] = tuple([sum(sorted(row)[-_TOP:]) for row in rows])
        return near


class Kinship:
    """What is near to the aspects of one case, and to its question."""

    def __init__(self, question: str, aspects: tuple[Aspect, ...]) -> None:
        self._asked = frozenset(_meant(question))
        self._codes = tuple(map(codes().__getitem__, self._asked))
        self._kin = _kin(
            tuple([_codes(a, _NOTHING if a.derived else self._asked) for a in aspects])
        )
        self._fields: dict[str, float] = {}

    def near(self, words: tuple[str, ...]) -> Row:
        """How near a sentence is; the words of the question do not count."""
        if not self._asked.isdisjoint(words):
            words = tuple([word for word in words if word not in self._asked])
        return self._kin.near(words)

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known of the words of the question."""
        return not self._codes

    def is_of_field(self, words: Iterable[str]) -> bool:
        """Whether one of some words is close to one of the question, and none of it."""
        fields = self._fields
        for word in words:
            near = fields.get(word)
            if near is None:
                near = self._field(word)
            if near > SAME_FIELD and word not in self._asked:
                return True
        return False

    def _field(self, word: str) -> float:
        if len(self._fields) >= _KEPT:
            self._fields.clear()
        near = self._fields[word] = _closest(codes()[word], self._codes)
        return near

    def is_foreign(self, words: Sequence[str]) -> bool:
        """Whether hardly any word of an answer is near to anything that was asked."""
        if len(words) < _MANY or len(self._codes) + self._kin.known < _KNOWN:
            return False
        near = sum(max(*self._kin.row(word), self._field(word)) > _NEAR for word in words)
        return near < _OWN * len(words)


def _closest(code: int, others: tuple[int, ...]) -> float:
    """How close the closest of some codes is."""
    least = len(CLOSE) - 1
    for other in others:
        bits = (code ^ other).bit_count()
        if bits < least:
            least = bits
    return CLOSE[least]


def _meant(text: str) -> tuple[str, ...]:
    lower = text.lower()
    return meant(lower, keys_in(lower))


@lru_cache(maxsize=512)
def _kin(aspects: tuple[_Codes, ...]) -> _Kin:
    return _Kin(aspects)


def _codes(aspect: Aspect, asked: frozenset[str]) -> _Codes:
    """The codes of its words, the general and the given ones only where there are no others."""
    given = asked.intersection(_meant(aspect.text)) if asked else asked
    return _of_aspect(aspect, given)


@lru_cache(maxsize=2048)
def _of_aspect(aspect: Aspect, asked: frozenset[str]) -> _Codes:
    words = _meant(aspect.text)
    new = [word for word in words if word not in asked]
    special = [word for word in new if word not in words_in("general.txt")]
    names = [concept.name for slot in aspect.slots for concept in slot.concepts]
    wholes = [whole for whole in map(_whole, names) if whole is not None]
    return tuple([codes()[word] for word in special or new or words]), tuple(wholes)


@cache
def _whole(name: str) -> int | None:
    """What the words of a concept mean together."""
    concept = concepts()[name]
    idle, known = words_in("fluff.txt"), codes()
    words: Iterable[str] = concept.ask | concept.tell
    some = [known[word] for word in words if word in known and word not in idle]
    return middle(some) if len(some) > 2 else None
