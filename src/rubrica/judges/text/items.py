"""Which item a figure is of, where a text has one for each of several: a list, a table, a sentence.

`Basic: $20, Pro: $5` has both figures of the claim that Pro costs $20, and denies it.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rubrica.judges.text.dated import IN_TURN, NEAR, OTHER, OWN, PARTS, of_period
from rubrica.judges.text.ledger import family
from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.looks import ABSENT, Look
from rubrica.judges.text.quantities import Quantity, agrees, amounts
from rubrica.judges.text.sides import Terms, terms_of, whole_words
from rubrica.judges.text.told import Told
from rubrica.judges.text.wanted import Wanted, wanted
from rubrica.judges.text.words import fold

_NONE: Terms = frozenset()
#: What follows is part of what was told before.
_AMONG = re.compile(r"\A\s*(?:including|among them|of which|包括|其中)")
#: What stands between a label and its figure without a space.
_IS = "是为"
_LABELLED = re.compile(r"[-*•\s]*(?:\d+[.)] )?[^:|\d]{1,40}:|\|")


class _Item(NamedTuple):
    """A part of a text with a figure, and the words before it that say what it is of."""

    label: Terms
    amounts: tuple[Quantity, ...]
    #: Whether those words stand before the figure.
    first: bool = True


def elsewhere(want: Wanted, text: Told, index: int, rivals: Terms) -> tuple[Look, int] | None:
    """What is said of the item of a claim, and where, if the figure that agrees is of another.
    `rivals` are the items of claims like this one.
    """
    sentence, gist = text.passages[index].text, text.gist(index)
    missing = not want.heads <= gist
    rivalled = bool(rivals) and not rivals.isdisjoint(gist)
    for mine in want.quantities:
        said = of_period(want, mine, text, index)
        if said is not None:
            if said[0] is OWN:
                continue
            return said
        placed = text.figured(family(mine))
        at = bisect_left(placed, (index,))
        several = at < len(placed) and len(placed[at][1].amounts) > 1
        near = _nearby(want, mine, text, index) if missing and len(placed) > 1 else []
        if not near and not several and not rivalled:
            continue  # as nearly always
        found = _items(sentence)
        here = [item for item in found if any(agrees(mine, amount) for amount in item.amounts)]
        if len(here) != 1 or IN_TURN.search(sentence):
            continue
        if sentence[0] == "|" and _in_column(want, mine, text, index):
            return OTHER, index
        label = here[0].label
        if want.heads <= label:
            continue
        for number, item in enumerate(found):
            if item is here[0] or not _other(mine, item.amounts):
                continue
            # What follows may leave the verb out: `water boils at 100 °C, ethanol at 78 °C`.
            later = number > found.index(here[0]) and mine.date is None
            brief = later and item.first and item.label <= want.heads
            if _rather(want, label, item.label, brief):
                return OTHER, index
        for place, item in near if len(found) == 1 else ():
            same = _listed(text, index) and _listed(text, place)
            if _rather(want, label, item.label) and (same or _alike(label, item.label)):
                return OTHER, place
        if not rivals.isdisjoint(label) and want.heads.isdisjoint(label):
            return ABSENT, index
    return None


@lru_cache(maxsize=256)
def rivals_of(claims: tuple[str, ...], context: str) -> tuple[Terms, ...]:
    """For each claim the items of those that differ from it in nothing but item and figure."""
    wants = [wanted(claim, context) for claim in claims]
    found: list[Terms] = [_NONE] * len(wants)
    alike: dict[Terms, list[int]] = {}
    sizes = [len(want.claim.pieces) if want.quantities else 0 for want in wants]
    for number, want in enumerate(wants):
        if want.quantities and sizes.count(sizes[number]) > 1:
            items = {want.units[0].at} if want.units else set()
            items.update([unit.at for unit in want.units if unit.name or unit.perhaps])
            pieces = enumerate(want.claim.pieces)
            rest = frozenset([piece.term for at, piece in pieces if at not in items])
            alike.setdefault(rest, []).append(number)
    for group in alike.values():
        for number in group if len(group) > 1 else ():
            heads = [wants[other].heads for other in group]
            found[number] = _NONE.union(*heads) - wants[number].heads
    return tuple(found)


def _nearby(want: Wanted, mine: Quantity, text: Told, index: int) -> list[tuple[int, _Item]]:
    """The items near by that have another figure, and a word of what the claim is of."""
    found: list[tuple[int, _Item]] = []
    placed = text.figured(family(mine))
    reach = NEAR if _listed(text, index) else 1
    for place, figures in placed[bisect_left(placed, (index - reach,)) :]:
        if place > index + reach:
            break
        if place == index or want.heads.isdisjoint(text.gist(place)):
            continue
        if figures.mark(mine) is False:
            items = _items(text.passages[place].text)
            found += [(place, items[0])] if len(items) == 1 else []
    return found


def _listed(text: Told, index: int) -> bool:
    sentence = text.passages[index].text
    marked = ":" in sentence or "：" in sentence or sentence[0] == "|"
    return marked and _LABELLED.match(fold(sentence)) is not None


def _other(mine: Quantity, theirs: Sequence[Quantity]) -> bool:
    """Whether there is another figure of the kind, and not the claim's."""
    found = [agrees(mine, amount) for amount in theirs]
    return False in found and True not in found


def _rather(want: Wanted, label: Terms, other: Terms, brief: bool = False) -> bool:
    """Whether another label is the claim's, and this one has something else in its place."""
    words = want.claim.whole.terms.keys()
    if not want.heads & other - label or other - label - words:
        return False
    if words & label - other and not brief:
        return False
    known, polar = lexicon().words, lexicon().polar
    return any(
        want.common.isdisjoint([idea for idea, _ in known.get(term, ()) if idea not in polar])
        for term in label - other - words
    )


def _alike(one: Terms, other: Terms) -> bool:
    """Whether two labels differ in a word or two: `Basic costs` and `Pro costs`."""
    return not one.isdisjoint(other) and max(_size(one - other), _size(other - one)) <= 2


def _size(terms: Terms) -> int:
    """The number of words; a Chinese one has three terms or so."""
    han = sum(not term.isascii() for term in terms)
    return len(terms) - han + (han + 2) // 3


@lru_cache(maxsize=1024)
def _words(text: str) -> Terms:
    return whole_words(terms_of(text))


@lru_cache(maxsize=512)
def _items(text: str) -> tuple[_Item, ...]:
    """The parts of a sentence that have a figure each."""
    found: list[_Item] = []
    folded, figures = fold(text), amounts(text)
    cuts = [] if folded[:1] == "|" else [(cut.start(), cut.end()) for cut in PARTS.finditer(folded)]
    start = 0
    for end, following in (*cuts, (len(text), len(text))):
        inside = tuple([one for one in figures if start <= one.start < end])
        if inside:
            before = _AMONG.sub("", folded[start : inside[0].start])
            label = _words(before.rstrip(_IS))
            if inside[0].date and found and before.strip() in ("", "the"):  # the 1930s and 1940s
                found[-1] = _Item(found[-1].label, found[-1].amounts + inside)
            else:
                behind = label or _words(folded[inside[0].end : end])
                found.append(_Item(behind, inside, bool(label)))
        start = following
    return tuple(found)


def part_with(mine: Sequence[Quantity], text: str) -> str:
    """The part of a sentence that has a figure of a claim, all of it where none has."""
    for amount in amounts(text) if mine else ():
        if any(agrees(one, amount) for one in mine):
            start = max([cut.end() for cut in PARTS.finditer(text, 0, amount.start)], default=0)
            end = PARTS.search(text, amount.end)
            return text[start : end.start() if end else len(text)]
    return text


def _in_column(want: Wanted, mine: Quantity, text: Told, index: int) -> bool:
    """Whether the column of a table that the claim is of has another figure."""
    row = text.passages[index].text
    if row[:1] != "|" or row.count("|") < 4:
        return False
    heads, cells = want.heads, row.split("|")
    for place in range(index - 1, max(-1, index - NEAR), -1):
        head = text.passages[place].text
        if head[:1] != "|":
            break
        columns = [at for at, cell in enumerate(head.split("|")) if heads & _words(cell)]
        if len(columns) == 1 and 1 < columns[0] < len(cells):
            return _other(mine, amounts(cells[columns[0]]))
    return False
