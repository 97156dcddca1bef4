"""Answers that are offered beside others: `There are 5 left. There are 6 left. There are 7 left.`

Whoever says everything is right once. A sentence that another one repeats word for word, but for
the very thing that was asked, states neither; unless it takes the other back.
"""

import re
from collections.abc import Sequence

from rubrica.judges.text.conflicts import missing_names
from rubrica.judges.text.covering import cover
from rubrica.judges.text.quantities import agrees, quantities
from rubrica.judges.text.reading import read
from rubrica.judges.text.sentences import Sentence
from rubrica.judges.text.wanted import Wanted

#: What stands in the place of an answer in another sentence: at most so long.
_LONGEST = 40
#: Characters with which two sentences begin that may be the same but for a figure.
BEGINNING = 6
#: How much of a claim a sentence has to have to state it by itself, without a heading above it.
_ALONE = 0.8
_EDGES = " \t\r\n.!?。！？；;,，*_`"
_TAKEN_BACK = re.compile(
    r"\b(?:wait|actually|correction|sorry|mistake|mistaken|miscounted|re-?check|double-?check"
    r"|let me|instead|on second thought)\b|更正|不对|算错|说错|重新|纠正|应为|应该是",
    re.IGNORECASE,
)


def alike(passages: Sequence[Sentence]) -> frozenset[str]:
    """How sentences begin of which there are two: hardly any has to be looked at further."""
    once: set[str] = set()
    again: set[str] = set()
    for text, _, _ in passages:
        begins = text[:BEGINNING]
        (again if begins in once else once).add(begins)
    return frozenset(again)


def guessed(want: Wanted, passages: Sequence[Sentence], index: int) -> bool:
    """Whether a claim's figure is one of several that stand in the same sentence.

    `The price is $5.` under one heading and `The price is $20.` under another are no guesses: such
    a sentence does not state by itself what the claim does. Nor are dates and the numbers of rooms.
    """
    reading = read(passages[index].text)
    rivalled = False
    for mine in want.quantities:
        here = next((other for other in reading.quantities if agrees(mine, other)), None)
        if here is None:
            return False
        if not mine.date and (mine.kind != "number" or here is reading.quantities[-1]):
            rivalled |= any(
                agrees(mine, one) is False
                for place in rivals(passages, index, here.start, here.end)
                for one in quantities(place)
            )
    if not rivalled:
        return False
    whole = cover(want, reading.whole)
    return whole.key >= _ALONE and not missing_names(want, whole, reading.whole)


def rivals(passages: Sequence[Sentence], index: int, start: int, end: int) -> list[str]:
    """What other sentences have in the place of something, from `start` to `end` of this one,
    unless it is taken back before this one says its own.
    """
    text = passages[index].text.lower()
    before, after = text[:start].lstrip(_EDGES), text[end:].rstrip(_EDGES)
    mine = text[start:end].strip(_EDGES)
    found: list[tuple[int, str]] = []
    for number, one in enumerate(passages):
        if number == index:
            continue
        other = one.text.lower().strip(_EDGES)
        between = len(other) - len(before) - len(after)
        if 0 < between <= _LONGEST and other.startswith(before) and other.endswith(after):
            place = other[len(before) : len(before) + between].strip(_EDGES)
            if place and place != mine:
                found.append((number, place))
    taken_back = _last_taken_back(passages, index) if found else 0
    return [place for number, place in found if number >= taken_back]


def _last_taken_back(passages: Sequence[Sentence], index: int) -> int:
    """The last sentence up to this one that takes back what was said before it."""
    numbers = range(index, 0, -1)
    return next((number for number in numbers if _TAKEN_BACK.search(passages[number].text)), 0)
