"""Which unit of an answer is about which aspect: the cheapest reading of all units in order.

Each unit is about one aspect or about none. What speaks for an aspect is its words, words near to
them and the label; what speaks for the next one is that answers mostly go in the order of the
question. Leaving out a unit that says something has a price, which is high where there are no more
units than aspects: then each is probably about one of them, even in words that no list has.
"""

from collections.abc import Sequence, Set
from typing import NamedTuple

from rubrica.judges.dimensions.coverage.plan import Plan
from rubrica.judges.dimensions.coverage.units import Build, Unit

_NEVER = -1e9
_NONE, _ALL = frozenset[int](), frozenset(range(100))


class Prices(NamedTuple):
    """What signs are worth and what moves cost; found by search on labelled answers."""

    words: float = 3.8
    near: float = 1.9
    #: How much of the mean nearness to all aspects is what any text of the field has.
    field: float = 0.5
    start: float = 1.9
    label: float = 1.2
    other_label: float = 3.9
    near_label: float = 3.2
    again: float = 1.7
    again_few: float = 3.3
    jump: float = 2.2
    #: The same where there are more units than aspects: some of them only go on.
    jump_many: float = 2.1
    back: float = 2.6
    skip: float = 4.4
    skip_part: float = 5.1
    skip_many: float = 0.1
    #: What is off the price of leaving out a unit without a word of the field.
    foreign: float = 0.3
    #: From which evidence, or share of units of the field, an answer is about the matter.
    about: float = 1.15
    field_share: float = 0.2
    #: Evidence that the units have on average in an answer that is about the matter.
    mean: float = 0.25


PRICES = Prices()


#: What speaks for an aspect, if faintly.
_TRACE = 0.5
#: From which evidence an answer is about the matter, though its words are far from it.
_PLAIN = 1.8
#: What a unit that is short has to make up for.
_SLIGHT = 0.2
#: Up to which share of the aspects units count that nothing backs; the first always does.
_UNBACKED = 0.69


class Aligned(NamedTuple):
    """The aspect of each unit, and whether the answer is about the matter at all."""

    path: list[int | None]
    about: bool
    #: Units with a word of the field, or a trace of their aspect.
    backed: list[bool]

    def kept(self, plain: Set[int], count: int) -> list[int | None]:
        """The path without what is no more than padding: it adds up to little."""
        sure = plain | {
            at
            for at, backed in zip(self.path, self.backed, strict=True)
            if backed and at is not None
        }
        if 2 * sum(self.backed) >= len(self.backed):
            return self.path
        spare = max(1, int(_UNBACKED * count) - len(sure))
        kept: list[int | None] = []
        for at, backed in zip(self.path, self.backed, strict=True):
            new = at is not None and not backed and at not in sure
            kept.append(None if new and spare < 1 else at)
            spare -= new
        return kept


def align(
    units: Sequence[Unit],
    build: Build,
    plan: Plan,
    declined: Set[int],
    marked: Set[int] | None,
    listed: bool,
    prices: Prices = PRICES,
) -> Aligned:
    """The best reading. `marked` are aspects whose numbers the answer bears, where it bears any;
    `listed` says that the answer lists the names of the aspects without more."""
    gains, touched, of_field = _gains(units, plan, marked, prices)
    derived = plan.aspects[0].derived
    full = sum(unit.full for unit in units)
    few = full <= len(plan.aspects)
    whole = prices.skip_part if derived else prices.skip
    skips = []
    for at, unit in enumerate(units):
        price = whole if few else prices.skip_many
        price -= 0.0 if of_field[at] else prices.foreign
        carried = build == "sentences" and at and derived and unit.carries_on
        if carried or marked or (listed and build == "sentences") or (not at and not few):
            price = 0.0
        skips.append(max(price, 0.0) if unit.full else -1.0)
    barred = [_barred(unit, declined) for unit in units]
    tops = [max(row) for row in gains]
    best = max(tops)
    about = best >= prices.about or sum(of_field) >= prices.field_share * len(units)
    if not touched:
        about = about and sum(tops) >= prices.mean * len(tops)
        about = about and (best >= _PLAIN or not _is_foreign(units, plan))
    path = _path(gains, skips, barred, few, prices)
    backed = [
        same or (at is not None and row[at] >= _TRACE)
        for row, same, at in zip(gains, of_field, path, strict=True)
    ]
    return Aligned(path, about, backed)


def _gains(
    units: Sequence[Unit], plan: Plan, marked: Set[int] | None, prices: Prices
) -> tuple[list[list[float]], bool, list[bool]]:
    """What speaks for each aspect in each unit, whether any has a word of the question, and
    whether a unit is of the field."""
    gains, of_field = [], []
    touched = False
    count, kinship = len(plan.aspects), plan.kinship
    for unit in units:
        reads = unit.reads
        values, near = reads[0].told.speech.values(), kinship.near(reads[0].told.said.words)
        if len(reads) > 1:
            values = list(map(max, *[read.told.speech.values() for read in reads]))
            near = tuple(map(max, *[kinship.near(read.told.said.words) for read in reads]))
        common = prices.field * sum(near) / count
        touches = any(plan.touches(read.told.said) for read in reads)
        touched |= touches
        of_field.append(touches or any(kinship.is_of_field(read.told.said.words) for read in reads))
        row = [
            prices.words * value + prices.near * (each - common)
            for value, each in zip(values, near, strict=True)
        ]
        labelled = unit.labelled
        if labelled:
            row = [one - prices.other_label for one in row]
            for at in labelled:
                row[at] += prices.other_label + prices.label
        elif unit.label:
            label, kin = plan.labels(unit.label)
            for at in range(count):
                row[at] += prices.near_label * (label[at] + kin[at])
        if marked is not None:
            for at in range(count):
                row[at] -= 0.0 if at in marked else prices.other_label
        gains.append(row)
    return gains, touched, of_field


def _is_foreign(units: Sequence[Unit], plan: Plan) -> bool:
    """Whether hardly a word of the answer is near to what was asked."""
    reads = (read for unit in units for read in unit.reads)
    return plan.kinship.is_foreign(
        list({word: 0 for read in reads for word in read.told.said.words})
    )


def _barred(unit: Unit, declined: Set[int]) -> frozenset[int]:
    """Aspects that a unit cannot be about: of another sense of the word, or declined elsewhere."""
    if not unit.tells:
        return _ALL
    senses = [read.told.speech.blocked for read in unit.reads if read.told.speech.blocked]
    blocked = _NONE.union(*senses) if senses else _NONE
    if not declined:
        return blocked
    named = _NONE.union(*[read.told.speech.named for read in unit.reads])
    return blocked | (declined - named - unit.labelled)


def _path(
    gains: Sequence[Sequence[float]],
    skips: Sequence[float],
    barred: Sequence[frozenset[int]],
    few: bool,
    prices: Prices,
) -> list[int | None]:
    """The dearest chain: for each unit its aspect, or None."""
    count = len(gains[0])
    again = prices.again_few if few else prices.again
    jump = prices.jump if few else prices.jump_many
    worth, start = [_NEVER] * count, 0.0
    moves: list[list[tuple[bool, int]]] = []
    for row, skip, bar in zip(gains, skips, barred, strict=True):
        cost = max(skip, 0.0)
        less = prices.start + (_SLIGHT if skip < 0 else 0.0)
        new, made = [], []
        # The best place to come from before and behind each aspect, found in two sweeps.
        behind = _best_behind(worth)
        best, place = _NEVER, -1
        for at in range(count):
            own = worth[at]
            value, move = own - cost, (False, at)
            if at not in bar:
                top, origin = own - again, at
                if start - (jump if at else 0.0) > top:
                    top, origin = start - (jump if at else 0.0), -1
                if best - jump > top:
                    top, origin = best - jump, place
                if at and worth[at - 1] > top:
                    top, origin = worth[at - 1], at - 1
                if behind[at][0] - prices.back > top:
                    top, origin = behind[at][0] - prices.back, behind[at][1]
                top += row[at] - less
                if top > value:
                    value, move = top, (True, origin)
            new.append(value)
            made.append(move)
            if own > best:
                best, place = own, at
        worth, start = new, start - cost
        moves.append(made)
    return _back(worth, start, moves)


def _best_behind(worth: Sequence[float]) -> list[tuple[float, int]]:
    """For each aspect the best of those after it."""
    best, found = (_NEVER, -1), []
    for at in range(len(worth) - 1, -1, -1):
        found.append(best)
        best = max(best, (worth[at], at))
    return found[::-1]


def _back(
    worth: Sequence[float], start: float, moves: Sequence[Sequence[tuple[bool, int]]]
) -> list[int | None]:
    top = max(worth)
    at = worth.index(top) if top > start else -1
    path: list[int | None] = [None] * len(moves)
    for place in range(len(moves) - 1, -1, -1):
        if at < 0:
            break
        about, origin = moves[place][at]
        path[place] = at if about else None
        at = origin
    return path
