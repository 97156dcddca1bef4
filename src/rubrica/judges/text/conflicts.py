"""Ways in which a text can deny a claim that it speaks of: it says the opposite, another name, or
another member of a set.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from rubrica.judges.text.covering import Cover
from rubrica.judges.text.persons import TITLES, another_person, other_first
from rubrica.judges.text.reading import Clause, Reading, members
from rubrica.judges.text.series import renumbered
from rubrica.judges.text.wanted import Wanted

#: Credits with which a name was found; and where another may be meant.
_NAMED, _SURELY = 0.5, 0.61


def denied(want: Wanted, cover: Cover, only_strong: bool = False) -> bool:
    """Whether the words that both have are denied in one and not in the other.

    With `only_strong` a word that is denied in passing does not count.
    """
    flips = agrees = 0.0
    plain = False
    for unit, (mine, other) in zip(want.units, cover.signs, strict=True):
        if not mine:
            continue
        if not other:
            if abs(mine) >= 2:
                return False  # said and denied in one breath: `cleared of any fault`
            continue
        strong = min(abs(mine), abs(other)) >= 2 or min(mine, other) <= -2
        if mine * other < 0:
            # Denied there only in passing: what is denied is something that is not claimed.
            passing = 0.3 if mine > 0 and other == -1 else 0.7 if unit.name else 1.0
            flips += 3.0 if strong else 0.0 if only_strong else passing
        elif strong:
            agrees += 3.0 if mine < 0 or abs(mine) == abs(other) == 3 else 0.0
            plain = True
        elif mine < 0:
            agrees += 1.0
        else:
            plain = plain or not unit.name
    # What is affirmed in both is no sign of agreement, however much there is of it.
    return flips >= 0.7 and flips > agrees + (0.5 if plain else 0.0)


def missing_names(
    want: Wanted, cover: Cover, window: Clause, perhaps: bool = False
) -> list[tuple[int, ...]]:
    """Names of the claim that were not found; a part of a name will do.

    `River` alone will not do where another name stands before it. A name of the sentence before
    will do where this one says `it`, not where it names another.
    """
    groups = want.names
    if perhaps and want.perhaps:
        more = [(n,) for n, unit in enumerate(want.units) if unit.perhaps and not want.given[n]]
        groups = (*groups, *more)
    if not groups:
        return []
    found: list[tuple[int, ...]] = []
    for group in groups:
        if len(group) > 1 and (half := another_person(want, group, window)):
            found.append(half)
            continue
        for n in group:
            credit = cover.credits[n]
            if credit < _NAMED or want.units[n].term in window.qualified:
                continue
            if credit < _SURELY and (want.role or other_names(want, window)):
                continue
            if len(group) == 1:
                break
            if want.units[n].term not in TITLES and not _namesake(want, group, n, window):
                break
        else:
            found.append(group)
    return found


def _namesake(want: Wanted, group: tuple[int, ...], n: int, window: Clause) -> bool:
    """Whether the window has the word as part of another's name: Pierre Curie, York."""
    names = [want.units[number].term for number in group]
    if want.units[group[0]].word == "New":
        return f"{names[0]} {names[1]}" not in window.qualified
    if n == group[0] or not window.qualified or names[0] in window.terms:
        return False
    behind = f" {names[n - group[0]]}"
    pairs = [pair for pair in window.qualified if pair.endswith(behind)]
    others = [before for pair in pairs if (before := pair.removesuffix(behind)) not in names]
    others = [before for before in others if before[0] != names[0][0]]
    return bool(others) and all(other_first(names[0], one) for one in others)


def other_notation(want: Wanted, reading: Reading) -> bool:
    """Whether signs that are no words tell another: C for C++, O(n) for O(log n), --hard for
    --soft, 777 for 747.
    """
    if renumbered(want.claim, reading):
        return True
    text = want.claim.text
    if "C" not in text and "O(" not in text and "--" not in text:
        return False
    mine = _notation(text)
    theirs = _notation(reading.text) if mine else mine
    return bool(theirs) and mine.isdisjoint(theirs)


_NOTATION = re.compile(
    r"\bO\((?:[^()]|\([^()]*\))*\)|(?<![\w°])C(?:\+\+|#)?(?![\w+#'-]|\.\w)"
    r"|(?<![\w-])--[a-z][a-z-]*[a-z]"
)


@lru_cache(maxsize=512)
def _notation(text: str) -> frozenset[str]:
    return frozenset([one.replace(" ", "") for one in _NOTATION.findall(text)])


def other_names(want: Wanted, window: Clause) -> bool:
    """Whether the window names somebody whom neither claim nor question does."""
    if not window.names:
        return False
    others = window.names.difference(want.claim.whole.terms).difference(want.context.terms)
    return len(max(others, key=len, default="")) > 1


def other_member(want: Wanted, window: Clause) -> set[str]:
    """Words of the claim in whose place the window has another of their set."""
    found: set[str] = set()
    others = members(window) if want.members else {}
    for number, mine in want.members.items():
        theirs = others.get(number)
        if not theirs or mine & theirs:
            continue
        found |= mine
    return found


def other_role(want: Wanted, cover: Cover, reading: Reading) -> bool:
    """Whether the one whom the claim gives a part is named there, and not for that part."""
    if not want.role:
        return False
    named = told = False
    for unit, credit in zip(want.units, cover.credits, strict=True):
        if unit.name or unit.perhaps:
            named = named or credit > 0.61
        else:
            told = told or credit >= 0.3
    return named and not told and len(reading.pieces) > 2


def rest_of_cover(want: Wanted, cover: Cover, without: Iterable[int]) -> float:
    """The key of the claim that is covered when some units are left out."""
    skipped = set(without)
    key = keys = 0.0
    for number, unit in enumerate(want.units):
        if number in skipped or want.given[number]:
            continue
        keys += unit.weight
        key += unit.weight * cover.credits[number]
    return key / keys if keys else cover.given * 0.75
