"""Words: folding, language, and the terms of a text that carry its content.

English words are stemmed lightly, Chinese is read as pairs of characters: there is no dictionary
to cut it with. Numbers are no words here; `quantities.py` reads those.
"""

import re
import unicodedata
from collections.abc import Set
from functools import lru_cache
from itertools import chain
from operator import add
from typing import Literal

from rubrica.judges.text.lists import words_of as words_of
from rubrica.judges.text.stems import stem

#: What was read of a longer text is not kept: the store would grow without end.
LONGEST_KEPT = 400
CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[^\W\d_{CJK}]+(?:['-][^\W\d_{CJK}]+)*|[{CJK}]+|\d+(?:[.,]\d+)*")
_WORD = re.compile(rf"[^\W\d_{CJK}]+(?:'[^\W\d_{CJK}]+)?|[{CJK}]+")
#: The same for plain English, where it is twice as fast.
_ASCII_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")
_HAN = re.compile(rf"[{CJK}]")
_POSSESSIVE = re.compile(r"'s?\Z")

#: Signs that are written in several ways, one character for one, so that places stay true.
_FOLDS = str.maketrans(
    {
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
        **dict.fromkeys("‘’ʼ`´′", "'"),
        **dict.fromkeys("“”„«»″", '"'),
        **dict.fromkeys("‐‑‒–—―−﹣", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u200a\u202f\u3000", " "),
        "、": ",",
        "。": ".",
        "％": "%",
    }
)
#: Grammar between Chinese words: it ends a run of characters.
_HAN_STOPS = re.compile(
    "[的了是在于为由和与及等也都就而其该这那个之把被将让使则且但并又很更最还再只着过们它他她我你您呢吗吧啊]"
)


def fold(text: str) -> str:
    """Full width, quotes and dashes as plain signs; the length and so every place stays."""
    if text.isascii():
        return text
    return _folded(text) if len(text) <= LONGEST_KEPT else text.translate(_FOLDS)


@lru_cache(maxsize=512)  # one sentence is read for several things
def _folded(text: str) -> str:
    return text.translate(_FOLDS)


def normal(text: str) -> str:
    """The text in one way of writing: compatibility forms, quotes and dashes folded."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_FOLDS)


def language(text: str) -> Literal["en", "zh"]:
    """Chinese where a fifth of the letters are; one character says as much as a short word."""
    if text.isascii():
        return "en"
    text = text[:4000]
    han = len(_HAN.findall(text))
    letters = sum(map(str.isalpha, text)) - han
    return "zh" if han * 4 > letters else "en"


def fold_to_words(text: str) -> list[str]:
    """Lower-case words, numbers and single Chinese characters in order, without any signs."""
    found: list[str] = []
    for token in _TOKEN.findall(normal(text).lower()):
        if _is_han(token[0]):
            found.extend(token)
        else:
            found.append(_POSSESSIVE.sub("", token) or token)
    return found


def _is_han(sign: str) -> bool:
    """Whether a letter is a Chinese character."""
    return "\u3400" <= sign <= "\u9fff" or "\uf900" <= sign <= "\ufaff"


def terms(text: str) -> frozenset[str]:
    """What the text is about: stems without stop words, pairs of Chinese characters."""
    return _terms(text) if len(text) <= LONGEST_KEPT else _terms.__wrapped__(text)


@lru_cache(maxsize=512)
def _terms(text: str) -> frozenset[str]:
    folded = fold(text)
    if folded.isascii():
        return frozenset(chain.from_iterable(map(word_terms, _ASCII_WORD.findall(folded))))
    found: set[str] = set()
    for token in _WORD.findall(folded):
        if token.isascii() or not _is_han(token[0]):
            found.update(word_terms(token))
        else:
            for run in _HAN_STOPS.split(token):
                found.update(map(add, run, run[1:]) if len(run) > 1 else run)
    return frozenset(found)


@lru_cache(maxsize=65536)
def word_terms(word: str) -> tuple[str, ...]:
    """The stem of a word in its own case, or nothing for a stop word."""
    lower = _POSSESSIVE.sub("", word.lower())
    if not lower or lower in words_of("stop.txt"):
        return ()
    return (stem(lower),)


def overlap(claim_terms: Set[str], sentence_terms: Set[str]) -> float:
    """The share of the claim's terms that the sentence has; long, so rarer, words count more."""
    whole = shared = 0.0
    for term in claim_terms:
        weight = weight_of(term)
        whole += weight
        if term in sentence_terms:
            shared += weight
    return shared / whole if whole else 0.0


def weight_of(term: str) -> float:
    """How much a term says: short words and those that any text has say little."""
    if term in words_of("weak.txt"):
        return 0.4
    return 1.0 if not term.isascii() else min(1.5, 0.4 + 0.15 * len(term))
