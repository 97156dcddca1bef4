"""A claim made ready: the words, names and quantities that a text has to state.

What the question already says is given: repeating it states nothing, so it weighs little and the
rest, the key of the claim, decides.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from rubrica.judges.text.claimed import Unit, units
from rubrica.judges.text.dates import coarser
from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.order import Turn, turns_of
from rubrica.judges.text.quantities import Quantity, agrees
from rubrica.judges.text.reading import Clause, Reading, Terms, members, read
from rubrica.judges.text.sentences import sentences

_YES_OR_NO = re.compile(
    r"^(?:[^?]{0,60},[ ])?"
    r"(?:is|are|was|were|does|do|did|can|could|has|have|had|will|would|should)[ ][^?]*\?"
    r"|能不能|是不是|是否|有没有|会不会|可不可以|要不要|吗[?？]",
    re.IGNORECASE,
)
#: Less will do in the answer to a question, unless it asks whether the claim is so.
_ANSWERING, _ASKED_IF, _ANYWHERE = 0.22, 0.35, 0.56
#: The share of its weight that a word keeps which a question of yes or no has.
_ASKED = 0.4
#: The ideas that a quantity of a kind or unit implies.
_IMPLIED = {
    "mass": ("@weight", "@heavy"),
    "length": ("@length", "@height", "@depth", "@long"),
    "money": ("@cost", "@income"),
    "area": ("@area",),
    "speed": ("@speed", "@fast"),
    "time": ("@last", "@time_needed"),
    "temperature": ("@temperature",),
    "percent": ("@share",),
}


Parts = tuple[float, tuple[tuple[frozenset[str], float], ...]]


class Wanted(msgspec.Struct, frozen=True, gc=False):
    """A claim and which parts of it the question gives away."""

    claim: Reading
    units: tuple[Unit, ...]
    given: tuple[bool, ...]
    quantities: tuple[Quantity, ...]
    names: tuple[tuple[int, ...], ...]
    context: Clause
    #: Its verbs and comparisons that have a direction.
    turns: tuple[Turn, ...]
    weights: tuple[float, ...]
    #: Their sums: of the key, and of all.
    keys: float
    totals: float
    #: Units with the kinds of quantity that tell them: `at 1,025 kg` tells the weight.
    told: tuple[tuple[int, frozenset[str]], ...]
    #: Its words that are one of a set, by the number of the set.
    members: dict[int, set[str]]
    #: The terms that would state each unit of the key, with their weight, and the sum of those.
    key: Parts
    #: The same of what is given, and whether a quantity says it all.
    rest: Parts
    telling: bool
    #: Whether some unit may be a name.
    perhaps: bool
    #: The terms of all units.
    common: frozenset[str]
    #: Whether the question is of a year and the claim of the one before.
    year_before: bool
    #: Whether nothing but its figures and words has to be found: no denial, name or direction.
    plain: bool
    #: Its words that mean one side of an idea with two, and the idea.
    polar: tuple[tuple[str, str], ...]
    #: Whether it denies something.
    negative: bool
    #: Whether it gives somebody a part: the director is N, N wrote it.
    role: bool
    #: The questions of yes or no, where the claim has words of theirs.
    asked: Clause | None
    #: The share of the key that states it. A text that answers a question is taken to speak of
    #: what was asked; any other has to say itself what it speaks of.
    need: float


@lru_cache(maxsize=512)
def wanted(claim: str, context: str) -> Wanted:
    """A claim made ready against its question."""
    reading = read(claim)
    found = units(claim)
    ground = _ground(context)
    given = tuple([_said(unit, ground.terms) for unit in found])
    asked = _moot(context).terms
    moot = [bool(asked) and not unit.meaning.polar and _said(unit, asked) for unit in found]
    quantities: list[Quantity] = []
    known: list[Quantity] = []
    for amount in reading.whole.quantities:
        if amount.kind == "ordinal" and amount.value == 1:
            continue  # `the first school` is told by many words
        in_question = any(_known(amount, other) for other in ground.quantities)
        (known if in_question else quantities).append(amount)
    if all(given) and known and not quantities and len(context) > 200:
        quantities, known = known, []  # the question brings the text along that has the answer
    if all(given) and not quantities:
        # Everything is in the question, so everything has to be said again.
        given = (False,) * len(found)
    common = frozenset[str]().union(*[unit.meaning.terms for unit in found])
    weights = tuple(
        [unit.weight * (_ASKED if also else 1.0) for unit, also in zip(found, moot, strict=True)]
    )
    names = _groups(found, [old or also for old, also in zip(given, moot, strict=True)])
    turns, role, one_of = turns_of(reading), _is_role(reading, found), members(reading.whole)
    negative = any(piece.sign < 0 for piece in reading.pieces)
    weighed = turns or names or role or one_of or negative or reading.whole.hedged
    plain = bool(quantities and context) and not weighed
    kinds = [(number, _told(unit.meaning.terms)) for number, unit in enumerate(found)]
    keys = totals = 0.0
    for weight, old in zip(weights, given, strict=True):
        totals += weight
        keys += 0.0 if old else weight
    return Wanted(
        reading,
        found,
        given,
        tuple(quantities),
        names,
        ground,
        turns,
        weights,
        keys,
        totals,
        tuple([each for each in kinds if each[1]]),
        one_of,
        _parts(found, weights, given, False),
        _parts(found, weights, given, True),
        any(map(telling, quantities)),
        any(unit.perhaps for unit in found),
        common,
        any(_year_before(amount, ground) for amount in quantities),
        plain,
        tuple((unit.term, idea) for unit in found for idea in unit.meaning.polar),
        negative,
        role,
        _moot(context) if any(moot) else None,
        _ASKED_IF if any(moot) else _ANSWERING if context else _ANYWHERE,
    )


_COPULA = re.compile(r"(?:is|was|are|were|served as|became)[ ](?:the|its|his|her|their)")
_COPULA_HAN = re.compile(r"(?:是|为|由)\Z")


def _is_role(claim: Reading, found: Sequence[Unit]) -> bool:
    names = [number for number, unit in enumerate(found) if unit.name or unit.perhaps]
    plain = [unit for unit in found if not (unit.name or unit.perhaps)]
    if not names or not plain or names[-1] - names[0] >= len(names):
        return False
    first = claim.pieces[found[names[0]].at]
    if first.han:
        return names[0] > 0 and _COPULA_HAN.search(claim.text[: first.start]) is not None
    if names[0]:
        return False
    verb = claim.pieces[plain[0].at]
    if any(idea in lexicon().directed for idea, _ in verb.ideas):
        return True
    last = claim.pieces[found[names[-1]].at]
    between = claim.text[last.start + len(last.word) : verb.start].strip()
    return _COPULA.fullmatch(between) is not None


def _year_before(amount: Quantity, ground: Clause) -> bool:
    date = amount.date
    return date is not None and any(
        other.date is not None and other.date.year == (date.year or -9) + 1
        for other in ground.quantities
    )


def _parts(
    found: Sequence[Unit], weights: Sequence[float], given: Sequence[bool], which: bool
) -> Parts:
    parts = tuple(
        (unit.meaning.terms, weight)
        for unit, weight, old in zip(found, weights, given, strict=True)
        if old is which
    )
    return sum(weight for _, weight in parts), parts


@lru_cache(maxsize=256)
def _moot(context: str) -> Clause:
    """The words of questions of yes or no: the answer may leave them out, but not what says so."""
    asked = [piece.text for piece in sentences(context) if _YES_OR_NO.search(piece.text)]
    return read("\n".join(asked)).whole


@lru_cache(maxsize=8192)
def _told(ideas: frozenset[str]) -> frozenset[str]:
    return frozenset(kind for kind, implied in _IMPLIED.items() if not ideas.isdisjoint(implied))


@lru_cache(maxsize=256)
def _ground(context: str) -> Clause:
    """What the question takes as given. One of yes or no gives nothing: repeating it says yes."""
    asked = [piece.text for piece in sentences(context) if not _YES_OR_NO.search(piece.text)]
    return read("\n".join(asked)).whole


def _known(mine: Quantity, other: Quantity) -> bool:
    if mine.date is not None and other.date is not None and coarser(other.date, mine.date):
        return False
    return agrees(mine, other) is True


def _said(unit: Unit, terms: Terms) -> bool:
    return not terms.keys().isdisjoint(unit.meaning.sure)


def _groups(found: Sequence[Unit], given: Sequence[bool]) -> tuple[tuple[int, ...], ...]:
    """Names of several words as one: `Warren` names `Earl Warren`. Given ones are left out."""
    groups: list[list[int]] = []
    last = -2
    for number, unit in enumerate(found):
        if not unit.name:
            continue
        if groups and (unit.at - last <= 1) and number - groups[-1][-1] == 1:
            groups[-1].append(number)
        else:
            groups.append([number])
        last = unit.at
    return tuple(tuple(group) for group in groups if not all(given[number] for number in group))


def telling(amount: Quantity) -> bool:
    """Whether a quantity can hardly stand for anything else: four digits and a unit."""
    digits = f"{amount.written:.10g}".replace(".", "").strip("0")
    return amount.kind in ("measure", "money", "percent") and len(digits) >= 4
