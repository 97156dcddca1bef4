"""A claim made ready: the words, names and quantities that a text has to state.

What the question already says is given: repeating it states nothing, so it weighs little and the
rest, the key of the claim, decides.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rubrica.judges.text.dates import coarser
from rubrica.judges.text.gist import FIGURE
from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.quantities import Quantity, agrees
from rubrica.judges.text.reading import Clause, Reading, Terms, Unit, members, read, units
from rubrica.judges.text.sentences import sentences

_YES_OR_NO = re.compile(
    r"^(?:[^?]{0,60},[ ])?"
    r"(?:is|are|was|were|does|do|did|can|could|has|have|had|will|would|should)[ ][^?]*\?"
    r"|能不能|是不是|是否|有没有|会不会|可不可以|要不要|吗[?？]",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\bthan\b|比|[高低多少早晚大小优重轻快慢]于|超过|不及|不如|exceed|surpass|outperform"
)
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


class Wanted(NamedTuple):
    """A claim and which parts of it the question gives away."""

    claim: Reading
    units: tuple[Unit, ...]
    given: tuple[bool, ...]
    quantities: tuple[Quantity, ...]
    #: Quantities of the question too: a text need not repeat them.
    known: tuple[Quantity, ...]
    names: tuple[tuple[int, ...], ...]
    context: Clause
    directed: str
    comparing: str
    weights: tuple[float, ...]
    #: For each unit the kinds of quantity that tell it: `at 1,025 kg` tells the weight.
    told: tuple[frozenset[str], ...]
    #: Its words that are one of a set, by the number of the set.
    members: dict[int, set[str]]
    #: For each unit all the terms that would state it, and those of the key together.
    terms: tuple[frozenset[str], ...]
    signs: frozenset[str]
    #: The same of what is given, and whether a quantity says it all.
    topic: frozenset[str]
    telling: bool
    #: Whether some unit is told by a kind of quantity, and some may be a name.
    tells: bool
    perhaps: bool
    #: The terms of all units.
    common: frozenset[str]
    #: Its figures as they may stand in a gist.
    figures: frozenset[str]


@lru_cache(maxsize=2048)
def wanted(claim: str, context: str) -> Wanted:
    """A claim made ready against its question."""
    reading = read(claim)
    found = units(claim)
    ground = _ground(context)
    given = tuple(_said(unit, ground.terms) for unit in found)
    quantities: list[Quantity] = []
    known: list[Quantity] = []
    for amount in reading.whole.quantities:
        in_question = any(_known(amount, other) for other in ground.quantities)
        (known if in_question else quantities).append(amount)
    if all(given) and known and not quantities and len(context) > 200:
        quantities, known = known, []  # the question brings the text along that has the answer
    if all(given) and not quantities:
        # Everything is in the question, so everything has to be said again.
        given = (False,) * len(found)
    ideas = [idea for piece in reading.pieces for idea, _ in piece.ideas]
    return Wanted(
        reading,
        found,
        given,
        tuple(quantities),
        tuple(known),
        _groups(
            found, [old or _moot(unit, context) for old, unit in zip(given, found, strict=True)]
        ),
        ground,
        next((idea for idea in ideas if idea in lexicon().directed), ""),
        next((idea for idea in ideas if idea in lexicon().comparing), "")
        if _COMPARES.search(reading.text)
        else "",
        tuple(unit.weight * (_ASKED if _moot(unit, context) else 1.0) for unit in found),
        tuple(_told(unit) for unit in found),
        members(reading.whole),
        tuple(frozenset(option[0] for option in unit.options) for unit in found),
        _terms_where(found, given, False),
        _terms_where(found, given, True),
        any(map(telling, quantities)),
        any(map(_told, found)),
        any(unit.perhaps for unit in found),
        frozenset(option[0] for unit in found for option in unit.options),
        frozenset(f"{FIGURE}{amount.written or amount.value:.12g}" for amount in quantities),
    )


def _terms_where(found: Sequence[Unit], given: Sequence[bool], which: bool) -> frozenset[str]:
    pairs = zip(found, given, strict=True)
    return frozenset(option[0] for unit, old in pairs if old is which for option in unit.options)


def _moot(unit: Unit, context: str) -> bool:
    """Whether a question of yes or no has the word, and the answer may leave it out: not so one
    that says yes or no.
    """
    if any(abs(sign) >= 2 for _, _, sign in unit.options):
        return False
    return _said(unit, _moot_terms(context))


@lru_cache(maxsize=256)
def _moot_terms(context: str) -> Terms:
    asked = [piece.text for piece in sentences(context) if _YES_OR_NO.search(piece.text)]
    return read("\n".join(asked)).whole.terms


def _told(unit: Unit) -> frozenset[str]:
    ideas = {option[0] for option in unit.options}
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
    return any(term in terms for term, credit, _ in unit.options if credit > 0.6)


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
