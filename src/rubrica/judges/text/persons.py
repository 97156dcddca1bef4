"""Whether a name is another person's who shares half of it, or stands beside it."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from rubrica.judges.text.lexicon import related
from rubrica.judges.text.lists import lines_of, words_of
from rubrica.judges.text.reading import Clause, Reading
from rubrica.judges.text.sides import terms_of
from rubrica.judges.text.stems import stem
from rubrica.judges.text.wanted import Wanted

#: Stems of words that stand before many a name: `Mr Justice Lyle` is not `Mr Justice Kerr`.
TITLES = frozenset(map(stem, words_of("titles.txt")))
#: And behind it.
_SUFFIXES = frozenset(("jr", "sr", "inc", "ltd", "corp", "co", "plc", "llc", "gmbh", "ii", "iii"))
_KIN = "|".join([word for word in sorted(words_of("kin.txt")) if word.isascii()])
_KIN_HAN = "|".join([word for word in sorted(words_of("kin.txt")) if not word.isascii()])
#: A claim that tells of a relation itself.
_RELATION = re.compile(rf"\b(?:{_KIN})s?\b|\b(?:marri|child|famil)|{_KIN_HAN}|结婚|孩子")
_CAPITALS = r"[A-Z][\w.-]*(?: [A-Z][\w.-]*){0,4}"
_RELATED = re.compile(rf"\b({_CAPITALS})'s? (?:[a-z]+ )?(?:{_KIN}),? ({_CAPITALS})")
_RELATED_HAN = re.compile(rf"的(?:{_KIN_HAN})(?![们是说都也和与及,;.。])")


def another_person(want: Wanted, group: Sequence[int], window: Clause) -> tuple[int, ...]:
    """The first and last name of a claim of which the window has one alone, and beside it another.

    `group` are the units of names that stand near each other, of one person or not.
    """
    terms = window.terms
    named = [(n, want.units[n].term) for n in group]
    pairs = [pair for pair in pairwise(named) if (pair[0][1] in terms) is not (pair[1][1] in terms)]
    if not pairs or not window.qualified:
        return ()  # as nearly always
    known = want.claim.whole.qualified
    there = [pair.split(" ") for pair in window.qualified if " " in pair]
    for (one, first), (two, last) in pairs:
        if f"{first} {last}" not in known or _goes_on(first, last, known):
            continue
        if last in terms:
            firsts = [pair[0] for pair in there if pair[-1] == last]
            other = bool(firsts) and all(other_first(first, name) for name in firsts)
        else:
            lasts = [pair[-1] for pair in there if pair[0] == first and first not in TITLES]
            other = bool(lasts) and all(_other_last(last, name) for name in lasts)
        if other:
            return one, two
    return ()


def only_related(want: Wanted, reading: Reading) -> bool:
    """Whether somebody of the claim is only named to tell who another is: Fleming's colleague."""
    text = reading.text
    found = ("'" in text and _related(want, text)) or ("的" in text and _related_han(want, text))
    return found and _RELATION.search(want.claim.text) is None


def _related(want: Wanted, text: str) -> bool:
    found = _RELATED.search(text)
    if found is None:
        return False
    mine = {unit.term for unit in want.units if unit.name or unit.perhaps}
    holder, other = mine & terms_of(found[1]), terms_of(found[2])
    rest = terms_of(f"{text[: found.start()]} {text[found.start(2) :]}")
    return bool(holder) and holder.isdisjoint(rest) and other.isdisjoint(want.claim.whole.terms)


def _related_han(want: Wanted, text: str) -> bool:
    """Whether a Chinese name only stands there as whose relation it is: 张衡的学生李明."""
    name = want.claim.pieces[0].word if want.claim.pieces else ""
    places = [place.end() for place in re.finditer(re.escape(name), text)] if name else []
    return bool(places) and all(_RELATED_HAN.match(text, place) for place in places)


def _goes_on(first: str, last: str, known: frozenset[str]) -> bool:
    """Whether a name has more than two words: any two of them will do."""
    return any(pair.endswith(f" {first}") or pair.startswith(f"{last} ") for pair in known)


def other_first(mine: str, other: str) -> bool:
    """Whether a first name is another: no initial, no title, no short form of the same."""
    if len(mine) == 1 or len(other) == 1 or other in TITLES or mine in TITLES or related(other):
        return False
    if mine[0] == other[0]:
        # Many spellings of a name begin alike, but Maria is not Mario.
        return mine[:-1] == other[:-1] and {mine[-1], other[-1]} == {"a", "o"}
    return not any(mine in forms and other in forms for forms in _nicknames())


def _other_last(mine: str, other: str) -> bool:
    """Whether a last name is another: no word of any other kind, nor the same in other letters."""
    if len(other) == 1 or other in _SUFFIXES or related(mine) or related(other):
        return False
    return mine[:3] != other[:3]


@cache
def _nicknames() -> tuple[frozenset[str], ...]:
    """First names with their short forms."""
    return tuple([frozenset(map(stem, line.split())) for line in lines_of("nicknames.txt")])
