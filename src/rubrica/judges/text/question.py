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
    if not asked:
        return passages
    # Folding every sentence is slow: first see whether a piece of the question is there at all.
    # Chinese has no small letters, and it takes long to find none.
    small = str.lower if any(each.cased for each in asked) else str
    whole = small(text or "\n".join([one.text for one in passages]))
    for each in asked:
        mark = each.mark
        if mark in whole:
            passages = [
                one for one in passages if mark not in small(one.text) or not _repeats(one, each)
            ]
    return passages


class _Asked(NamedTuple):
    """A sentence of a question as words; the longest of them, and a piece from its middle as it
    stands, in small letters if it has any. What is the same has characters from `least`, without
    its spaces, to `longest`.
    """

    words: str
    word: str
    mark: str
    cased: bool
    least: int
    longest: int


@lru_cache(maxsize=256)
def _asked(question: str) -> tuple[_Asked, ...]:
    found: list[_Asked] = []
    for text, _, _ in sentences(question):
        words = fold_to_words(text)
        if len(words) > 2:
            joined = f" {' '.join(words)} "
            middle = len(text) // 2
            mark = text[max(0, middle - 3) : middle + 3].lower()
            cased = mark.upper() != mark
            least, longest = len("".join(words)), 2 * len(joined) + 40
            found.append(_Asked(joined, max(words, key=len), mark, cased, least, longest))
    return tuple(found)


def _repeats(one: Sentence, asked: _Asked) -> bool:
    """Whether it is this sentence of the question, word for word, and little else."""
    text = one.text
    if len(text) > asked.longest:
        return False
    if text.isascii() and (len(text) < asked.least or asked.word not in text.lower()):
        return False
    words = f" {' '.join(fold_to_words(text))} "
    return words == asked.words or (asked.words in words and len(asked.words) >= 0.8 * len(words))
