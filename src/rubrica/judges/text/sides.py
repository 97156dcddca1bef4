"""Two sides of a sentence and what is said of them; the words of each, and the clause they are in.

`compared.py` finds the sides of a comparison, `ways.py` tells which way round they stand.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rubrica.judges.text.word import word_of

Terms = frozenset[str]


class Sides(NamedTuple):
    """What is said of one side against the other: words and ideas, 1 where the one has more."""

    one: Terms
    other: Terms
    said: Mapping[str, int]
    #: What the one has more of: the battery life of `a longer battery life`.
    things: Terms = frozenset()


_END = re.compile(r"[,;:()!?](?!\d)|\b(?:but|while|whereas|because|although|though)\b")
WORD = re.compile(r"[^\W_]+(?:['.+-][^\W_]+)*[+#]*")
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_LATIN = re.compile("[^\u3400-\u4dbf\u4e00-\u9fff]+")
#: Characters of a clause that are read: a page without a stop would be read once for each verb.
REACH = 1000


def clause_start(text: str, end: int) -> int:
    """Where the clause begins that goes on to here."""
    first = max(0, end - REACH)
    return max([found.end() for found in _END.finditer(text, first, end)], default=first)


def clause_rest(text: str, start: int) -> str:
    """The rest of the clause."""
    found = _END.search(text, start, start + REACH)
    return text[start : found.start() if found else start + REACH].rstrip(". ")


def apart(mine: Terms, other: Terms) -> Terms:
    """What one side has alone; single characters only where there is nothing else."""
    left = mine - other
    return whole_words(left) or left


def whole_words(terms: Terms) -> Terms:
    """The words without single Chinese characters."""
    return frozenset([term for term in terms if len(term) > 1 or term.isascii()])


@lru_cache(maxsize=1024)
def terms_of(text: str) -> Terms:
    """The words of a side: stems, figures and letters; of Chinese all characters and pairs."""
    found: set[str] = set()
    for run in _LATIN.findall(text):
        words = WORD.findall(run)
        for at, word in enumerate(words):
            known = word_of(word)
            # Plan A is a name; a plan is not, nor is it where it begins a sentence.
            if not known.stop or (word == "A" and (at or word_of(*words[1:2] or "a").stop)):
                found.add(known.term)
    for run in HAN.findall(text):
        found.update(run)
        found.update(map("".join, pairwise(run)))
    return frozenset(found)
