"""Finding many words in a text in one pass: English by stem, Chinese as it is written."""

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from rubrica.judges.text.stems import stem
from rubrica.judges.text.words import CJK

WORD = re.compile(r"[a-z\u00c0-\u024f0-9]+(?:['’+#./-][a-z\u00c0-\u024f0-9]+)*[+#]*")
#: The same for plain English, where it is twice as fast.
_ASCII_WORD = re.compile(r"[a-z0-9]++(?:['+#./-][a-z0-9]++)*+[+#]*+")
HAN = re.compile(rf"[{CJK}]+")
#: Words of the longest phrase that is looked for, and characters in Chinese.
_PHRASE = 4


@lru_cache(maxsize=65536)
def word_key(word: str) -> str:
    """The key of one lower-case word."""
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    # `provider` is not `provided`, nor `leader` `lead`.
    agent = word[:-1] if word.endswith(("ers", "ors")) else word
    return agent if agent.endswith(("er", "or")) else stem(word)


def key_of(words: str) -> str:
    """The key of a word or phrase of a list."""
    words = words.strip().lower()
    return words if HAN.match(words) else " ".join(map(word_key, words_of(words)))


def words_of(lower: str) -> list[str]:
    """The English words of lower-case text, in order."""
    return (_ASCII_WORD if lower.isascii() else WORD).findall(lower)


@lru_cache(maxsize=64)  # a question and its parts are read for several things
def keys_in(lower: str) -> tuple[str, ...]:
    """The same as keys."""
    return tuple(map(word_key, words_of(lower)))


class Keys:
    """Some keys, with what finds those of several words and the Chinese ones."""

    def __init__(self, every: frozenset[str]) -> None:
        self.every = every
        #: How many words the longest has that begins with a word.
        self.phrases: dict[str, int] = {}
        for key in [key for key in every if " " in key]:
            first, count = key.partition(" ")[0], key.count(" ") + 1
            self.phrases[first] = max(self.phrases.get(first, 0), min(count, _PHRASE))

    @cached_property
    def han(self) -> dict[str, frozenset[int]]:
        """How long the Chinese words are, by their first character."""
        sizes: dict[str, set[int]] = {}
        for key in self.every:
            if not key.isascii() and HAN.match(key):
                sizes.setdefault(key[0], set()).add(len(key))
        return {first: frozenset(several) for first, several in sizes.items()}


class Scanner:
    """Finds which of several keys occur in a text."""

    def __init__(self, several: Sequence[Keys]) -> None:
        self._several = several
        self._keys = frozenset[str]().union(*[keys.every for keys in several])
        longer = self._longer = dict[str, int]()
        for keys in several:
            for first, count in keys.phrases.items():
                if count > longer.get(first, 0):
                    longer[first] = count

    @cached_property
    def _han(self) -> dict[str, frozenset[int]]:
        """How long the Chinese words are, by their first character."""
        found: dict[str, frozenset[int]] = {}
        for keys in self._several:
            for first, sizes in keys.han.items():
                known = found.get(first, sizes)
                found[first] = sizes if known == sizes else known | sizes
        return found

    def find(self, lower: str, words: Sequence[str]) -> set[str]:
        """The keys that occur in lower-case text, given the keys of its words."""
        known, longer = self._keys, self._longer
        found = set(known.intersection(words))
        if not longer.keys().isdisjoint(words):
            for at, word in enumerate(words):
                if word not in longer:
                    continue
                for size in range(2, longer[word] + 1):
                    phrase = " ".join(words[at : at + size])
                    if phrase in known:
                        found.add(phrase)
        if not lower.isascii():
            self._find_han(lower, found)
        return found

    def _find_han(self, lower: str, found: set[str]) -> None:
        known, firsts = self._keys, self._han
        for at, sign in enumerate(lower):
            if sign in firsts:
                for size in firsts[sign]:
                    piece = lower[at : at + size]
                    if piece in known:
                        found.add(piece)
