"""Quotations: whether words between quotation marks stand in the source."""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from rubrica.judges.text.words import fold, fold_to_words, language, normal

Match = Literal["exact", "near", "absent", "unclear"]

_QUOTED = re.compile(
    r"“([^“”\n]{2,600})”|「([^「」\n]{2,600})」|『([^『』\n]{2,600})』|«([^«»\n]{2,600})»"
    r"|(?<![\w\"])\"([^\"\n]{2,600})\"(?!\w)|‘([^‘’\n]{8,600})’(?!\w)"
)
_OPENS = re.compile(r"[“「『«\"‘]")
_GAP = re.compile(r"\s*(?:\[?(?:\.\.\.|…{1,2}|……)\]?|\[[^\]\n]{0,40}\])\s*")
_HAN = re.compile(r"[㐀-鿿]")
#: Words before a quotation that say that it is one, and no figure of speech.
_SAYS = re.compile(
    r"(?:[:：]|said|says|say|wrote|writes?|stat(?:es?|ed|ing)|words?"
    r"|describ(?:es?|ed)(?: \w+)? as|called|calls"
    r"|quot(?:e|es|ed)|reads?|according|verbatim|warn(?:s|ed)|argue[sd]?|conclude[sd]?|note[sd]?"
    r"|称|说|表示|写道|写明|写着|指出|认为|强调|规定|原文|原话|形容|提醒|回应|评论|警告|宣布|直言|坦言)"
    r"[^\w㐀-鿿]{0,4}(?:that |为|是|道|其|它|：|:|,|，|\s){0,3}\Z",
    re.IGNORECASE,
)


class Quote(NamedTuple):
    """What stands between the marks, and whether words before it announce it."""

    text: str
    start: int
    end: int
    announced: bool


def quotes(text: str) -> list[Quote]:
    """The quotations in a piece of text; a word or two in marks is a term, not a quotation."""
    found: list[Quote] = []
    if not _OPENS.search(text):
        return found
    for match in _QUOTED.finditer(text):
        inner = next(group for group in match.groups() if group is not None)
        if length_of(inner) >= 3:
            announced = _SAYS.search(text, max(0, match.start() - 40), match.start()) is not None
            found.append(Quote(inner, match.start(), match.end(), announced))
    return found


def length_of(text: str) -> int:
    """Words; two Chinese characters are about one."""
    han = len(_HAN.findall(text))
    return (han + 1) // 2 + len(re.findall(r"[^\W_㐀-鿿]+", text))


def stands(quote: Quote, source: str) -> Match:
    """Whether the source has these words.

    `near`: only capitals and punctuation differ. `unclear`: it may be no quotation at all, or a
    translation, which no rule can check.
    """
    pieces = [piece for piece in _GAP.split(quote.text) if piece.strip()]
    if not pieces:
        return "unclear"
    exact = _exact(source)
    if all(_exact(piece).strip(" .,;:!?\ue000\ue001") in exact for piece in pieces):
        return "exact"
    words = [fold_to_words(fold(piece)) for piece in pieces]
    folded = normal(fold(source)).lower()
    if all(word in folded for each in words for word in each):  # else the rest need not be read
        plain = _plain(source)
        if all(f" {' '.join(each)} " in plain for each in words):
            return "near"
    if language(quote.text) != language(source):
        return "unclear"
    size = length_of(quote.text)
    if quote.announced or size >= 6:
        return "absent"
    return "absent" if size >= 3 and _resembles(quote.text, source) else "unclear"


def _resembles(text: str, source: str) -> bool:
    """Whether the source has most of these words in a row: then it was meant as a quotation."""
    words = fold_to_words(text)
    theirs = f" {' '.join(fold_to_words(source))} "
    half = max(2, len(words) // 2)
    runs = (words[at : at + half] for at in range(len(words) - half + 1))
    return any(f" {' '.join(run)} " in theirs for run in runs)


@lru_cache(maxsize=1024)
def _exact(text: str) -> str:
    """One way of writing quotes, dashes, widths and spaces; words, case and stops as they are.

    `normal` would make one of 、 and ，, which is the very difference that is looked for.
    """
    return " ".join(normal(text.replace("、", "\ue000").replace("。", "\ue001")).split())


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """Nothing but letters and digits."""
    return " " + " ".join(fold_to_words(fold(text))) + " "
