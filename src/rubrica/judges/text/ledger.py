"""The quantities of a sentence by kind, unit and size, so that one of a claim is only compared with
those that may agree with it: in a text with many figures most do not.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter

from rubrica.judges.text.amount import FAR, Kind, Quantity, agrees
from rubrica.judges.text.dates import coarser

#: What two quantities have in common that differ in nothing but their place.
_measured = attrgetter(*[f for f in Quantity.__struct_fields__ if f not in ("start", "end")])
_value = attrgetter("value")
#: The least share of the larger of two figures that the smaller has where they may agree.
_NEAR = 0.99 - FAR
#: Quantities of one family that are compared one by one.
_FEW = 3
#: Quantities of a sentence whose ledger is kept.
_KEPT = 64
#: What quantities have in common that can be compared.
Family = tuple[Kind, str]


class Ledger:
    """The quantities of a sentence or clause, each once."""

    __slots__ = ("_ordered", "amounts", "families")

    def __init__(self, amounts: Sequence[Quantity]) -> None:
        self.amounts = distinct(amounts)
        self.families: dict[Family, list[Quantity]] = {}
        for amount in self.amounts:
            self.families.setdefault(family(amount), []).append(amount)
        #: Those with many plain numbers of one unit, which are in order.
        self._ordered: dict[Family, str] = {}
        for name, group in self.families.items():
            if len(group) > _FEW and _is_uniform(group):
                group.sort(key=_value)
                self._ordered[name] = group[0].unit

    def mark(self, mine: Quantity) -> bool | None:
        """Whether any agrees with a claim's; False where some could but none does."""
        name = family(mine)
        near = self.families.get(name)
        if near is None:
            return None
        result: bool | None = None
        if self._ordered.get(name) == mine.unit and _is_plain(mine):
            result, near = False, _around(near, mine.value)
        for other in near:
            same = agrees(mine, other)
            if same and not vaguer(mine, other):
                return True
            if same is False:
                result = False
        return result

    def bare(self, mine: Quantity) -> list[Quantity]:
        """Those that have its figure without its unit, as in a table, whose head has the unit."""
        return [a for a in self.amounts if a.value == mine.written and agrees(mine, a) is None]


def ledger(amounts: Sequence[Quantity]) -> Ledger:
    """The ledger of a sentence, made once for all who ask of it."""
    return _ledger(tuple(amounts)) if len(amounts) <= _KEPT else Ledger(amounts)


@lru_cache(maxsize=512)
def _ledger(amounts: tuple[Quantity, ...]) -> Ledger:
    return Ledger(amounts)


def distinct(amounts: Sequence[Quantity]) -> Sequence[Quantity]:
    """Each quantity once, wherever it stands: the way to a sum repeats most of its figures."""
    if len(amounts) < 2:
        return amounts
    return tuple({_measured(amount): amount for amount in amounts}.values())


def vaguer(mine: Quantity, other: Quantity) -> bool:
    """Whether the other is the month or the year of a date."""
    return mine.date is not None and other.date is not None and coarser(other.date, mine.date)


def family(amount: Quantity) -> Family:
    """A year or a version cannot always be told from a count, nor a rate from its sum."""
    kind = amount.kind
    if kind == "measure":
        return kind, amount.unit.removesuffix("/time")
    return ("number", "") if kind == "date" or amount.unit == "version" else (kind, "")


def _is_plain(amount: Quantity) -> bool:
    """Whether this is one number from zero up: no date, no range and nothing for a period."""
    return 0 <= amount.value == amount.high and amount.date is None and not amount.per


def _is_uniform(group: Sequence[Quantity]) -> bool:
    return len({amount.unit for amount in group}) == 1 and all(map(_is_plain, group))


def _around(group: list[Quantity], value: float) -> list[Quantity]:
    first = bisect_left(group, value * _NEAR, key=_value)
    return group[first : bisect_right(group, value / _NEAR, first, key=_value)]
