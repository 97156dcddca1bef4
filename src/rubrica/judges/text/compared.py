"""The comparisons of a sentence: cheaper than, compared with, 比, 高于, 没有."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice

from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.quantities import NUMBER_WORDS
from rubrica.judges.text.reading import Reading
from rubrica.judges.text.sides import (
    HAN,
    REACH,
    WORD,
    Sides,
    Terms,
    clause_rest,
    clause_start,
    terms_of,
)
from rubrica.judges.text.word import word_of

#: Without any of these a sentence compares nothing.
MARKS = ("than", "ompared ", "比", "于", "没有", "不如")
#: Comparisons of a sentence that are read.
_MOST = 40
_THAN = re.compile(r"\bthan\b|\bcompared (?:with|to)\b", re.IGNORECASE)
_DEGREES = {"more": 1, "less": -1, "fewer": -1}
#: Of mountains and people.
_ALSO = {"tall": (("@high", 1),), "short": (("@high", -1),)}
_PLACES = frozenset(("in", "on", "at", "for", "during", "among"))
_NO_DEGREE = frozenset(("rather", "other", "ever", "never", "after", "under", "over"))
_IT = re.compile(r"\b(?:it|they|he|she)\b")
_YEAR = re.compile(r" (?:19|20)\d\d")
_AMOUNT = re.compile(r"\s*(?:about |around |just |the )?[$€£¥]?(\d|[a-z]+)", re.IGNORECASE)


def compared(reading: Reading) -> Iterator[Sides]:
    """The comparisons of a sentence."""
    return islice(_every(reading), _MOST)


def _every(reading: Reading) -> Iterator[Sides]:
    text = reading.text
    for mark in _THAN.finditer(text):
        found = _english(reading, mark)
        if found is not None:
            yield found
    if not text.isascii():
        yield from _chinese(reading)


def _english(reading: Reading, mark: re.Match[str]) -> Sides | None:
    text = reading.text
    left, right = clause_start(text, mark.start()), clause_rest(text, mark.end())
    if _is_amount(right):
        return None
    words = list(WORD.finditer(text, left, mark.start()))
    if not words and mark[0] != "than":  # compared with Y, X is faster
        start = mark.end() + len(right) + 1
        words = list(WORD.finditer(text, start, start + len(clause_rest(text, start))))
        left = start
    head = _head([word[0].lower() for word in words])
    if head < 0:
        return None
    start, end = words[head].start(), words[-1].end()
    # Higher in 2023 than in 2022: the year is of the side.
    where = next((word.start() for word in words[head:] if word[0] in _PLACES), end)
    if not head and len(words) > 2:
        where = min(where, words[-1].start())  # more people use Android than iOS
    said, things = _quality([word for word in words if word.start() < where], head)
    if not said:
        return None
    if _denied(reading, start, end) or _refused(words[max(0, head - 3) : head]):
        said = {word: -side for word, side in said.items()}
    one = terms_of(text[left:start]) | terms_of(text[where:end])
    if not one or _IT.search(text, left, start):
        one |= terms_of(text[max(0, start - REACH) : start])
    return Sides(one, terms_of(right), said, things)


def _is_amount(side: str) -> bool:
    """Whether something is compared with an amount and not with another; years are no amounts."""
    found = _AMOUNT.match(side)
    if found is None or _YEAR.fullmatch(side):
        return found is None
    return found[1].isdigit() or found[1].lower() in NUMBER_WORDS


def _head(words: list[str]) -> int:
    """The place of the word that compares: the last `more`, or word in -er; -1 for none."""
    comparing = lexicon().comparing
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        if word in _DEGREES:
            return at
        if word in _NO_DEGREE or not (word.endswith("er") or word in ("worse", "further")):
            continue
        if at == len(words) - 1 or any(idea in comparing for idea, _ in word_of(word).ideas):
            return at
    return -1


def _quality(words: list[re.Match[str]], head: int) -> tuple[dict[str, int], Terms]:
    degree = _DEGREES.get(words[head][0].lower())
    after = [word[0] for word in words[head + 1 :] if not word_of(word[0]).stop]
    things = frozenset([word_of(word).term for word in after])
    if degree is None:
        return _ideas([words[head][0]], 1), things
    if things:
        said = _ideas(after, degree)
        if len(said) > len(things):
            return said, frozenset()  # more expensive
        return {**said, "@high": degree}, things
    if not head:
        return {}, things
    # It costs more: what is done more of stands before.
    verb = word_of(words[head - 1][0])
    more = (word_of(words[head][0]).term,)
    found = {idea: side for stems, ideas in verb.phrases if stems == more for idea, side in ideas}
    return (found or {verb.term: degree}), things


def _ideas(words: list[str], degree: int) -> dict[str, int]:
    comparing = lexicon().comparing
    found: dict[str, int] = {}
    for word in map(word_of, words):
        found[word.term] = degree
        ideas = (*word.ideas, *_ALSO.get(word.term, ()))
        found.update((idea, side * degree) for idea, side in ideas if idea in comparing)
    return found


def _refused(words: list[re.Match[str]]) -> bool:
    """Whether it is denied in words that elsewhere are no denial: no more, does not work."""
    return any(word[0] in ("no", "not") or word[0].endswith("n't") for word in words)


def _denied(reading: Reading, start: int, end: int) -> bool:
    return any(piece.sign < 0 for piece in reading.pieces if start <= piece.start < end)


_BI = re.compile("(?<![对同环相占分之无好])比(?![例如赛较特重率萨利亚方喻作分目起])")
_YU = re.compile("[高低多少早晚大小优重轻快慢长短强弱差]于")
_BESIDE = re.compile("(?:[与和跟同]([^,]{1,20}?)相比|(?:相比|比起|相较)[于之下]*([^,]{1,20})),?")
_LESS = re.compile("没有|不如")


def _chinese(reading: Reading) -> Iterator[Sides]:
    text = reading.text
    for mark in _YU.finditer(text):
        yield _han_sides(
            reading, mark.start(), clause_rest(text, mark.end()), _han_ideas(mark[0]), 1
        )
    for mark in (*_BI.finditer(text), *_LESS.finditer(text)):
        rest = clause_rest(text, mark.end())
        at, said = _han_quality(rest)
        less = mark[0] != "比"
        if said and not (less and at + 2 < len(rest)):
            yield _han_sides(reading, mark.start(), rest[:at], said, -1 if less else 1)
    for mark in _BESIDE.finditer(text):
        rest = clause_rest(text, mark.end())
        at, said = _han_quality(rest)
        if said:
            yield Sides(terms_of(rest[:at]), terms_of(mark[1] or mark[2]), said)


def _han_sides(
    reading: Reading, start: int, right: str, said: Mapping[str, int], way: int
) -> Sides:
    text = reading.text
    left = text[clause_start(text, start) : start]
    if left.endswith("不") or (way > 0 and _denied(reading, start, start + 1 + len(right))):
        way = -way
    one = terms_of(left.removesuffix("不")) or terms_of(text[max(0, start - REACH) : start])
    return Sides(one, terms_of(right), {word: side * way for word, side in said.items()})


_FOLLOWS = "了得出一些点约近很几多不上下倍"


@lru_cache(maxsize=1024)
def _han_quality(rest: str) -> tuple[int, Mapping[str, int]]:
    """Where the quality begins behind 比 and the other side, and what it is."""
    for at in range(1, len(rest)):
        for size in (4, 3, 2, 1):
            word = rest[at : at + size]
            said = _han_ideas(word) if len(word) == size else {}
            after = rest[at + 1 : at + 2]
            if said and (size > 1 or not HAN.match(after) or after in _FOLLOWS):
                return at, said
    return 0, {}


@lru_cache(maxsize=4096)
def _han_ideas(word: str) -> Mapping[str, int]:
    known = lexicon()
    found: dict[str, int] = {}
    for form in (f"{word}于", f"更{word}", word):
        found.update(known.words.get(form, ()))
    return {idea: side for idea, side in found.items() if idea in known.comparing}
