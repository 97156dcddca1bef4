"""Sentences, words and stems of a text in English and Chinese, read once for every judge.

Every step is one pass over the text: an answer of any length and shape costs time in proportion to
its length. Words are stemmed by PyStemmer (Snowball). A Chinese character counts as a word: on
public data that was as good as cutting words with a dictionary, and needs none.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache

import Stemmer

from rubrica.judges.answer import blank_thinking
from rubrica.judges.reader.numbers import find_numbers
from rubrica.judges.visible import shown, visible

#: Characters of a text that are read. What stands beyond earns nothing.
READ = 100_000
#: Characters of a sentence.
_LONGEST = 400
#: Words from which a row of them may be a pile (more where commas set items of a list apart, and
#: in Chinese), and the share of joining words that prose has.
_PILE, _LONG_PILE, _JOINING, _JOINING_CHINESE = 6, 15, 0.08, 0.02

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
#: A number, a Chinese number, a Chinese character, or a word with its apostrophe.
_TOKEN = re.compile(
    rf"\d++(?:[.,]\d++)*+%?|[零一二三四五六七八九十百千万亿两]{{2,}}+|[{_CJK}]"
    rf"|[^\W\d_{_CJK}]++(?:'[a-z]++)?"
)
_HAS_CJK = re.compile(f"[{_CJK}]")
#: Every run of marks that can end a sentence is matched whole, so that a long run is read once.
_END = re.compile(r"[.!?]++[\"'”’)\]*_]*+|[。！？；!?]++[”’」』）]*+|\n\s*+")
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st vs etc jr sr inc ltd co corp fig al approx no vol pp ed dept".split()
)
STOP_WORDS = frozenset(
    """a an the of to in on at for by with from as and or is are was were be been being am it its
    this that these those he she they them his her their you your we our i my me us there here has
    have had do does did will would can could should may might must which who whom whose what when
    where why how than then so such also into about over under between during if but not no s t
    的 了 是 在 和 与 及 或 也 都 就 而 被 把 对 从 到 以 于 其 这 那 个 一 有 会 能 可 并 之 吗
    呢 吧 啊 着 过 很 更 最 我 你 他 她 它 们""".split()
)
#: A sentence that calls something false, and one that speaks of what follows it.
_DENIAL = re.compile(
    r"\b(?:(?:is|are|was|were|be|that's|it's) (?:all |both |simply |completely |entirely )?"
    r"(?:false|untrue|incorrect|wrong|not true|not correct|a myth|myths|not the case)"
    r"|none of|(?:false|incorrect|wrong|untrue) (?:claims?|statements?|answers?)|myths?:)"
    r"|是错|是假|错误的|不正确|不属实|不成立|谣言",
    re.IGNORECASE,
)
_POINTS_ON = re.compile(r"[:：]$|\b(?:following|below|these)\b|以下|下列|下面", re.IGNORECASE)
_stem_word: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord


class Sentence:
    """A sentence, its place in the text, and its words and their stems in order."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end
        self.words = split_words(text)
        self.stems = [stem_word(word) for word in self.words]

    @cached_property
    def content(self) -> dict[str, None]:
        """The stems of the words that carry meaning, each once, in order."""
        pairs = zip(self.stems, self.words, strict=True)
        return {stem: None for stem, word in pairs if word not in STOP_WORDS}

    @property
    def is_question(self) -> bool:
        """Whether it asks instead of stating."""
        return self.text.rstrip("\"'”’)*_ ").endswith(("?", "？"))

    @property
    def is_word_pile(self) -> bool:
        """Whether it is a row of words that no grammar joins: keywords, not a statement."""
        count = len(self.words)
        if count < _PILE:
            return False
        chinese = is_chinese(self.text)
        if count < _LONG_PILE and (chinese or self.text.count(",") * 3 >= count):
            return False
        joining = sum(word in STOP_WORDS for word in self.words)
        return joining < count * (_JOINING_CHINESE if chinese else _JOINING)


class Text:
    """A text that was read: `raw` as it was given, and its sentences."""

    def __init__(self, raw: str, *, keep_thinking: bool = False) -> None:
        self.raw = raw
        text = raw[:READ]
        if not keep_thinking:
            text = blank_thinking(text)
        self.sentences = tuple(_split_sentences(shown(text)))

    @cached_property
    def statements(self) -> tuple[int, ...]:
        """The numbers of the sentences that state something: no questions, no keywords."""
        return tuple(
            number
            for number, sentence in enumerate(self.sentences)
            if not sentence.is_question and not sentence.is_word_pile
        )

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The numbers of the statements in which each stem stands."""
        places: dict[str, list[int]] = {}
        for number in self.statements:
            for stem in set(self.sentences[number].stems):
                places.setdefault(stem, []).append(number)
        return places

    @cached_property
    def numbers(self) -> dict[float, list[int]]:
        """The numbers of the statements in which each value stands."""
        places: dict[float, list[int]] = {}
        for number in self.statements:
            for value in find_numbers(self.sentences[number].words):
                places.setdefault(value, []).append(number)
        return places

    @cached_property
    def denials(self) -> frozenset[int]:
        """The numbers of the sentences that call something false."""
        return frozenset(
            number
            for number, sentence in enumerate(self.sentences)
            if _DENIAL.search(sentence.text)
        )

    @cached_property
    def listed_as_false(self) -> frozenset[int]:
        """The numbers of the sentences under one that calls false what follows it.

        "None of the following is true:" and then all claims of a case must not earn anything.
        """
        found, heading = set(), False
        for number, sentence in enumerate(self.sentences):
            text = sentence.text
            if number in self.denials and _POINTS_ON.search(text):
                heading = True
            elif text.endswith((":", "：")) or text.startswith("#"):
                heading = False
            if heading:
                found.add(number)
        return frozenset(found)

    @cached_property
    def first(self) -> int:
        """The number of the first statement that is not listed as false, or -1."""
        return next((one for one in self.statements if one not in self.listed_as_false), -1)

    @lru_cache(maxsize=4)  # noqa: B019 - a text lives no longer than its cache
    def repeats(self, question: frozenset[str]) -> frozenset[int]:
        """The numbers of the sentences that only repeat half of the question or more."""
        asked = {stem for stem in question if stem not in STOP_WORDS}
        return frozenset(
            number
            for number, sentence in enumerate(self.sentences)
            if len(sentence.content) * 2 >= len(asked) and asked.issuperset(sentence.content)
        )


@lru_cache(maxsize=64)
def read_text(raw: str, *, keep_thinking: bool = False) -> Text:
    """Read a text, or take it as it was read a moment ago for another judge."""
    return Text(raw, keep_thinking=keep_thinking)


def split_words(text: str) -> list[str]:
    """The words and numbers of a text in lower case; of Chinese, the characters."""
    if not text.isascii():
        text = visible(text).replace("’", "'")
    return _TOKEN.findall(text.lower())


def is_chinese(text: str) -> bool:
    """Whether any of it is written in Chinese characters."""
    return not text.isascii() and _HAS_CJK.search(text) is not None


@lru_cache(maxsize=50_000)
def stem_word(word: str) -> str:
    """The stem of a word: `served` and `serves` become `serv`."""
    return _stem_word(word.removesuffix("'s"))


def _split_sentences(text: str) -> Iterator[Sentence]:
    start = 0
    for mark in _END.finditer(text):
        if not _ends_sentence(text, mark):
            continue
        yield from _sentence(text, start, mark.end())
        start = mark.end()
    yield from _sentence(text, start, len(text))


def _ends_sentence(text: str, mark: re.Match[str]) -> bool:
    """A point inside a number, an address or an abbreviation ends nothing, nor does a soft wrap."""
    sign, end = mark[0], mark.end()
    after = text[end : end + 1]
    if sign[0] == "\n":
        return sign.count("\n") > 1 or not after.islower()
    if sign[0] not in ".!?":
        return True
    if after and not after.isspace():
        return False
    if sign[0] != ".":
        return True
    if text[end + 1 : end + 2].islower() and after != "\n":
        return False
    before = text[max(0, mark.start() - 12) : mark.start()].split()
    word = before[-1].lower() if before else ""
    return not (word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()))


def _sentence(text: str, start: int, end: int) -> Iterator[Sentence]:
    """The piece as a sentence. One without end is cut: all its words would stand together."""
    while start < end:
        stop = end
        if end - start > _LONGEST:
            stop = text.rfind(" ", start + 1, start + _LONGEST) + 1 or start + _LONGEST
        piece = text[start:stop]
        bare = piece.strip()
        if bare:
            at = start + piece.index(bare[0])
            yield Sentence(bare, at, at + len(bare))
        start = stop
