"""The word lists beside this module: which words stand for one idea, and which for its opposite."""

from functools import cache, lru_cache
from typing import NamedTuple

from rubrica.judges.text.lists import lines_of, words_of
from rubrica.judges.text.stems import stem


class Lexicon(NamedTuple):
    """`words` gives the ideas of a stem or Chinese word, 1 for the idea and -1 for its opposite."""

    words: dict[str, tuple[tuple[str, int], ...]]
    #: First stem of a phrase -> the stems of each such phrase, longest first, and its ideas.
    phrases: dict[str, tuple[tuple[tuple[str, ...], tuple[tuple[str, int], ...]], ...]]
    #: Ideas with an opposite, with an agent and an object, and that compare.
    polar: frozenset[str]
    directed: frozenset[str]
    comparing: frozenset[str]


@cache
def lexicon() -> Lexicon:
    words: dict[str, dict[str, int]] = {}
    phrases: dict[tuple[str, ...], dict[str, int]] = {}
    polar: set[str] = set()
    marked: dict[str, set[str]] = {">": set(), "=": set()}
    for line in lines_of("concepts.txt"):
        name, _, rest = line.partition(":")
        idea = "@" + name.lstrip(">=")
        if name[0] in marked:
            marked[name[0]].add(idea)
        same, _, opposite = rest.partition("|")
        if opposite:
            polar.add(idea)
        for side, sign in ((same, 1), (opposite, -1)):
            for word in side.split():
                stems = tuple(map(stem, word.lower().split("_")))
                ideas = (
                    words.setdefault(stems[0], {})
                    if len(stems) == 1
                    else phrases.setdefault(stems, {})
                )
                ideas.setdefault(idea, sign)
    heads: dict[str, list[tuple[tuple[str, ...], tuple[tuple[str, int], ...]]]] = {}
    for stems in sorted(phrases, key=len, reverse=True):
        heads.setdefault(stems[0], []).append((stems, tuple(phrases[stems].items())))
    return Lexicon(
        {word: tuple(ideas.items()) for word, ideas in words.items()},
        {head: tuple(entries) for head, entries in heads.items()},
        frozenset(polar),
        frozenset(marked[">"]),
        frozenset(marked["="]),
    )


@cache
def exclusive() -> dict[str, tuple[int, ...]]:
    """The numbers of the sets that a word or idea is a member of."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(lines_of("exclusive.txt")):
        for word in line.split():
            found.setdefault(word if word[0] == "@" else stem(word), []).append(number)
    return {word: tuple(numbers) for word, numbers in found.items()}


class HanWords(NamedTuple):
    """Chinese words of one character, and the longer ones by their first two, longest first."""

    single: frozenset[str]
    longer: dict[str, tuple[str, ...]]

    def longer_at(self, run: str, at: int) -> str:
        """The longest word of several characters that stands here."""
        for word in self.longer.get(run[at : at + 2], ()):
            if run.startswith(word, at):
                return word
        return ""


@cache
def han_words() -> HanWords:
    """The Chinese words of all lists."""
    lists = ("negation.txt", "neutral.txt", "hedges.txt", "certain.txt", "exclusive.txt")
    known = set(lexicon().words).union(*map(words_of, lists))
    known = {word for word in known if word[0] > "⺀"}
    found: dict[str, list[str]] = {}
    for word in sorted(known, key=len, reverse=True):
        if len(word) > 1:
            found.setdefault(word[:2], []).append(word)
    longer = {pair: tuple(words) for pair, words in found.items()}
    return HanWords(frozenset(word for word in known if len(word) == 1), longer)


@lru_cache(maxsize=16384)
def related(stem: str) -> tuple[str, ...]:
    """The stems that may stand for an English stem, as far as `related.txt` knows."""
    return tuple(_related().get(stem, "").split())


@cache
def _related() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines_of("related.txt"):
        word, _, rest = line.partition(" ")
        found[word] = rest
    return found
