"""What was asked, as text: what of it an answer may take as given, and what repeats it."""

from functools import lru_cache
from typing import Any, NamedTuple

from rubrica.core.trace import as_text
from rubrica.judges.text.sentences import Sentence, sentences
from rubrica.judges.text.words import fold_to_words

#: A question longer than this brings its sources along; only what asks is taken from it.
_LONG, _MOST = 600, 1500


def question_of(asked: Any) -> str:
    """The question of a case: text, or the last thing that the user of a conversation said."""
    if isinstance(asked, list):
        said = [turn["content"] for turn in asked if isinstance(turn, dict) and "content" in turn]
        asked = said[-1] if said else asked
    return _asking(as_text(asked)[:20_000])


@lru_cache(maxsize=256)
def _asking(text: str) -> str:
    if len(text) <= _LONG:
        return text
    found = sentences(text)
    kept = [one.text for one in found[:-2] if one.text.endswith(("?", "？"))]
    kept += [one.text for one in found[-2:]]
    return "\n".join(kept)[-_MOST:]


def answers(passages: list[Sentence], question: str, text: str = "") -> list[Sentence]:
    """The sentences that do more than repeat the question. `text` is all of them, if at hand."""
    asked = _asked(question)
    if not asked.sentences:
        return passages
    # Folding every sentence is slow: first see whether a piece of the question is there at all.
    whole = (text or "\n".join([one.text for one in passages])).lower()
    if not any(mark in whole for mark in asked.marks):
        return passages
    return [one for one in passages if not _repeats(one.text, asked)]


class _Asked(NamedTuple):
    """The sentences of a question as words; of each the longest word, and a piece from its middle
    as it stands. `longest` are the characters of what can be one of them.
    """

    sentences: tuple[str, ...]
    words: tuple[str, ...]
    marks: tuple[str, ...]
    longest: int


@lru_cache(maxsize=256)
def _asked(question: str) -> _Asked:
    kept: list[str] = []
    rarest: list[str] = []
    marks: list[str] = []
    for one in sentences(question):
        words = fold_to_words(one.text)
        if len(words) > 2:
            kept.append(f" {' '.join(words)} ")
            rarest.append(max(words, key=len))
            middle = len(one.text) // 2
            marks.append(one.text[max(0, middle - 3) : middle + 3].lower())
    longest = 2 * max(map(len, kept), default=0) + 40
    return _Asked(tuple(kept), tuple(rarest), tuple(marks), longest)


def _repeats(text: str, asked: _Asked) -> bool:
    """Whether the text is a sentence of the question, word for word, and little else."""
    if len(text) > asked.longest:
        return False
    lower = text.lower()
    if not [mark for mark in asked.marks if mark in lower]:
        return False
    if text.isascii() and not [word for word in asked.words if word in lower]:
        return False
    words = f" {' '.join(fold_to_words(text))} "
    return any(
        words == one or (one in words and len(one) >= 0.8 * len(words)) for one in asked.sentences
    )
