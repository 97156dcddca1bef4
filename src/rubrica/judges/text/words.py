"""Words: folding, language, and the terms of a text that carry its content.

English words are stemmed lightly, Chinese is read as pairs of characters: there is no dictionary
to cut it with. Numbers are no words here; `quantities.py` reads those.
"""

import re
import unicodedata
from collections.abc import Iterable, Set
from functools import lru_cache
from itertools import chain, pairwise
from math import fsum
from operator import add
from string import digits, punctuation
from typing import Literal

from rubrica.judges.text.lists import words_of as words_of
from rubrica.judges.text.stems import stem

#: What was read of a longer text is not kept: the store would grow without end.
LONGEST_KEPT = 400
CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[^\W\d_{CJK}]+(?:['-][^\W\d_{CJK}]+)*|[{CJK}]+|\d+(?:[.,]\d+)*")
_WORD = re.compile(rf"[^\W\d_{CJK}]+(?:'[^\W\d_{CJK}]+)?")
_HAN = re.compile(rf"[{CJK}]+")
_LETTERLESS = digits + punctuation

#: Signs that are written in several ways, one character for one, so that places stay true.
_FOLDS = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys("‘’ʼ`｀´′", "'"),
    **dict.fromkeys("“”„«»″", '"'),
    **dict.fromkeys("‐‑‒–—―−﹣", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2009\u200a\u202f\u3000", " "),
    "、": ",",
    "。": ".",
    "￥": "¥",
}
_FOLDED = re.compile(f"[{''.join(map(re.escape, _FOLDS))}]")
#: Grammar between Chinese words: it ends a run of characters.
_HAN_STOPS = sorted(
    "的了是在于为由和与及等也都就而其该这那个之把被将让使则且但并又很更最还再只着过们它他她我你您呢吗吧啊"
)
_BETWEEN = "".join(
    f"{chr(ord(one) + 1)}-{chr(ord(next_one) - 1)}"
    for one, next_one in pairwise(("\u4dff", *_HAN_STOPS, "\ua000"))
    if ord(one) + 1 < ord(next_one)
)
_RUN = re.compile(f"[{CJK[:3]}{_BETWEEN}{CJK[-3:]}]+")
#: Neither Chinese nor what commonly stands between it: letters of another script, most likely.
_OTHER = re.compile(rf"[^{CJK}0-9 \n，。、；：！？（）“”《》%.,:;!?()\[\]-]")


def fold(text: str) -> str:
    """Full width, quotes and dashes as plain signs; the length and so every place stays."""
    if text.isascii():
        return text
    return _folded(text) if len(text) <= LONGEST_KEPT else _plain(text)


def _plain(text: str) -> str:
    # Sign by sign: `str.translate` is slow where most characters stay.
    for sign in {*_FOLDED.findall(text)}:
        text = text.replace(sign, _FOLDS[sign])
    return text


_folded = lru_cache(maxsize=512)(_plain)  # one sentence is read for several things


def normal(text: str) -> str:
    """The text in one way of writing: compatibility forms, quotes and dashes folded."""
    return text if text.isascii() else _plain(unicodedata.normalize("NFKC", text))


def language(text: str) -> Literal["en", "zh"]:
    """Chinese where a fifth of the letters are; one character says as much as a short word."""
    if text.isascii():
        return "en"
    text = text[:4000]
    rest = _HAN.sub("", text)
    han = 4 * (len(text) - len(rest))
    return "zh" if han > len(rest) or han > sum(map(str.isalpha, rest)) else "en"


def fold_to_words(text: str) -> list[str]:
    """Lower-case words, numbers and single Chinese characters in order, without any signs."""
    found: list[str] = []
    for token in _TOKEN.findall(normal(text).lower()):
        if token[0] > "⺀" and _is_han(token[0]):
            found.extend(token)
        else:
            found.append(token.removesuffix("'s"))
    return found


def _is_han(sign: str) -> bool:
    """Whether a letter is a Chinese character."""
    return "\u3400" <= sign <= "\u9fff" or "\uf900" <= sign <= "\ufaff"


def terms(text: str) -> frozenset[str]:
    """What the text is about: stems without stop words, pairs of Chinese characters."""
    return _terms(text) if len(text) <= LONGEST_KEPT else _terms.__wrapped__(text)


@lru_cache(maxsize=512)
def _terms(text: str) -> frozenset[str]:
    if text.isascii():
        return frozenset(_word_terms(text))
    found: list[str] = []
    for run in _RUN.findall(text):
        found += map(add, run, run[1:]) if len(run) > 1 else run
    if _OTHER.search(text):
        found += _word_terms(_HAN.sub(" ", fold(text)))
    return frozenset(found)


def _word_terms(text: str) -> Iterable[str]:
    # What stands between spaces is found much faster than words, and most of it is known.
    chunks = text.split() if len(text) <= LONGEST_KEPT else _WORD.findall(text)
    return chain.from_iterable(map(_chunk, chunks))


@lru_cache(maxsize=65536)
def _chunk(chunk: str) -> tuple[str, ...]:
    """The stems of the words in what stands between two spaces, without stop words."""
    if not chunk.strip(_LETTERLESS):
        return ()
    stops = words_of("stop.txt")
    words = [word.lower().removesuffix("'s") for word in _WORD.findall(chunk)]
    return tuple([stem(word) for word in words if word not in stops])


def overlap(claim_terms: Set[str], sentence_terms: Set[str]) -> float:
    """The share of the claim's terms that the sentence has; long, so rarer, words count more."""
    # fsum, as the order of a set must not reach a verdict.
    whole = fsum(map(weight_of, claim_terms))
    return fsum(map(weight_of, claim_terms & sentence_terms)) / whole if whole else 0.0


def weight_of(term: str) -> float:
    """How much a term says: short words and those that any text has say little."""
    if term in words_of("weak.txt"):
        return 0.4
    return 1.0 if not term.isascii() else min(1.5, 0.4 + 0.15 * len(term))
