"""Whether an output gives what was asked, or only speaks of giving it.

A text answers unless every sentence of it is of a kind that answers nothing: a greeting, a plan, a
restatement, a question back, a refusal, a failure, "it depends". A question for a number is not
answered without one, nor a request for code without code.
"""

import re

from rubrica.judges.fitness.detectors.blocks import blocks
from rubrica.judges.fitness.detectors.language import guess
from rubrica.judges.fitness.detectors.pattern import Pattern, pattern
from rubrica.judges.fitness.detectors.sayings import Saying, sayings

_EMPTY = (
    *("plan", "restated", "acknowledged", "refusal", "failed", "meta", "teaser", "depends"),
    *("attached", "closing", "preamble"),
)
#: Sentences after which the rest explains and does not answer.
_FINAL = ("refusal", "failed", "depends", "plan")
_INLINE = re.compile(r"`([^`\n]*)`")
_CODE = re.compile(r"[\s(=|<>{;\[]")
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3400-\u9fff]")


def _list(name: str) -> Pattern:
    return pattern("answers", name)


def has_direct_answer(output: str, request: str = "") -> bool:
    """Whether the request is answered, rightly or not; without one, whether anything is said."""
    text = output.strip()
    if not text or _list("unknown").search(text):
        return False
    said = sayings(text)
    code = _has_code(text)
    if code:
        return not _shows_theirs(text, said)
    if _list("quantity").search(request) and not _list("figure").search(text):
        return False
    if _list("artifact").search(request) and not _gives(text, said):
        return False
    return _says_something(said, request)


def _has_code(text: str) -> bool:
    return bool(blocks(text)) or guess(text, alone=True) is not None


def _gives(text: str, said: list[Saying]) -> bool:
    """Whether there is a line of code in the prose, a list, or word that the work is done."""
    inline = any(_CODE.search(code) for code in _INLINE.findall(text))
    return inline or _is_done(said) or sum(1 for one in said if one.item) > 1


def _shows_theirs(text: str, said: list[Saying]) -> bool:
    """Whether the only code is what the asker already has."""
    return len(blocks(text)) == 1 and any(
        _list("theirs").search(one.text) for one in said if not one.after_code
    )


def _is_done(said: list[Saying]) -> bool:
    return any(_list("done").search(one.bare) for one in said)


def _says_something(said: list[Saying], request: str) -> bool:
    if not said:
        return True  # a number, a name, a formula
    whether = _list("asks_whether").search(request) is not None
    done = _is_done(said)
    restated = False
    for place, one in enumerate(said):
        if one.question or (one.title and len(said) > 1):
            continue
        kind = kind_of(one)
        if kind == "failed" and (whether or done):
            return True
        if kind is None:
            if restated and _overlap(one.text, request) > 0.5:
                continue
            return not (_asks_first(said[place:], request) and not done)
        restated = restated or kind == "restated"
        if kind in _FINAL and not (kind in ("refusal", "plan") and done):
            return _turns(said[place:])
    return False


def kind_of(one: Saying) -> str | None:
    """The kind of a sentence that answers nothing, or None."""
    text = one.bare
    if _list("acknowledged").search(text):
        return "acknowledged"
    while (hit := _list("greeting").search(text)) is not None and hit.end() > 0:
        text = text[hit.end() :]
        if not text.strip():
            return "closing"
    return next((kind for kind in _EMPTY if _list(kind).search(text)), None)


def _turns(rest: list[Saying]) -> bool:
    """Whether an answer follows all the same: a list, or what can be done instead."""
    return sum(1 for one in rest if one.item) > 1 or any(
        re.search(
            r"\b(?:but|however|instead),? (?:here|you can|this|the)\b|但(?:是)?(?:可以|这里)",
            one.bare,
        )
        for one in rest[:2]
    )


def _asks_first(rest: list[Saying], request: str) -> bool:
    """Whether the agent stops to ask before it does what it was told to do."""
    return (
        bool(request)
        and rest[-1].question
        and any(_list("confirm").search(one.bare) for one in rest)
    )


def _overlap(text: str, request: str) -> float:
    words = set(_WORD.findall(text.lower()))
    return len(words & set(_WORD.findall(request.lower()))) / len(words) if words else 0.0
