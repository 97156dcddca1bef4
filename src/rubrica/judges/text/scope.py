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
    r"(.{2,40}?) (?:can|may|could|are|is|have|has|will|get)\b"
    r"|只有([^,;.]{1,16}?)(?:才|可以|能|有权)"
)
#: To whom something is open that is not open to others; what else is limited to a place or a part
#: is only said to be there.
_RESERVED = re.compile(
    r"\b(?:entry|access|admission|entrance|membership|attendance|participation|use|registration"
    r"|eligibility|enrolment|enrollment|voting|votes?)\b[^,;.]{0,40}?"
    r" (?:is|are|was|were|remains?)(?: (?!not\b)\w+)? (?:restricted|limited|reserved|confined)"
    r" (?:to|for) (?![^,;.]{0,40}\d)([^,;.]{2,40})"
    r"|\b(?:only (?:open|available)|(?:open|available) only) (?:to|for) ([^,;.]{2,40})"
    r"|(?:仅限|只限|仅对|只对)于?([^,;.\d]{1,16}?)(?:[,;.。]|开放|使用|参加|进入|投票|\Z)",
    re.IGNORECASE,
)
_RESERVING = ("ed to", "ed for", "only", "仅限", "只限", "仅对", "只对")
#: That some may do what is open to them.
_MAY = re.compile(
    r"\b(?:can|may|allowed|permitted|entitled|welcome|open)\b|可以|能|有权|允许|开放|可",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\A\W*(?:All|Any|Every|Each|Anyone|Everyone|Everybody|Anybody)\b"
    r"|\bopen to (?:all|any|every|anyone|everyone|everybody|the public)\b"
    r"|所有|任何|人人|全体|每[个位名]|谁都"
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
    found = _ONLY.search(text) if "Only " in text or "只有" in text else None
    if found is not None:
        if "nly " in claim or "只" in claim:
            return False
        return _OTHERS.search(claim) is not None or not _are_of(found[1] or found[2], claim)
    return _shut_out(want, reading)


def _shut_out(want: Wanted, reading: Reading) -> bool:
    """Whether those of whom a claim says that they may are not among those to whom it is open."""
    those, claim = _reserved(reading.text), want.claim
    if not those or _only(claim.text) or not claim.pieces or not _MAY.search(claim.text):
        return False
    if _OTHERS.search(claim.text):
        return True
    return claim.pieces[0].term not in reading.whole.terms and not _are_of(those, claim.text)


def opened(want: Wanted, reading: Reading) -> frozenset[str]:
    """The words for those of whom alone a claim is said, and that they may, where a sentence is of
    all; none where it is not.
    """
    text, mine = reading.text, _only(want.claim.text)
    if not mine or _only(text) or not (_ALL.search(text) and _MAY.search(text)):
        return frozenset()
    those = whole_words(terms_of(mine))
    if those <= terms_of(text) or any(piece.sign < 0 for piece in reading.pieces):
        return frozenset()
    return those | {"@allow"}


def _only(text: str) -> str:
    """Those of whom alone it is said."""
    found = _ONLY.search(text) if "Only " in text or "只有" in text else None
    return _reserved(text) if found is None else found[1] or found[2]


def _reserved(text: str) -> str:
    """Those to whom alone it is open."""
    if not any(map(text.__contains__, _RESERVING)):
        return ""  # as nearly always
    found = _RESERVED.search(text)
    return "" if found is None else found[1] or found[2] or found[3]


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
