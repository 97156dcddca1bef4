"""Which way a text leans: up or down, in all the words that the list of ideas has for a change."""

import re
from functools import cache, lru_cache

from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.word import Ideas, word_of
from rubrica.judges.text.words import fold

#: Of the ideas with two sides the one whose words hardly ever mean anything else.
_CHANGE = "@increase"
#: What gets better may rise or fall.
_WORTH = "@better"
_LETTERS = re.compile(r"[A-Za-z]+")


def leaning(text: str) -> int:
    """1 where something rises, -1 where it falls; 0 where neither or both are told."""
    return sum(sides(text))


@lru_cache(maxsize=512)
def sides(text: str) -> frozenset[int]:
    """The sides that are told: 1, -1, both or none."""
    folded = fold(text)
    found = frozenset(map(_side, _LETTERS.findall(folded)))
    if not folded.isascii():
        known = _han_sides()
        found |= {known[word] for word in _han_pattern().findall(folded)}
    return found - {0}


@lru_cache(maxsize=16384)
def _side(word: str) -> int:
    return _told(word_of(word).inner)  # Mount Kenya does not rise


def _told(ideas: Ideas) -> int:
    sides = dict(ideas)
    return 0 if _WORTH in sides else sides.get(_CHANGE, 0)


@cache
def _han_sides() -> dict[str, int]:
    """The Chinese words of the idea; 高于 and 低于 compare, and either may stand first."""
    return {
        word: side
        for word, ideas in lexicon().words.items()
        if not word.isascii() and word[-1] != "于" and (side := _told(ideas))
    }


@cache
def _han_pattern() -> re.Pattern[str]:
    return re.compile("|".join(sorted(_han_sides(), key=len, reverse=True)))
