"""Of whom a sentence says what it says: of nobody else, of all but some; and whether it says so
itself or tells what others say.
"""

import re

from rubrica.judges.text.reading import Reading
from rubrica.judges.text.sides import terms_of, whole_words
from rubrica.judges.text.wanted import Wanted
from rubrica.judges.text.word import word_of

_EXCEPT = re.compile(
    r"\b(?:except|apart from)(?: for| on| in)? ([^,;.]{2,40})"
    r"|除了?([^,;.]{1,16}?)(?:以外|之外|外)"
)
_ONLY = re.compile(
    r"\A\W*Only (?!(?:recently|then|now|after|when|if|in|later|once|by|this|last) )"
    r"(.{2,40}?) (?:can|may|could|are|is|have|has|will|get)\b|只有([^,;.]{1,16}?)才"
)
_HEARSAY = re.compile(
    r"\b[Ss]ome (?:people )?(?:say|claim|believe|argue|think|fear)\b"
    r"|\b[Ii]t is (?:often|sometimes|widely) (?:said|claimed|believed)\b|有人(?:说|认为|声称)"
)
_MORE = re.compile(r"[,;]|\bbut\b|但")
_JOINED = re.compile(r"\b(?:and|or)\b|[和及、]")
_OTHERS = re.compile(r"\b[Nn]on-|非")


def reversed_for(want: Wanted, reading: Reading) -> bool:
    """Whether a sentence says the reverse for those whom the claim is of: it excepts them, or says
    it of others only.
    """
    text, claim = reading.text, want.claim.text
    if "xcept" in text or "除" in text or "part from" in text:
        found = _EXCEPT.search(text)
        if found is not None and _EXCEPT.search(claim) is None:
            # Only what the exception begins with: all except children pay.
            those = _JOINED.split(found[1] or found[2])
            return any(_are_of(one[:2] if found[2] else _first(one), claim) for one in those)
    if "Only " in text or "只有" in text:
        found = _ONLY.search(text)
        if found is not None and "nly " not in claim and "只" not in claim:
            return _OTHERS.search(claim) is not None or not _are_of(found[1] or found[2], claim)
    return False


def _first(text: str) -> str:
    return next((word for word in text.split() if not word_of(word).stop), "")


def _are_of(those: str, claim: str) -> bool:
    return not terms_of(claim).isdisjoint(whole_words(terms_of(those)))


def hearsay(reading: Reading, alone: bool = False) -> bool:
    """Whether a sentence tells what some say; `alone`, nothing else."""
    text = reading.text
    if "ome " not in text and "t is " not in text and "有人" not in text:
        return False  # as nearly always
    found = _HEARSAY.search(text)
    return found is not None and not (alone and _MORE.search(text, found.end()))
