"""Short reference answers: a name, a figure, yes or no. They say nothing without their question."""

import re
from collections.abc import Sequence

from rubrica.judges.text.conflicts import denied, missing_names, other_names
from rubrica.judges.text.covering import cover
from rubrica.judges.text.quantities import Quantity, agrees, quantities
from rubrica.judges.text.reading import Reading, read, states
from rubrica.judges.text.sentences import Sentence
from rubrica.judges.text.support import Verdict
from rubrica.judges.text.wanted import Wanted, wanted
from rubrica.judges.text.words import overlap, terms

_COPULA = re.compile(
    r"\b(?:is|are|was|were|has|had|have|does|did|will|can)\b|[是为有在]", re.IGNORECASE
)
_YES = re.compile(
    r"\b(?:yes|true|correct|right|indeed)\b|^(?:是|对|可以|能|会|正确|有)", re.IGNORECASE
)
_NO = re.compile(
    r"\b(?:no|not|false|incorrect|wrong|never|cannot)\b|n't\b|^(?:否|不|错|没|无|并非|并不)",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"\b(?:final answer|the answer is|answer:|therefore|in conclusion)\b"
    r"|答案是|答案为|答案：|因此|综上",
    re.IGNORECASE,
)
_OR = re.compile(r"\bor\b|或者?|还是|也可能", re.IGNORECASE)
#: More figures than this in one sentence are a list of guesses, unless the last one is meant.
_GUESSES = 4


def is_short(text: str) -> bool:
    """Whether a reference answer is a name or figure and no sentence."""
    if len(text) > 60 or "\n" in text.strip() or _COPULA.search(text):
        return _polar(text) is not None
    return len(read(text).pieces) + len(quantities(text)) <= 4 or _polar(text) is not None


def short_verdict(answer: str, passages: Sequence[Sentence], question: str) -> Verdict:
    """Whether the text gives the answer: in the sentence that concludes, if one does."""
    polar = _polar(answer)
    if polar is not None:
        return _yes_or_no(polar, passages)
    readings = [(number, read(one.text)) for number, one in enumerate(passages)]
    final = [pair for pair in readings if _FINAL.search(pair[1].text)]
    want = wanted(answer, "")
    for number, reading in reversed(final) if final else readings:
        if states(reading.text) and _gives(want, reading):
            return _at("supported", number, passages, 0.9 if final else 0.75)
    asked = terms(question)
    for number, reading in final or readings:
        if states(reading.text) and _another(want, reading, overlap(asked, terms(reading.text))):
            return _at("contradicted", number, passages, 0.6, "another answer")
    return Verdict("absent")


def _polar(text: str) -> bool | None:
    words = text.strip(" .。!！").lower()
    if words in ("yes", "true", "correct", "是", "是的", "对", "正确", "可以", "能"):
        return True
    return (
        False if words in ("no", "false", "incorrect", "否", "不是", "不", "错误", "不能") else None
    )


def _yes_or_no(expected: bool, passages: Sequence[Sentence]) -> Verdict:
    """By the first sentence that says yes or no, or the one that concludes."""
    order = sorted(range(len(passages)), key=lambda n: _FINAL.search(passages[n].text) is None)
    for number in order:
        text = passages[number].text
        yes, no = _YES.search(text), _NO.search(text)
        if yes is None and no is None:
            continue
        said = yes is not None and (no is None or yes.start() < no.start())
        kind = "supported" if said == expected else "contradicted"
        return _at(kind, number, passages, 0.6, "" if said == expected else "the opposite")
    return Verdict("absent")


def _gives(want: Wanted, reading: Reading) -> bool:
    """Whether a sentence has the answer, as a statement and not among guesses."""
    theirs = reading.whole.quantities
    for mine in want.quantities:
        same = [other for other in theirs if _same(mine, other)]
        others = {other.value for other in theirs if other.kind == same[0].kind} if same else set()
        if not same or (len(others) > _GUESSES and not _same(mine, theirs[-1])):
            return False
        if len(others) > 1 and _OR.search(reading.text):
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


def _offered(want: Wanted, reading: Reading) -> bool:
    """Whether the answer is offered beside others: `Canberra or Sydney`."""
    found = reading.text.lower().find(want.units[0].word.lower())
    near = reading.text[max(0, found - 12) : found + len(want.claim.text) + 12]
    return found >= 0 and _OR.search(near) is not None


def _same(mine: Quantity, other: Quantity) -> bool:
    if agrees(mine, other):
        return True
    # A bare figure is met by one with a unit: the question may have named it.
    return mine.kind == "number" and other.written == mine.value and other.kind != "ordinal"


def _another(want: Wanted, reading: Reading, on_topic: float) -> bool:
    if on_topic < 0.5:
        return False
    if want.quantities and any(
        agrees(want.quantities[0], q) is False for q in reading.whole.quantities
    ):
        return True
    return bool(want.units) and want.units[0].word[0].isupper() and other_names(want, reading.whole)


def _at(
    kind: str, number: int, passages: Sequence[Sentence], score: float, note: str = ""
) -> Verdict:
    one = passages[number]
    sure = "high" if score >= 0.8 else "medium" if score >= 0.6 else "low"
    return Verdict(kind, number, one.start, one.end, score, sure, note)  # type: ignore[arg-type]
