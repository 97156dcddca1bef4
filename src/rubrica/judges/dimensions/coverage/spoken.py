"""A sentence as it is read for any question: its keys, its words, whether it says anything."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from operator import add

from rubrica.judges.dimensions.coverage.concepts import words_in
from rubrica.judges.dimensions.coverage.emptiness import GRAMMAR, kind_of
from rubrica.judges.dimensions.coverage.meaning import meant
from rubrica.judges.dimensions.coverage.scanning import HAN, word_key, words_of
from rubrica.judges.dimensions.coverage.slots import stop_keys
from rubrica.judges.text.words import LONGEST_KEPT

#: Pairs of characters of one run that are looked at.
_ENOUGH = 40
_NO_PAIRS: Mapping[str, str] = {}

_CONCRETE = re.compile(
    r"\d|[a-z,;] [A-Z][a-z]|[A-Z]{2}|[《`“]|\b(?:two|three|four|five|six|seven|eight|nine|ten|twice"
    r"|half|dozen|hundred|thousand)\b"
    r"|一[百千万小刻周年月天]|[二两三四五六七八九十百千万半]"
    r"[个种次克勺杯人倍层座只台位成年月天周小分元块点号岁件套张名米斤升公度秒一二三四五六七八九十百千万亿]"
    r"|\bno \w+ (?:is |are )?(?:needed|required|necessary|charged?)"
    r"|\bnot (?:needed|required|necessary)|不用|不需要?|不必|无需|免费|不收|不限"
    r"|\b(?:within|every|once|per|an?|each) (?:second|minute|hour|day|night|week|month|year)s?\b"
    r"|\b(?:hour|dai|night|week|month|year)ly\b|每[天日周月年次季晚]|[当次隔][天日]"
)


class Spoken:
    """`keys` are those of its English words; `kind` is why it says nothing."""

    __slots__ = ("_signs", "_words", "keys", "kind", "lower", "new", "new_pairs", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.lower = lower = text.lower()
        written = words_of(lower)
        self.keys = tuple(map(word_key, written))
        #: Words that are neither grammar nor praise.
        self.new = frozenset(self.keys) - _idle()[0]
        #: The same in Chinese: pairs of characters, each with the one before it.
        self.new_pairs: Mapping[str, str] = _NO_PAIRS
        if not lower.isascii():
            self.new_pairs = _new_pairs(lower)
            if not (written or self.new_pairs or HAN.search(lower)):
                self.new = frozenset(lower.split())  # a script that nobody here reads
        self.kind = kind_of(lower, written)
        self._words: tuple[str, ...] | None = None
        self._signs: frozenset[str] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Those with a meaning, looked for when they are first asked for."""
        if self._words is None:
            self._words = meant(self.lower, self.keys)
        return self._words

    @property
    def signs(self) -> frozenset[str]:
        """All characters and pairs of characters of Chinese text, the same way."""
        if self._signs is None:
            text = "" if self.lower.isascii() else self.lower
            self._signs = frozenset(text).union(map(add, text, text[1:]))
        return self._signs


def is_concrete(text: str) -> bool:
    """Whether a text has a figure, a name or a title, or says that something is not needed."""
    return _CONCRETE.search(text) is not None


def spoken(text: str) -> Spoken:
    """The reading of a sentence; short ones are kept, for several answers say the same."""
    return _kept(text) if len(text) <= LONGEST_KEPT else Spoken(text)


_kept = lru_cache(maxsize=8192)(Spoken)


@cache
def _idle() -> tuple[frozenset[str], frozenset[str]]:
    """Words of grammar, praise and announcement, and their pairs of characters."""
    idle = words_in("fluff.txt") | stop_keys()
    return idle.union("abcdefghijklmnopqrstuvwxyz"), pairs_of(idle)


def pairs_of(words: Iterable[str]) -> frozenset[str]:
    """The pairs of characters of Chinese words."""
    chinese = (word for word in words if len(word) > 1 and not word.isascii() and HAN.match(word))
    return frozenset([pair for word in chinese for pair in map(add, word, word[1:])])


def _new_pairs(lower: str) -> dict[str, str]:
    """Pairs of characters that are neither grammar nor praise, nor stand behind such a pair."""
    _, known = _idle()
    found: dict[str, str] = {}
    for run in HAN.findall(lower):
        before, behind_new = "", True
        # The last character stands by itself.
        for sign, pair in zip(run[:_ENOUGH], [*map(add, run, run[1:]), run[-1]], strict=False):
            is_new = pair not in known
            if is_new and behind_new and sign not in GRAMMAR and pair not in found:
                found[pair] = before
            before, behind_new = pair, is_new
    return found
