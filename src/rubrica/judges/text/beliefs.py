"""What a sentence tells as believed beside what it tells as so: `Many say it is X, but it is Y`."""

import re
from functools import lru_cache

from rubrica.judges.text.conflicts import other_names
from rubrica.judges.text.covering import cover
from rubrica.judges.text.quantities import agrees
from rubrica.judges.text.reading import Reading, read
from rubrica.judges.text.sides import clause_start
from rubrica.judges.text.wanted import Wanted

_VERBS = r"(?:think|thought|believed?|assumed?|say|claim|supposed?|credit(?:ed)?)"
_HAN_VERBS = r"(?:以为|认为|相信|觉得|说)"
_BELIEF = re.compile(
    rf"\b(?:many|most|some|several|people|everyone|others)(?: \w+){{0,3}}? {_VERBS}\b"
    r"|\b(?:is|are|was|were) (?:often|commonly|widely|sometimes|popularly|wrongly|mistakenly)"
    r"(?: wrongly| mistakenly)? (?:said|claimed|believed|thought|assumed|credited)\b"
    rf"|(?:(?:很多|许多|不少|有些|一些|多数|有)人|人们|大家)(?:都|常|常常|往往|普遍|会)?误?{_HAN_VERBS}"
    r"|误以为|被误认为",
    re.IGNORECASE,
)
#: A claim that tells a belief itself.
_BELIEVES = re.compile(rf"\b(?:{_VERBS}|said|claimed)\b|{_HAN_VERBS}", re.IGNORECASE)
_HINTS = ("think", "thought", "believe", "assume", " say", " said", "claim", "suppos", "credit")
_ALL_HINTS = (*_HINTS, "以为", "认为", "相信", "觉得", "说")
#: How it is comes behind this, or behind the comma where the belief is conceded.
_BUT = re.compile(
    r"[,;]?\s*\b(?:but|yet|in fact|in reality|actually)\b|;"
    r"|[,;](?:但|其实|实际上|事实上|然而|可|不过)",
    re.IGNORECASE,
)
_ALTHOUGH = re.compile(
    r"[,;]?\s*\b(?:although|(?:even )?though|while|whereas|but)(?: \w+)?\s*\Z"
    r"|(?:虽然|尽管|但)\w{0,4}\Z",
    re.IGNORECASE,
)


def fact_told(want: Wanted, reading: Reading) -> Reading | None:
    """What a sentence tells as so beside a belief; None where it tells none, or the claim does."""
    fact = _fact(reading.text)
    return None if not fact or _BELIEVES.search(want.claim.text) else read(fact)


def only_believed(want: Wanted, reading: Reading, fact: Reading) -> bool:
    """Whether a claim is what a sentence tells as believed, and not what it tells as so."""
    if want.quantities:
        return not all(any(agrees(a, b) for b in fact.quantities) for a in want.quantities)
    here = cover(want, fact.whole)
    if not here.key:
        return True
    if not other_names(want, fact.whole):
        return False
    names = [n for group in want.names for n in group if not here.credits[n]]
    return any(cover(want, reading.whole).credits[n] for n in names)


def told_otherwise(want: Wanted, fact: Reading) -> bool:
    """Whether another name or figure is told as so."""
    figures = [agrees(a, b) for a in want.quantities for b in fact.quantities]
    return False in figures or other_names(want, fact.whole) or fact.text[0] in "是为"


def _fact(text: str) -> str:
    """What a sentence tells as so where it tells a belief too."""
    hinted = any(map(text.__contains__, _HINTS if text.isascii() else _ALL_HINTS))
    return _beside(text) if hinted else ""


@lru_cache(maxsize=512)
def _beside(text: str) -> str:
    belief = _BELIEF.search(text)
    if belief is None:
        return ""
    although = _ALTHOUGH.search(text, 0, belief.start())
    start = although.start() if although else clause_start(text, belief.start())
    but = _BUT.search(text, belief.end())
    if but is not None:
        end = but.end()
    elif although is None:
        return ""
    else:
        end = len(text) if start else text.find(",", belief.end()) + 1 or len(text)
    return f"{text[:start]} {text[end:]}".strip(" ,;")
