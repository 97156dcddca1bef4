"""How much of a claim a sentence or clause has."""

from collections.abc import Set
from functools import lru_cache

import msgspec

from rubrica.judges.text.claimed import Meaning
from rubrica.judges.text.reading import Clause, Terms
from rubrica.judges.text.wanted import Wanted

#: What a word weighs that the question has, and what one earns that only stands nearby.
GIVEN, NEARBY = 0.3, 0.6
#: What a word earns that a quantity of its kind tells.
_TOLD = 0.8
_NOWHERE = (0, 0)
_NOTHING: frozenset[str] = frozenset()


class Cover(msgspec.Struct, frozen=True, gc=False):
    """How much of a claim a window has: credits of its units, and their weighted means."""

    credits: tuple[float, ...]
    #: For each unit the sign claimed and the sign found; 0 where it was not found here.
    signs: tuple[tuple[int, int], ...]
    key: float
    total: float
    #: The same for what the question gives.
    given: float


def cover(want: Wanted, window: Clause, around: Set[str] = _NOTHING) -> Cover:
    """How much of the claim the window states, with help from what stands around it."""
    terms = window.terms
    met = want.common.intersection(terms)
    if around:
        met |= want.common.intersection(around)
    units = want.units
    kinds = _kinds(window) if want.told else _NOTHING
    if not met and not kinds and units:
        return _nothing(len(units))
    earned = [0.0] * len(units)
    signs = [_NOWHERE] * len(units)
    if met:
        for number, unit in enumerate(units):
            meaning = unit.meaning
            if not meaning.terms.isdisjoint(met):
                earned[number], signs[number] = _credit(meaning, met, terms)
    for number, told in want.told:
        if earned[number] < _TOLD and not told.isdisjoint(kinds):
            earned[number] = _TOLD
    key = total = 0.0
    for number, credit in enumerate(earned):
        if credit:
            worth = want.weights[number] * credit
            total += worth
            key += 0.0 if want.given[number] else worth
    keys, totals = want.keys, want.totals
    return Cover(
        tuple(earned),
        tuple(signs),
        key / keys if keys else 1.0,
        (key + GIVEN * (total - key)) / (keys + GIVEN * (totals - keys)) if totals else 1.0,
        (total - key) / (totals - keys) if totals > keys else 0.0,
    )


def _kinds(window: Clause) -> frozenset[str]:
    return frozenset([q.unit if q.kind == "measure" else q.kind for q in window.quantities])


@lru_cache(maxsize=256)
def _nothing(count: int) -> Cover:
    return Cover((0.0,) * count, ((0, 0),) * count, 0.0, 0.0, 0.0)


def _credit(meaning: Meaning, met: Set[str], terms: Terms) -> tuple[float, tuple[int, int]]:
    """What a unit earns by the terms that were met: in the window, or else around it."""
    best, pair = 0.0, _NOWHERE
    for term, credit, sign in meaning.options:
        if credit <= best:
            if not meaning.polar:
                break  # the best come first
            # A polar idea tells more of the sign than the bare word.
            if pair[1] and abs(sign) >= 2 and abs(pair[0]) < 2 and term in terms and credit > 0.6:
                pair = (sign, terms[term])
        elif term not in met:
            continue
        elif term in terms:
            best, pair = credit, (sign, terms[term])
        elif credit * NEARBY > best:
            best, pair = credit * NEARBY, _NOWHERE
    return best, pair
