"""How much of a claim a sentence or clause has."""

from collections.abc import Set
from functools import lru_cache

import msgspec

from rubrica.judges.text.claimed import Unit
from rubrica.judges.text.reading import Clause, Terms
from rubrica.judges.text.wanted import Wanted

#: What a word weighs that the question has, and what one earns that only stands nearby.
GIVEN, NEARBY = 0.3, 0.6
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
    earned: list[float] = []
    signs: list[tuple[int, int]] = []
    key = keys = total = totals = 0.0
    terms = window.terms
    here = terms.keys()
    kinds = _kinds(window) if want.tells else _NOTHING
    if (
        want.common
        and terms.keys().isdisjoint(want.common)
        and not kinds
        and want.common.isdisjoint(around)
    ):
        return _nothing(len(want.units))
    for unit, given, weight, told in zip(
        want.units, want.given, want.weights, want.told, strict=True
    ):
        mine = unit.meaning.terms
        if here.isdisjoint(mine) and mine.isdisjoint(around):
            credit, pair = 0.0, _NOWHERE
        else:
            credit, pair = _credit(unit, terms, around)
        if credit < 0.8 and told and not told.isdisjoint(kinds):
            credit = 0.8
        earned.append(credit)
        signs.append(pair)
        totals += weight
        total += weight * credit
        if not given:
            keys += weight
            key += weight * credit
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


def _credit(unit: Unit, terms: Terms, around: Set[str]) -> tuple[float, tuple[int, int]]:
    best, pair = 0.0, (0, 0)
    for term, credit, sign in unit.meaning.options:
        if credit <= best:
            # A polar idea tells more of the sign than the bare word.
            if pair[1] and abs(sign) >= 2 and abs(pair[0]) < 2 and term in terms and credit > 0.6:
                pair = (sign, terms[term])
            continue
        if term in terms:
            best, pair = credit, (sign, terms[term])
        elif credit * NEARBY > best and term in around:
            best, pair = credit * NEARBY, (0, 0)
    return best, pair
