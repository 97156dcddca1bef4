"""Yes and no as a reference answer: whether a text answers its question with yes or with no."""

import re
from collections.abc import Sequence

from rubrica.judges.text.conflicts import denied
from rubrica.judges.text.covering import cover
from rubrica.judges.text.reading import read, states
from rubrica.judges.text.sentences import Sentence
from rubrica.judges.text.wanted import wanted

_YES = frozenset(("yes", "true", "correct", "是", "是的", "对", "正确", "可以", "能"))
_NO = frozenset(("no", "false", "incorrect", "否", "不是", "不", "错误", "不能", "不可以"))
#: The word itself: first in its sentence, or where a verdict on the question stands.
_SAID = re.compile(
    r"(?:\A\W*|\b(?:answer|statement|claim|that)(?: is|'s|:)\W*|答案[是为：]\W*)"
    r"(?:(yes|yeah|yep|true|correct|right|indeed|是的?|对的?|可以|能|会|正确|没错)"
    r"|no|nope|false|not (?:true|correct|right|so)|incorrect|wrong"
    r"|否|不是?|不能|不可以|不会|错误?|没有)"
    r"(?=\Z|[\s,.:;!?，。：；！、—–-])"
    r"(?! (?:doubt|problem|wonder|matter|question|need|one|more|less|longer|other|such|two)\b)",
    re.IGNORECASE,
)
#: How much of the question a sentence has that answers it without yes or no.
_SAME = 0.6
_ANY_YES = re.compile(r"\b(?:yes|true|correct|indeed)\b", re.IGNORECASE)
_ANY_NO = re.compile(r"\b(?:no|not|false|incorrect|wrong|never|cannot)\b|n't\b", re.IGNORECASE)


def polar(text: str) -> bool | None:
    """What a reference answer says that is nothing but yes or no."""
    words = text.strip(" .。!！").lower()
    return True if words in _YES else False if words in _NO else None


def sides(passages: Sequence[Sentence], question: str) -> list[bool | None]:
    """What each sentence answers: yes, no, or nothing."""
    found = [_said(one.text) for one in passages]
    if found.count(None) == len(found) and question:
        found = [_of_question(one.text, question) for one in passages]
    if found.count(None) == len(found):
        found = [_anywhere(one.text) for one in passages]
    return found


def _said(text: str) -> bool | None:
    said = _SAID.search(text) if states(text) else None
    return None if said is None else said[1] is not None


def _of_question(text: str, question: str) -> bool | None:
    """Whether a sentence states or denies what was asked: `17 is a prime number.`"""
    asked, reading = wanted(question, ""), read(text)
    if not states(text) or reading.hedged or not asked.units:
        return None
    here = cover(asked, reading.whole)
    return not denied(asked, here) if here.total >= _SAME else None


def _anywhere(text: str) -> bool | None:
    yes, no = _ANY_YES.search(text), _ANY_NO.search(text)
    if yes is None and no is None:
        return None
    return yes is not None and (no is None or yes.start() < no.start())
