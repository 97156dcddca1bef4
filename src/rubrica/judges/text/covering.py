"""How much of a claim a sentence or clause has, and whether it is worth reading at all."""

from collections.abc import Callable, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from rubrica.judges.text.gist import FIGURE
from rubrica.judges.text.quantities import Quantity, agrees, twisted
from rubrica.judges.text.reading import Clause, Terms, Unit
from rubrica.judges.text.wanted import Wanted

#: What a word weighs that the question has, and what one earns that only stands nearby.
GIVEN, NEARBY = 0.3, 0.6
_NOTHING: frozenset[str] = frozenset()


class Cover(NamedTuple):
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
    kinds = _kinds(window) if want.tells else _NOTHING
    if (
        want.signs
        and terms.keys().isdisjoint(want.common)
        and not kinds
        and want.common.isdisjoint(around)
    ):
        return _nothing(len(want.units))
    for unit, given, weight, told in zip(
        want.units, want.given, want.weights, want.told, strict=True
    ):
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
    for term, credit, sign in unit.options:
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


def worth(
    want: Wanted, gist: Set[str], before: Set[str], amounts: Callable[[], Sequence[Quantity]]
) -> bool:
    """Whether a sentence of which this is the gist may state or deny the claim at all."""
    if want.quantities:
        if want.figures.isdisjoint(gist) and want.common.isdisjoint(gist):
            return FIGURE in gist and (not want.units or (want.tells and _met(want, amounts())))
        return _figures_worth(want, gist, before, amounts)
    if want.signs.isdisjoint(gist):
        return not want.topic.isdisjoint(gist) and _share(want, gist, True, before) >= 0.6
    least = 0.28 if want.names or want.members or want.perhaps else 0.42
    return _share(want, gist, False, before) >= least or _share(want, gist, True, before) >= 0.6


def _met(want: Wanted, amounts: Sequence[Quantity]) -> bool:
    return any(agrees(mine, other) for mine in want.quantities for other in amounts)


def _figures_worth(
    want: Wanted, gist: Set[str], before: Set[str], amounts: Callable[[], Sequence[Quantity]]
) -> bool:
    key = _share(want, gist, False, before)
    dated = any(mine.date is not None for mine in want.quantities)
    if FIGURE not in gist:
        # Without a figure of its own, only one like 'the year before' can meet the claim's.
        return key >= 0.6 and dated
    near = key >= 0.2 or _share(want, gist, True) >= 0.3 or not want.figures.isdisjoint(gist)
    if not (near or want.tells):
        return False
    marks = [agrees(mine, other) for mine in want.quantities for other in amounts()]
    if True in marks:
        return True
    if False not in marks:
        return key >= 0.6 and dated
    if key >= 0.4 or _share(want, gist, True) >= 0.5 or want.tells:
        return True
    return any(twisted(mine, other) for mine in want.quantities for other in amounts())


def _share(want: Wanted, gist: Set[str], given: bool, before: Set[str] = frozenset()) -> float:
    """The most that a sentence can have of the key, or of what is given."""
    whole = shared = 0.0
    for terms, old, weight in zip(want.terms, want.given, want.weights, strict=True):
        if old is given:
            whole += weight
            if not terms.isdisjoint(gist):
                shared += weight
            elif before and not terms.isdisjoint(before):
                shared += weight * NEARBY
    return shared / whole if whole else 0.0
