"""A claim made ready: the words, names and quantities that a text has to state.

What the question already says is given: repeating it states nothing, so it weighs little and the
rest, the key of the claim, decides.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import or_

import msgspec

from rubrica.judges.text.claimed import Unit, units
from rubrica.judges.text.dates import coarser
from rubrica.judges.text.ledger import distinct
from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.order import Turn, turns_of
from rubrica.judges.text.quantities import Quantity, agrees
from rubrica.judges.text.reading import Clause, Reading, Terms, members_of, read
from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.series import numbered
from rubrica.judges.text.sides import Sides
from rubrica.judges.text.ways import sides_of

#: What asks for yes or no.
_YES_OR_NO = re.compile(
    r"(?:[^?]{0,60},[ ])?"
    r"(?:is|are|was|were|does|do|did|can|could|has|have|had|will|would|should)[ ][^?]*\?",
    re.IGNORECASE,
)
_WHETHER = ("能不能", "是不是", "是否", "有没有", "会不会", "可不可以", "要不要", "吗?", "吗？")
#: Less will do in the answer to a question, unless it asks whether the claim is so.
_ANSWERING, _ASKED_IF, _ANYWHERE = 0.22, 0.35, 0.56
#: The share of its weight that a word keeps which a question of yes or no has.
_ASKED = 0.4

#: The terms that would state a unit, and its weight.
Part = tuple[frozenset[str], float]


class Wanted(msgspec.Struct, frozen=True, gc=False):
    """A claim and which parts of it the question gives away."""

    claim: Reading
    units: tuple[Unit, ...]
    given: tuple[bool, ...]
    quantities: tuple[Quantity, ...]
    #: The same, each once.
    amounts: Sequence[Quantity]
    names: tuple[tuple[int, ...], ...]
    context: Clause
    #: Its verbs and comparisons that have a direction.
    turns: tuple[Turn, ...]
    #: Its comparison, or its verb where those who do it are no names.
    sides: Sides | None
    weights: tuple[float, ...]
    #: Their sums: of the key, and of all.
    keys: float
    totals: float
    #: Units with the kinds of quantity that tell them: `at 1,025 kg` tells the weight.
    told: tuple[tuple[int, frozenset[str]], ...]
    #: Its words that are one of a set, by the number of the set.
    members: dict[int, set[str]]
    #: The units of the key and the sum of their weights.
    key: tuple[float, tuple[Part, ...]]
    #: The same of what is given.
    rest: tuple[float, tuple[Part, ...]]
    #: Whether a quantity says it all where nothing was asked.
    telling: bool
    #: Whether some unit may be a name.
    perhaps: bool
    #: The terms of all units.
    common: frozenset[str]
    #: Whether the question is of a year and the claim of the one before.
    year_before: bool
    #: The words that tell what a claim with quantities is of: its names, and the first of all.
    heads: frozenset[str]
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
    reading, found = read(claim), units(claim)
    ground, whether = _asked(context)
    said, asked = ground.terms.keys(), whether.terms if whether else {}
    given = [not said.isdisjoint(unit.meaning.sure) for unit in found]
    quantities, known = _parted(reading.quantities, ground.quantities)
    if all(given) and not quantities:
        if known and len(context) > 200:
            quantities = known  # the question brings the text along that has the answer
        else:
            # Everything is in the question, so everything has to be said again.
            given = [False] * len(found)
    moot = [_is_moot(unit, asked) for unit in found] if asked else []
    weights = [unit.weight for unit in found]
    if moot:
        weights = [w * _ASKED if also else w for w, also in zip(weights, moot, strict=True)]
    parts: tuple[list[Part], list[Part]] = ([], [])
    keys = rest = totals = 0.0
    told: list[tuple[int, frozenset[str]]] = []
    polar: list[tuple[str, str]] = []
    named: list[int] = []
    for number, unit in enumerate(found):
        meaning, weight, old = unit.meaning, weights[number], given[number]
        parts[old].append((meaning.terms, weight))
        totals += weight
        if old:
            rest += weight
        else:
            keys += weight
        if meaning.told:
            told.append((number, meaning.told))
        if meaning.polar:
            polar += meaning.polar
        if unit.name or unit.perhaps:
            named.append(number)
    names = _groups(found, [*map(or_, given, moot)] if moot else given) if named else ()
    role = bool(named) and _is_role(reading, found, named)
    turns, one_of = turns_of(reading), members_of(reading)
    sides = sides_of(reading)
    negative = bool(reading.pieces) and min([piece.sign for piece in reading.pieces]) < 0
    weighed = turns or sides or names or role or one_of or negative or reading.hedged
    weighed = weighed or bool(numbered(reading))
    return Wanted(
        reading,
        found,
        tuple(given),
        figures := tuple(quantities),
        distinct(figures),
        names,
        ground,
        turns,
        sides,
        tuple(weights),
        keys,
        totals,
        tuple(told),
        one_of,
        (keys, tuple(parts[False])),
        (rest, tuple(parts[True])),
        not context and any(map(telling, quantities)),
        True in [found[number].perhaps for number in named],
        frozenset().union(*[unit.meaning.terms for unit in found]),
        _year_before(quantities, ground.quantities),
        _heads(reading, found, named) if quantities else _NONE,
        bool(quantities and context) and not weighed,
        tuple(polar),
        negative,
        role,
        whether if True in moot else None,
        _ASKED_IF if True in moot else _ANSWERING if context else _ANYWHERE,
    )


_NONE: frozenset[str] = frozenset()


def _heads(claim: Reading, found: Sequence[Unit], named: Sequence[int]) -> frozenset[str]:
    if not found:
        return _NONE
    heads = {found[number].term for number in named}
    first = found[0].at
    for unit in found:
        if unit.at != first:
            break
        heads.add(unit.term)
    if " A " in claim.text:
        heads.add("a")  # Plan A
    return frozenset(heads)


def _parted(
    mine: Sequence[Quantity], asked: Sequence[Quantity]
) -> tuple[list[Quantity], list[Quantity]]:
    """The quantities of a claim that are new, and those that the question has."""
    new: list[Quantity] = []
    known: list[Quantity] = []
    for amount in mine:
        if amount.kind == "ordinal" and amount.value == 1:
            continue  # `the first school` is told by many words
        (known if asked and _is_known(amount, asked) else new).append(amount)
    return new, known


_COPULA = re.compile(r"(?:is|was|are|were|served as|became)[ ](?:the|its|his|her|their)")
_COPULA_HAN = re.compile(r"(?:是|为|由)\Z")


def _is_role(claim: Reading, found: Sequence[Unit], names: list[int]) -> bool:
    count = len(names)
    if count == len(found) or names[-1] - names[0] >= count:
        return False
    first = claim.pieces[found[names[0]].at]
    if first.han:
        return names[0] > 0 and _COPULA_HAN.search(claim.text[: first.start]) is not None
    if names[0]:
        return False
    verb = claim.pieces[found[count].at]  # the first that is no name
    if verb.ideas and not lexicon().directed.isdisjoint([idea for idea, _ in verb.ideas]):
        return True
    last = claim.pieces[found[names[-1]].at]
    between = claim.text[last.start + len(last.word) : verb.start].strip()
    return _COPULA.fullmatch(between) is not None


def _year_before(mine: Sequence[Quantity], asked: Sequence[Quantity]) -> bool:
    years = [other.date.year for other in asked if other.date is not None] if mine else []
    if not years:
        return False
    return any(one.date is not None and (one.date.year or -9) + 1 in years for one in mine)


@lru_cache(maxsize=256)
def _asked(context: str) -> tuple[Clause, Clause | None]:
    """What the question takes as given, and its questions of yes or no.

    Those give nothing, repeating one says yes: the answer may leave their words out, but not what
    says so.
    """
    plain: list[str] = []
    polar: list[str] = []
    for text, _, _ in sentences(context):
        whether = "?" in text and _YES_OR_NO.match(text) is not None
        whether = whether or any(map(text.__contains__, _WHETHER))
        (polar if whether else plain).append(text)
    return read("\n".join(plain)).whole, read("\n".join(polar)).whole if polar else None


def _is_known(mine: Quantity, asked: Sequence[Quantity]) -> bool:
    kind, value, date = mine.kind, mine.value, mine.date
    for other in asked:
        if kind != other.kind and value != other.value:
            continue
        if date is not None and other.date is not None and coarser(other.date, date):
            continue
        if agrees(mine, other) is True:
            return True
    return False


def _is_moot(unit: Unit, asked: Terms) -> bool:
    return not (unit.meaning.polar or asked.keys().isdisjoint(unit.meaning.sure))


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
    return tuple([tuple(group) for group in groups if False in [given[n] for n in group]])


def telling(amount: Quantity) -> bool:
    """Whether a quantity can hardly stand for anything else: four digits and a unit."""
    if amount.kind not in ("measure", "money", "percent"):
        return False
    return len(f"{amount.written:.10g}".replace(".", "").strip("0")) >= 4
