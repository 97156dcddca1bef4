"""What a sentence speaks of, at a glance: a set of terms to tell whether it is worth reading.

It says a little too much rather than too little: word order and denial do not count, and a phrase
is taken as said where all its words are there.
"""

import re
from functools import cache, lru_cache
from itertools import chain
from operator import add
from string import punctuation

from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.quantities import NUMBER_WORDS
from rubrica.judges.text.word import word_of
from rubrica.judges.text.words import LONGEST_KEPT, fold

#: Stands in a gist for any quantity.
FIGURE = "#"
#: Stands for any word that denies or makes less sure.
DOUBT = "!"
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:['.+-][^\W_]+)*|\d+(?:[.,]\d+)*")
_VERSION = re.compile(r"v\d+\.", re.IGNORECASE)
_PART = re.compile(r"[-+./']")
_HAN = re.compile("([\u3400-\u4dbf\u4e00-\u9fff]+)")
_FALSE = frozenset(
    ("false", "untrue", "true", "myth", "misconception", "incorrect", "wrong", "case")
)
#: Words of what did not come about, and of what is only believed.
_UNREAL = frozenset(
    ("cancelled", "canceled", "blocked", "rejected", "abandoned", "scrapped", "think", "thought")
) | frozenset(("believe", "believed", "assume", "assumed"))
_UNREAL_HAN = frozenset(("取消", "叫停", "告吹", "以为"))
_OPEN = _FALSE | _UNREAL
#: Spaces in a line that is nothing but an address and its mark.
_ENTRY = 2
_DENIALS = frozenset("不没未无非别勿否难免错误谣假")
_NUMERALS = frozenset("零〇一二两三四五六七八九十半百")


def gist(text: str) -> frozenset[str]:
    """The terms and ideas of a sentence, without regard to what it says of them."""
    return _gist(text) if len(text) <= LONGEST_KEPT else frozenset(_glance(text))


@lru_cache(maxsize=1024)
def _gist(text: str) -> frozenset[str]:
    return frozenset(_glance(text))


def _glance(text: str) -> set[str]:
    if is_entry(text):
        return set()
    text = fold(text)
    plain = text.isascii() or _HAN.search(text) is None
    found = set(chain.from_iterable(map(_chunk, text.split()))) if plain else _mixed(text)
    phrases = _phrases()
    for head in found & phrases.keys():
        for stems, ideas in phrases[head]:
            if stems <= found:
                found.update(ideas)
    return found


def is_entry(text: str) -> bool:
    """Whether it is an entry of a list of sources, which tells nothing."""
    return "://" in text and text.count(" ") <= _ENTRY


def ideas_of(ideas: tuple[tuple[str, int], ...]) -> list[str]:
    return [idea for idea, _ in ideas]


@cache
def _phrases() -> dict[str, list[tuple[frozenset[str], list[str]]]]:
    """Phrases by the word of theirs that is the rarest, as far as length tells."""
    found: dict[str, list[tuple[frozenset[str], list[str]]]] = {}
    for entries in lexicon().phrases.values():
        for stems, ideas in entries:
            rarest = max(stems, key=len)
            found.setdefault(rarest, []).append((frozenset(stems), ideas_of(ideas)))
    return found


@lru_cache(maxsize=65536)
def _chunk(chunk: str) -> tuple[str, ...]:
    """The terms of what stands between two spaces."""
    if chunk.isascii() and chunk.lower() == chunk.upper():  # without a letter
        return (FIGURE,) if chunk.strip(punctuation) else ()
    found: list[str] = []
    for token in (chunk,) if len(chunk) < 20 and chunk.isalpha() else _WORD.findall(chunk[:200]):
        if token[0].isdigit():
            found.append(FIGURE)
            continue
        word = word_of(token)
        found.append(word.term)
        found += ideas_of(word.ideas)
        if word.lower in NUMBER_WORDS or (token[1:2].isdigit() and _VERSION.match(token)):
            found.append(FIGURE)
        if (word.role and word.role not in ("certain", "break", "against")) or word.lower in _OPEN:
            found.append(DOUBT)
        if not word.term.isalnum():
            found += _PART.split(word.term)
            if not NUMBER_WORDS.isdisjoint(_PART.split(word.lower)):
                found.append(FIGURE)  # fifty-eight
    return tuple(found)


def _mixed(text: str) -> set[str]:
    parts = _HAN.split(text)
    found = set(chain.from_iterable(map(_chunk, " ".join(parts[::2]).split())))
    prefixes, singles = _prefixes(), _singles()
    # Pairs across a comma or a number do no harm here.
    han = "".join(parts[1::2])
    signs = list(han)
    chars, pairs = set(signs), set(map(add, signs, signs[1:]))
    found |= chars
    found |= pairs
    for pair in pairs & prefixes.keys():
        meant, longer = prefixes[pair]
        found |= meant
        for word, ideas in longer:
            if word in han:
                found |= ideas
    for char in chars & singles.keys():
        found |= singles[char]
    if not _NUMERALS.isdisjoint(chars):
        found.add(FIGURE)
    if _doubtful(han, chars, pairs):
        found.add(DOUBT)
    return found


def _doubtful(han: str, chars: set[str], pairs: set[str]) -> bool:
    if not _DENIALS.isdisjoint(chars) or not _UNREAL_HAN.isdisjoint(pairs):
        return True
    hedges = _hedges()
    return any(word in han for pair in pairs & hedges.keys() for word in hedges[pair])


@cache
def _prefixes() -> dict[str, tuple[set[str], list[tuple[str, set[str]]]]]:
    """What Chinese words of two characters mean, and the longer ones that begin so with theirs."""
    found: dict[str, tuple[set[str], list[tuple[str, set[str]]]]] = {}
    for word, ideas in lexicon().words.items():
        if len(word) > 1 and word[0] > "⺀":
            meant, longer = found.setdefault(word[:2], (set(), []))
            if len(word) == 2:
                meant.update(ideas_of(ideas))
            else:
                longer.append((word, {word, *ideas_of(ideas)}))
    return found


@cache
def _hedges() -> dict[str, list[str]]:
    """Chinese words that make less sure by their first two characters."""
    found: dict[str, list[str]] = {}
    for word in words_of("hedges.txt"):
        if word[0] > "⺀":
            found.setdefault(word[:2], []).append(word)
    return found


@cache
def _singles() -> dict[str, frozenset[str]]:
    words = lexicon().words
    return {w: frozenset(ideas_of(ideas)) for w, ideas in words.items() if len(w) == 1 and w > "⺀"}
