"""Short reference answers: a name, a figure, yes or no. They say nothing without their question."""

import re
from collections.abc import Sequence

from rubrica.judges.text.beliefs import fact_told, only_believed, told_otherwise
from rubrica.judges.text.conflicts import denied, missing_names, other_names
from rubrica.judges.text.covering import cover
from rubrica.judges.text.guesses import rivals
from rubrica.judges.text.looks import Look
from rubrica.judges.text.polar import polar, sides
from rubrica.judges.text.quantities import Quantity, agrees, quantities
from rubrica.judges.text.reading import Reading, read, states
from rubrica.judges.text.sentences import Sentence
from rubrica.judges.text.support import Verdict, verdict_at
from rubrica.judges.text.wanted import Wanted, wanted
from rubrica.judges.text.words import overlap, terms

_COPULA = re.compile(
    r"\b(?:is|are|was|were|has|had|have|does|did|will|can)\b|[是为有在]", re.IGNORECASE
)
#: Four words or six characters with a full stop.
_SENTENCE = re.compile(r"\s*(?:(?:\S+\s+){3,}\S+\.|[\u4e00-\u9fff\d]{6,}[。！])\s*\Z")
_FINAL = re.compile(
    r"\b(?:final answer|the answer is|answer:|therefore|in conclusion)\b"
    r"|答案是|答案为|答案：|因此|综上",
    re.IGNORECASE,
)
_OR = re.compile(
    r"\bor\b(?! (?:more|over|up|under|less|fewer|older|younger|higher|lower|above|below|later"
    r"|earlier|so|not)\b)|或者?(?!以)|还是|也可能",
    re.IGNORECASE,
)
#: Behind this stands the answer itself, before any reason for it.
_ANSWER = re.compile(r"\banswer(?: is|:)|答案[是为：]", re.IGNORECASE)
#: Before a figure that is denied, and around one that is only reckoned with.
_DENIED = re.compile(
    r"(?:\bnot|n't|\bnever|不是|并非|不为|不等于|而非)\W*"
    r"(?:(?:exactly|equal to|the|be)\s+)*[$€£¥]?\Z",
    re.IGNORECASE,
)
_OPERATOR = r"(?:[-+*×÷/−]|\b(?:plus|minus|times|divided by)\b|[加减乘]|除以)\s*[$€£¥]?"
_RECKONED = re.compile(rf"[ ]?[^\W\d]*\s*{_OPERATOR}\d", re.IGNORECASE)
_RECKONS = re.compile(rf"\d[ ]?[^\W\d]*\s*{_OPERATOR}\Z", re.IGNORECASE)
_EQUALS = re.compile(r"=|\b(?:is|are|equals?|makes?|leaves?)\b|等于|得|[是为]")
#: A verb behind which one answer rules out any other.
_IS = re.compile(r"(?:\b(?:is|are|was|were)|[:=：是为])[ ]*(?:the )?\Z")
#: How far before a figure a denial or a sum is looked for.
_NEAR = 80
#: More figures than this in one sentence are a list of guesses, unless the last one is meant.
_GUESSES = 4
#: Words of an answer that stands alone in its line.
_FEW = 3


def is_short(text: str) -> bool:
    """Whether a reference answer is a name or figure and no sentence."""
    if len(text) > 60 or "\n" in text.strip() or _COPULA.search(text) or _SENTENCE.match(text):
        return polar(text) is not None
    return len(read(text).pieces) + len(quantities(text)) <= 4 or polar(text) is not None


def short_verdict(answer: str, passages: Sequence[Sentence], question: str) -> Verdict:
    """Whether the text gives the answer: in the sentence that concludes, if one does."""
    side = polar(answer)
    if side is not None:
        return _yes_or_no(side, passages, question)
    readings = [(number, read(one.text)) for number, one in enumerate(passages)]
    final = [pair for pair in readings if _FINAL.search(pair[1].text)]
    want = wanted(answer, "")
    for number, reading in reversed(final) if final else readings:
        if states(reading.text) and _gives(want, reading, passages[number].text):
            if _one_of_many(answer, want, passages, number):
                return verdict_at(
                    Look("contradicted", 0.6, "one of several answers"), number, passages
                )
            return verdict_at(Look("supported", 0.9 if final else 0.75), number, passages)
    asked = terms(question)
    for number, reading in final or readings:
        if states(reading.text) and _another(want, reading, overlap(asked, terms(reading.text))):
            return verdict_at(Look("contradicted", 0.6, "another answer"), number, passages)
    return Verdict("absent")


def _yes_or_no(expected: bool, passages: Sequence[Sentence], question: str) -> Verdict:
    """By the first sentence that says yes or no, or the one that concludes; both are neither."""
    said = sides(passages, question)
    order = sorted(range(len(said)), key=lambda n: _FINAL.search(passages[n].text) is None)
    for number in order:
        if said[number] is None:
            continue
        if said[number] != expected:
            return verdict_at(Look("contradicted", 0.6, "the opposite"), number, passages)
        other = [
            n for n in order if said[n] == (not expected) and polar(passages[n].text) is not None
        ]
        if other:
            return verdict_at(Look("contradicted", 0.6, "yes and no"), other[0], passages)
        return verdict_at(Look("supported", 0.6), number, passages)
    return Verdict("absent")


def _gives(want: Wanted, reading: Reading, text: str) -> bool:
    """Whether a sentence has the answer, as a statement and not among guesses."""
    fact = fact_told(want, reading)
    if fact is not None and only_believed(want, reading, fact):
        return False
    theirs = reading.whole.quantities
    if len(want.quantities) == 1:
        theirs = _meant(theirs, text)
    for mine in want.quantities:
        same = [other for other in theirs if _same(mine, other)]
        if not same:
            return False
        others = {o.value for o in theirs if o.kind == same[0].kind and not _same(mine, o)}
        if len(others) >= _GUESSES and not _same(mine, theirs[-1]):
            return False
        if others and _OR.search(reading.text) and not _OR.search(want.claim.text):
            return False
    if not want.units:
        return bool(want.quantities) and not reading.whole.hedged
    here = cover(want, reading.whole)
    by_name = all(unit.name for unit in want.units) and here.credits[-1] >= 1.0
    if (
        (here.key < 0.7 and not by_name)
        or missing_names(want, here, reading.whole)
        or denied(want, here)
    ):
        return False
    if reading.whole.hedged and not want.claim.whole.hedged:
        return False
    return not _offered(want, reading)


def _meant(found: Sequence[Quantity], text: str) -> list[Quantity]:
    """The figures that a sentence gives as its own: none that it denies or only reckons with."""
    told = max([equals.start() for equals in _EQUALS.finditer(text)], default=-1)
    meant = [
        one
        for one in found
        if not _DENIED.search(text, max(0, one.start - _NEAR), one.start)
        and not (one.end <= told and _is_part(one, text))
    ]
    answer = _ANSWER.search(text)
    behind = [one for one in meant if answer is not None and one.start >= answer.end()]
    return behind[:1] or meant


def _is_part(one: Quantity, text: str) -> bool:
    """Whether a figure is part of a sum: the 12 and the 5 of `12 - 5 = 7`."""
    if _RECKONED.match(text, one.end):
        return True
    return _RECKONS.search(text, max(0, one.start - _NEAR), one.start) is not None


def _one_of_many(answer: str, want: Wanted, passages: Sequence[Sentence], number: int) -> bool:
    """Whether other sentences are the same but for the answer."""
    text = passages[number].text
    for mine in want.quantities:
        for other in read(text).quantities:
            if _same(mine, other):
                found = [
                    place
                    for place in rivals(passages, number, other.start, other.end)
                    if any(not _same(mine, one) for one in quantities(place))
                ]
                return len(found) > (not text[: other.start].strip())
    start = text.lower().find(answer.strip(" .。").lower())
    if want.quantities or start < 0:
        return False
    before = text[:start].strip("*_` ")
    found = rivals(passages, number, start, start + len(answer.strip(" .。")))
    if not before:
        return len([place for place in found if len(place.split()) <= _FEW]) > 1
    return bool(found) and _IS.search(before) is not None


def _offered(want: Wanted, reading: Reading) -> bool:
    """Whether the answer is offered beside others: `Canberra or Sydney`."""
    found = reading.text.lower().find(want.units[0].word.lower())
    near = reading.text[max(0, found - 12) : found + len(want.claim.text) + 12]
    return found >= 0 and _OR.search(near) is not None and not _OR.search(want.claim.text)


def _same(mine: Quantity, other: Quantity) -> bool:
    if agrees(mine, other):
        return True
    # A bare figure is met by one with a unit: the question may have named it.
    return mine.kind == "number" and other.written == mine.value and other.kind != "ordinal"


def _another(want: Wanted, reading: Reading, on_topic: float) -> bool:
    fact = fact_told(want, reading)
    if fact is not None and only_believed(want, reading, fact):
        return told_otherwise(want, fact)
    if on_topic < 0.5:
        return False
    if want.quantities and any(
        agrees(want.quantities[0], q) is False for q in reading.whole.quantities
    ):
        return True
    return bool(want.units) and want.units[0].word[0].isupper() and other_names(want, reading.whole)
