"""Whether an output gives a reason, or says how a thing works, beyond the bare answer.

Most explanations have a word for it. Those without one are found by where they stand: statements
beside a block of code, statements in answer to "how does it work", a ground behind a choice, and
what follows a refusal.
"""

import re

from rubrica.judges.fitness.detectors.answer import has_direct_answer, kind_of
from rubrica.judges.fitness.detectors.blocks import has_code_block
from rubrica.judges.fitness.detectors.pattern import Pattern, pattern
from rubrica.judges.fitness.detectors.sayings import Saying, sayings
from rubrica.judges.fitness.detectors.steps import is_step

_WORD = re.compile(r"[^\W\d_]+|`[^`]*`")
_SIGN = re.compile(r"[\u3400-\u9fff]")
#: Kinds of sentences in which a reason explains nothing that was asked.
_IDLE = ("plan", "restated", "acknowledged", "meta", "teaser", "closing", "attached", "preamble")


def _list(name: str) -> Pattern:
    return pattern("explanations", name)


def has_explanation(output: str, request: str = "") -> bool:
    """Whether something is explained; with the request, more ways of explaining are known."""
    said = [one for one in sayings(output) if not one.title]
    if _list("translation").search(request) and len(said) < 3:
        return False  # a reason in the translated sentence is not the translator's
    if any(_reasons(one) for one in said):
        return True
    stated = [one for one in said if _states(one)]
    if (
        has_code_block(output)
        and stated
        and any(one.after_code or len(stated) > 1 for one in stated)
    ):
        return True
    if any(kind_of(one) == "refusal" for one in said[:2]) and any(map(_tells, said[1:])):
        return True
    if not request or not said:
        return False
    if _list("mechanism").search(request) and not _list("how_to").search(request):
        told = [one for one in said if kind_of(one) is None and not one.question]
        return sum(map(_size, told)) > 9 and has_direct_answer(output, request)
    return stated != [] and _list("choice").search(request) is not None and _grounds(said)


def _reasons(one: Saying) -> bool:
    text = one.bare
    if one.question or kind_of(one) in _IDLE:
        return False
    for name in ("filler", "advice"):
        while (hit := _list(name).search(text)) is not None and hit.end() > hit.start():
            text = text[: hit.start()] + " _ " + text[hit.end() :]
    return _list("reason").search(text) is not None


def _states(one: Saying) -> bool:
    """A sentence that says something, and does not greet, ask, tell or promise."""
    if one.question or one.text.rstrip().endswith((":", "：")):
        return False
    if _size(one) < 5 or kind_of(one) is not None:
        return False
    return not _list("command").search(one.bare) and not is_step(one, first=False)


def _tells(one: Saying) -> bool:
    """What stands behind a refusal: its ground, unless it tells the reader what to do."""
    return _size(one) > 8 and not one.question and not is_step(one, first=False)


def _grounds(said: list[Saying]) -> bool:
    """A choice with its ground behind it, after a full stop or a colon."""
    for place, one in enumerate(said):
        _head, colon, tail = one.bare.partition(": ")
        if colon and _list("ground").search(tail) and len(_WORD.findall(tail)) > 5:
            return True
        if place and _list("ground").search(one.bare) and _states(one):
            return True
    return False


def _size(one: Saying) -> int:
    signs = len(_SIGN.findall(one.text))
    return signs // 2 if signs > 5 else len(_WORD.findall(one.text))
