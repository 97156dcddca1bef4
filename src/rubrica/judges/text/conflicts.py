"""Ways in which a text can deny a claim that it speaks of: it says the opposite, another name, or
another member of a set.
"""

from collections.abc import Iterable

from rubrica.judges.text.covering import Cover
from rubrica.judges.text.reading import Clause, Reading, members
from rubrica.judges.text.wanted import Wanted


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


def in_passing(cover: Cover) -> bool:
    """Whether all that was found is denied in passing: it is neither stated nor its opposite."""
    found = [pair for pair in cover.signs if pair[1]]
    return bool(found) and all(mine > 0 and other == -1 for mine, other in found)


def missing_names(
    want: Wanted, cover: Cover, window: Clause, perhaps: bool = False
) -> list[tuple[int, ...]]:
    """Names of the claim that were not found; a part of a name will do.

    `River` alone will not do where another name stands before it. A name of the sentence before
    will do where this one says `it`, not where it names another.
    """
    groups = list(want.names)
    if perhaps:
        groups += [(n,) for n, unit in enumerate(want.units) if unit.perhaps and not want.given[n]]
    least = 0.61 if other_names(want, window) else 0.5
    return [
        group
        for group in groups
        if not any(
            cover.credits[n] >= least and want.units[n].options[0][0] not in window.qualified
            for n in group
        )
    ]


def other_names(want: Wanted, window: Clause) -> bool:
    """Whether the window names somebody whom neither claim nor question does."""
    mine = want.claim.whole.terms
    return any(
        name not in mine and name not in want.context.terms and len(name) > 1
        for name in window.names
    )


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


def about_another(want: Wanted, reading: Reading) -> bool:
    """Whether the question asks of several things and the sentence is about one of the others."""
    terms, asked = reading.whole.terms, want.context
    mine = {unit.options[0][0] for n, unit in enumerate(want.units) if unit.name and want.given[n]}
    if mine and mine.isdisjoint(terms):
        others = asked.names - want.claim.whole.terms.keys()
        if not others.isdisjoint(terms):
            return True
    for kind in ("number", "date"):
        own = {q.value for q in want.known if q.kind == kind}
        theirs = {q.value for q in reading.whole.quantities if q.kind == kind}
        others_asked = {q.value for q in asked.quantities if q.kind == kind} - own
        if own and own.isdisjoint(theirs) and not others_asked.isdisjoint(theirs):
            return True
    return False


def moved(want: Wanted, window: Clause) -> bool:
    """Whether one says that a thing changed and the other that it did not."""
    mine, theirs = want.claim.whole.terms, window.terms
    for one, other in ((mine, theirs), (theirs, mine)):
        if one.get("@same", 0) > 1 and other.get("@increase", 0) and "@same" not in other:
            return True
    return False
