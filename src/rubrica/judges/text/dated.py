"""Of which period a figure is, where a text has one for each of several.

`$4.3 billion in 2021 and $3.9 billion in 2022` has both the figure and the year of the claim that
2022 brought $4.3 billion, and denies it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from rubrica.judges.text.amount import Quantity, agrees
from rubrica.judges.text.dates import Date, same_date
from rubrica.judges.text.figures import NOUN
from rubrica.judges.text.ledger import family
from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.looks import ABSENT, Look
from rubrica.judges.text.quantities import amounts
from rubrica.judges.text.sides import Terms, terms_of, whole_words
from rubrica.judges.text.told import Told
from rubrica.judges.text.wanted import Wanted
from rubrica.judges.text.words import LONGEST_KEPT, fold

#: A figure that stands with the period of its claim.
OWN = Look("supported", 1.0)
OTHER = Look("contradicted", 0.7, "another figure")
#: How far off the sentence, or the item of a list, with the other figure may be.
NEAR = 8
PARTS = re.compile(r"[;,](?!\d)|\b(?:and|while|whereas|but)\b|而")
#: Between a figure and its period, and between a period and its figure.
_THEN = re.compile(
    r" ?\(?(?:(?:in|for|during|by|as of|at the end of) )?(?:the )?(?:fiscal )?(?:year )?"
)
_THUS = re.compile(r"\)?(?:'s?|的|:|为|是)? ?")
_YEAR_BEFORE = re.compile(
    r" (?:in )?(?:the|a) (?:year before|previous year|year earlier|prior year)\b"
)
#: All that a part has that only says when.
_WHEN = re.compile(
    r"(?:\W|\b(?:and|while|but|in|for|during|by|as|at|the|end|of|fiscal|financial|full|year)\b"
    r"|[而在到至截于])*",
    re.IGNORECASE,
)
#: A period that another is held against; and the year of a paper.
_AGAINST = re.compile(
    r"(?:\b(?:than|from|since|with|against|over|versus|vs\.?|after|before|until|till|to)(?: in)?"
    r"(?: the)? |[比较自从与至到])\Z",
    re.IGNORECASE,
)
_PAPER = re.compile(r" (?:annual )?(?:report|filing|survey|study|edition|forecast)|年?度?报")
IN_TURN = re.compile(r"\brespectively\b|分别|依次")


class _Dated(NamedTuple):
    """A figure, the period that it is of, and the words of its part, first those before it."""

    figure: Quantity
    when: Date | None
    noun: str
    before: Terms
    words: Terms


def of_period(want: Wanted, mine: Quantity, text: Told, index: int) -> tuple[Look, int] | None:
    """What a sentence with the figure of a claim says of its period: that the figure is its own,
    or that of another. None where it does not say.
    """
    if len(want.claim.quantities) == 1 and (mine.date or not want.context.quantities):
        return None  # as nearly always: there is no figure beside a period
    if mine.date is not None:  # it is asked of by way of the figure beside it
        beside = [one.figure for one in _dated(want.claim.text) if one.when == mine.date]
        if not beside:
            return None
        mine = beside[0]
    when = _asked(want, mine)
    figures = _dated(text.passages[index].text) if when is not None else ()
    here = [one for one in figures if agrees(mine, one.figure)]
    if when is None or not here:
        return None
    marks = {_same(when, one.when) for one in here}
    if marks != {False}:
        rest = [one for one in figures if agrees(mine, one.figure) is False]
        alone = True in marks and all(_same(when, one.when) is False for one in rest)
        return (OWN, index) if alone else None
    for place, one in _others(when, mine, text, index):
        if _of_same(want, one, here[0]):
            return OTHER, place
    asked = any(_same(when, other.date) for other in want.context.quantities)
    # A date behind other words may be of those: `the firm founded in 1998`.
    said = not any(_own_words(want, one.before) for one in here)
    return (ABSENT, index) if asked and said else None


def _asked(want: Wanted, mine: Quantity) -> Date | None:
    """The period of a figure of a claim, or else the only one of the question."""
    if any(one.date is not None for one in want.claim.quantities):
        for one in _dated(want.claim.text):
            if one.figure.start == mine.start and one.when is not None:
                return one.when
    dates = {one.date for one in want.context.quantities if one.date and not one.until}
    return dates.pop() if len(dates) == 1 else None


def _others(when: Date, mine: Quantity, text: Told, index: int) -> Iterator[tuple[int, _Dated]]:
    """The other figures of the kind that are of the period, and where."""
    placed = text.figured(family(mine))
    for place, figures in placed[bisect_left(placed, (index - NEAR,)) :]:
        if place > index + NEAR:
            break
        if place == index or figures.mark(mine) is False:
            for one in _dated(text.passages[place].text):
                if _same(when, one.when) and agrees(mine, one.figure) is False:
                    yield place, one


def _same(mine: Date, other: Date | None) -> bool | None:
    """Whether two periods are the same; None where they are not of the same kind."""
    if other is None or _grain(mine) != _grain(other):
        return None
    return same_date(mine, other)


def _grain(date: Date) -> tuple[bool, ...]:
    return (*[part is None for part in date[:4]], date.span > 1)


def _of_same(want: Wanted, other: _Dated, here: _Dated) -> bool:
    """Whether another figure is one of the same thing: its part has no word that the part with the
    claim's figure has not, or no fewer words of the claim.
    """
    if other.noun and here.noun and other.noun != here.noun:
        return False  # what a number counts
    words = terms_of(want.claim.text)
    shared = len(words & other.words)
    return not _own_words(want, other.words - here.words) or shared >= max(
        1, len(words & here.words)
    )


def _own_words(want: Wanted, words: Terms) -> Terms:
    """Words that neither claim nor question has; that something rose or fell is not counted."""
    known, changing = lexicon().words, lexicon().polar
    own = words - terms_of(want.claim.text) - want.context.terms.keys()
    return frozenset(
        [
            term
            for term in own
            if not any(idea in want.common or idea in changing for idea, _ in known.get(term, ()))
        ]
    )


@lru_cache(maxsize=512)
def _dated(text: str) -> tuple[_Dated, ...]:
    """The figures of a sentence, each with its period; none where it has no period."""
    found = amounts(text) if len(text) <= LONGEST_KEPT else ()
    if not any(one.date is not None for one in found):
        return ()
    folded = fold(text)
    if IN_TURN.search(folded):
        return ()
    beside = _beside(folded, found)
    taken = {date.start for date in beside.values() if date.date is not None}
    dated: list[_Dated] = []
    for start, end in _parts(folded, found):
        inside = [one for one in found if start <= one.start < end]
        free = [d for d in inside if d.date and d.start not in taken and _is_when(folded, d)]
        figures = [one for one in inside if one.date is None]
        for one in figures:
            date = _year_before(folded, one, found) or beside.get(one.start)
            date = date or _nearest(one, free, len(figures) == 1)
            noun = NOUN.match(text, one.end) if one.kind == "number" else None
            before = _blank(folded, found, start, min(one.start, date.start) if date else end)
            words = _words(_YEAR_BEFORE.sub("", _blank(folded, found, start, end)))
            when = None if date is None or date.until else date.date
            dated.append(_Dated(one, when, noun[0] if noun else "", _words(before), words))
    return tuple(dated)


def _beside(text: str, found: Sequence[Quantity]) -> dict[int, Quantity]:
    """The periods that stand right before or behind a figure, by the place of the figure."""
    beside: dict[int, Quantity] = {}
    taken: set[int] = set()
    pairs = list(pairwise(found))
    for date, one in pairs:
        if date.date and not one.date and _THUS.fullmatch(text, date.end, one.start):
            beside[one.start] = date
            taken.add(date.start)
    for one, date in pairs:
        free = date.date and not one.date and date.start not in taken and one.start not in beside
        if free and _THEN.fullmatch(text, one.end, date.start):
            beside[one.start] = date
    return beside


def _year_before(text: str, one: Quantity, found: Sequence[Quantity]) -> Quantity | None:
    """The period a year before the last one told, where a figure is said to be of that."""
    if _YEAR_BEFORE.match(text, one.end):
        for other in reversed([date for date in found if date.start < one.start]):
            if other.date is not None and other.date.year is not None:
                return replace(other, date=other.date._replace(year=other.date.year - 1))
    return None


def _parts(text: str, found: Sequence[Quantity]) -> Iterator[tuple[int, int]]:
    """The parts of a sentence; one that only says when belongs to the next."""
    dates = [one for one in found if one.date is not None]
    start = 0
    for cut in PARTS.finditer(text):
        if not _WHEN.fullmatch(_blank(text, dates, start, cut.start())):
            yield start, cut.start()
            start = cut.end()
    yield start, len(text)


def _blank(text: str, found: Sequence[Quantity], start: int, end: int) -> str:
    """A part of a text without its quantities."""
    rest: list[str] = []
    for one in found:
        if start <= one.start < end:
            rest.append(text[start : one.start])
            start = one.end
    return " ".join([*rest, text[start:end]])


def _nearest(one: Quantity, dates: Sequence[Quantity], alone: bool) -> Quantity | None:
    """The period before a figure, or the first behind one that is alone."""
    before = [date for date in dates if date.start < one.start]
    if before:
        return before[-1]
    return dates[0] if dates and alone else None


def _is_when(text: str, date: Quantity) -> bool:
    if _AGAINST.search(text, max(0, date.start - 20), date.start):
        return False
    return _PAPER.match(text, date.end) is None


def _words(text: str) -> Terms:
    return whole_words(terms_of(text))
