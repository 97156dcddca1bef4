"""Sentences, words and stems of a text in English and Chinese, read once for every judge.

Every step is one pass over the text: an answer of any length and shape costs time in proportion to
its length. Words are stemmed by PyStemmer (Snowball). A Chinese character counts as a word: on
public data that was as good as cutting words with a dictionary, and needs none.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain, pairwise
from typing import Generic, TypeVar

import Stemmer

from fourscore.judges.answer_extraction import blank_thinking
from fourscore.judges.hidden_text import blank_hidden_markdown, remove_invisible
from fourscore.judges.reader.numbers import NUMBER_WORDS, SIGNS, find_numbers

S = TypeVar("S")
T = TypeVar("T")
#: Characters of an output that rules look at. What stands beyond cannot earn anything.
MAX_READ = 100_000
#: Characters of a sentence.
_LONGEST = 400
#: Words from which a row of them may be a pile (more where commas set items of a list apart, and
#: in Chinese), and the share of joining words that prose has.
_PILE, _LONG_PILE, _JOINING, _JOINING_CHINESE = 6, 15, 0.08, 0.02

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
#: Chinese numerals, in the order of their code points.
_NUMERALS = "一七万三两九二五亿八六十千四百零"
#: All other Chinese characters: the ranges of code points between the numerals.
_OTHERS = "\u3400-\u4dbf\uf900-\ufaff" + "".join(
    f"{chr(ord(one) + 1)}-{chr(ord(two) - 1)}" for one, two in pairwise(f"{_NUMERALS}\ua000")
)
_LETTER = rf"[^\W\d_{_CJK}]"
#: A word with its apostrophe, a number.
_ASCII_TOKEN = re.compile(r"[a-z]++(?:'[a-z]++)?+|[0-9]++(?:[.,][0-9]++)*+%?+")
#: In other text, a run of Chinese characters, each of which is a word; or a word, a number, a
#: Chinese number.
_TOKEN = re.compile(
    rf"([{_OTHERS}]++)|([a-z]++(?:{_LETTER}++)?+(?:'[a-z]++)?+|\d++(?:[.,]\d++)*+%?+"
    rf"|[{_NUMERALS}]++|{_LETTER}++(?:'[a-z]++)?+)"
)
_HAS_CJK = re.compile(f"[{_CJK}]")
#: A run of marks that can end a sentence, and what closes it. A run is always matched whole: to try
#: it again from each of its places would cost the square of its length.
_END = re.compile(r"[.!?。！？；\n]++[\"'”’)\]*_」』）\s]*+")
_ASCII_END = re.compile(r"[.!?\n]++[\"')\]*_\s]*+")
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
#: A sentence in small letters that calls something false, and one that speaks of what follows it.
#: Apart for each language, and with capitals out of the way, they are six times as fast.
_DENIAL = re.compile(
    r"\b(?:(?:is|are|was|were|be|that's|it's) (?:all |both |simply |completely |entirely )?"
    r"(?:false|untrue|incorrect|wrong|not true|not correct|a myth|myths|not the case)"
    r"|none of|(?:false|incorrect|wrong|untrue) (?:claims?|statements?|answers?)|myths?:)"
)
_CHINESE_DENIAL = re.compile("是错|是假|错误的|不正确|不属实|不成立|谣言")
#: Only a sentence with one of these can be such.
_DENIAL_WORDS = frozenset(
    "false untrue incorrect wrong myth myths none true correct case 错 假 确 属 成 谣".split()
)
_POINTS_ON = re.compile(r"\b(?:following|below|these)\b")
_CHINESE_POINTS_ON = re.compile("以下|下列|下面")


class _Stems(dict[str, str]):
    """Stems of the words that were met; forgets all when there are too many of them."""

    _most = 100_000
    _stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord

    def __missing__(self, word: str) -> str:
        if len(self) >= self._most:
            self.clear()
        stem = _Stems._stem(word.removesuffix("'s"))
        self[word] = stem
        return stem


_STEMS = _Stems()
_DENIAL_STEMS = frozenset(map(_STEMS.__getitem__, _DENIAL_WORDS))
_NUMBER_STEMS = frozenset(map(_STEMS.__getitem__, NUMBER_WORDS))


class lazy(Generic[S, T]):  # noqa: N801 - used like `property`
    """An attribute that is computed when it is first asked for.

    `functools.cached_property` without its lock, which takes longer than most of these values.
    """

    def __init__(self, compute: Callable[[S], T]) -> None:
        self.compute, self.name, self.__doc__ = compute, compute.__name__, compute.__doc__

    def __get__(self, owner: S, _kind: object = None) -> T:
        value = self.compute(owner)
        setattr(owner, self.name, value)
        return value


class Sentence:
    """A sentence, its place in the text, and its words and their stems in order."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end
        self.words = words = split_words(text)
        self.stems = stems = list(map(_STEMS.__getitem__, words))
        self.distinct = set(stems)

    @lazy
    def content(self) -> dict[str, None]:
        """The stems of the words that carry meaning, each once, in order."""
        pairs = zip(self.stems, self.words, strict=True)
        return {
            stem: None for stem, word in pairs if word not in STOP_WORDS and stem not in STOP_WORDS
        }

    @lazy
    def numbers(self) -> list[float]:
        """The values of its numbers."""
        return find_numbers(self.words)

    @property
    def is_question(self) -> bool:
        """Whether it asks instead of stating."""
        return ("?" in self.text or "？" in self.text) and self.text.rstrip("\"'”’)*_ ").endswith(
            ("?", "？")
        )

    @property
    def is_denial(self) -> bool:
        """Whether it calls something false."""
        if _DENIAL_WORDS.isdisjoint(self.words):
            return False
        return bool(_DENIAL.search(self.text.lower()) or _CHINESE_DENIAL.search(self.text))

    @property
    def points_on(self) -> bool:
        """Whether it speaks of what follows it."""
        text = self.text
        return text.endswith((":", "：")) or bool(
            _POINTS_ON.search(text.lower()) or _CHINESE_POINTS_ON.search(text)
        )

    @property
    def is_word_pile(self) -> bool:
        """Whether it is a row of words that no grammar joins: keywords, not a statement."""
        count = len(self.words)
        if count < _PILE:
            return False
        chinese = is_chinese(self.text)
        if count < _LONG_PILE and (chinese or self.text.count(",") * 3 >= count):
            return False
        needed = count * (_JOINING_CHINESE if chinese else _JOINING)
        for word in self.words:  # most have enough of them within a few words
            if word in STOP_WORDS:
                needed -= 1
                if needed <= 0:
                    return False
        return True


class Text:
    """A text that was read: `raw` as it was given, and its sentences."""

    def __init__(self, raw: str, *, keep_thinking: bool = False) -> None:
        self.raw = raw
        text = raw[:MAX_READ]
        if not keep_thinking:
            text = blank_thinking(text)
        self.sentences = tuple(_split_sentences(blank_hidden_markdown(text)))
        self._repeats: tuple[frozenset[str] | None, frozenset[int]] = (None, frozenset())

    @lazy
    def statements(self) -> tuple[int, ...]:
        """The numbers of the sentences that state something: no questions, no keywords."""
        return tuple(
            [
                number
                for number, sentence in enumerate(self.sentences)
                if not sentence.is_question and not sentence.is_word_pile
            ]
        )

    @lazy
    def index(self) -> dict[str, list[int]]:
        """The numbers of the statements in which each stem stands."""
        index: dict[str, list[int]] = {}
        for number in self.statements:
            for stem in self.sentences[number].distinct:
                if stem in index:
                    index[stem].append(number)
                else:
                    index[stem] = [number]
        return index

    @lazy
    def places(self) -> dict[str, list[int]]:
        """The index without stop words, which stand everywhere."""
        return {stem: found for stem, found in self.index.items() if stem not in STOP_WORDS}

    @lazy
    def numbers(self) -> dict[float, list[int]]:
        """The numbers of the statements in which each value stands, however it is written."""
        places: dict[float, list[int]] = {}
        stems = [stem for stem in self.index if stem[0] in SIGNS or stem in _NUMBER_STEMS]
        for number in sorted(self._with_any(stems)):
            for value in self.sentences[number].numbers:
                places.setdefault(value, []).append(number)
        return places

    def _with_any(self, stems: Iterable[str]) -> set[int]:
        """The numbers of the statements that have one of the stems."""
        index = self.index
        return {number for stem in stems for number in index[stem]}

    @lazy
    def denials(self) -> frozenset[int]:
        """The numbers of the sentences that call something false."""
        may_deny = self._with_any(_DENIAL_STEMS & self.index.keys())
        if len(self.statements) < len(self.sentences):
            may_deny |= set(range(len(self.sentences))).difference(self.statements)
        return frozenset([number for number in may_deny if self.sentences[number].is_denial])

    @lazy
    def listed_as_false(self) -> frozenset[int]:
        """The numbers of the sentences under one that calls false what follows it.

        "None of the following is true:" and then all claims of a case must not earn anything.
        """
        heads = {one for one in self.denials if self.sentences[one].points_on}
        if not heads:  # nearly always
            return frozenset()
        found, heading = set[int](), False
        for number, sentence in enumerate(self.sentences):
            text = sentence.text
            if number in heads:
                heading = True
            elif text.endswith((":", "：")) or text.startswith("#"):
                heading = False
            if heading:
                found.add(number)
        return frozenset(found)

    @lazy
    def first(self) -> int:
        """The number of the first statement that is not listed as false, or -1."""
        return next((one for one in self.statements if one not in self.listed_as_false), -1)

    def repeats(self, question: frozenset[str]) -> frozenset[int]:
        """The numbers of the sentences that only repeat half of the question or more."""
        last = self._repeats  # once: another thread may ask with another question
        if last[0] is not question:
            known = question | STOP_WORDS
            asked = len(question - STOP_WORDS)
            found = [
                number
                for number, sentence in enumerate(self.sentences)
                if known.issuperset(sentence.stems) and len(sentence.content) * 2 >= asked
            ]
            self._repeats = last = question, frozenset(found)
        return last[1]


def read_text(raw: str, *, keep_thinking: bool = False) -> Text:
    """Read a text, or take it as it was read a moment ago for another judge."""
    return _read_text(raw, keep_thinking)


@lru_cache(maxsize=16)  # as many outputs may be judged side by side
def _read_text(raw: str, keep_thinking: bool) -> Text:
    return Text(raw, keep_thinking=keep_thinking)


def split_words(text: str) -> list[str]:
    """The words and numbers of a text in lower case; of Chinese, the characters."""
    if text.isascii():
        return _ASCII_TOKEN.findall(text.lower())
    words: list[str] = []
    for run, word in _TOKEN.findall(remove_invisible(text).lower().replace("’", "'")):
        if run:
            words += run
        else:
            words.append(word)
    return words


def is_chinese(text: str) -> bool:
    """Whether any of it is written in Chinese characters."""
    return not text.isascii() and _HAS_CJK.search(text) is not None


def stem_word(word: str) -> str:
    """The stem of a word: `served` and `serves` become `serv`."""
    return _STEMS[word]


def _split_sentences(text: str) -> list[Sentence]:
    ends = find_ends(text)
    starts = chain((0,), ends)
    found: list[Sentence] = []
    for start, end in zip(starts, ends, strict=False):
        while end - start > _LONGEST:  # one without end is cut: all its words would stand together
            stop = text.rfind(" ", start + 1, start + _LONGEST) + 1 or start + _LONGEST
            _add_sentence(found, text, start, stop)
            start = stop
        _add_sentence(found, text, start, end)
    return found


def _add_sentence(found: list[Sentence], text: str, start: int, end: int) -> None:
    bare = text[start:end].strip()
    if bare:
        at = text.index(bare[0], start)
        found.append(Sentence(bare, at, at + len(bare)))


def find_ends(text: str) -> list[int]:
    """The places where sentences end, and the end of the text."""
    ends: list[int] = []
    length = len(text)
    for mark in (_ASCII_END if text.isascii() else _END).finditer(text):
        start, end = mark.span()
        if end < length:
            first = text[start]
            if first == ".":
                if not text[end - 1].isspace() or _is_abbreviation(text, start):
                    continue  # inside a number, a name or an address
            elif first == "\n":
                if text[end].islower() and text.count("\n", start, end) == 1:
                    continue  # a soft wrap inside a sentence
            elif end - start == 1 and first in "!?":
                continue  # inside an address
        ends.append(end)
    if not ends or ends[-1] < length:
        ends.append(length)
    return ends


def _is_abbreviation(text: str, start: int) -> bool:
    """Whether the point at `start` belongs to a word such as `Dr.` or `e.g.`"""
    before = text[max(0, start - 12) : start].rsplit(None, 1)
    word = before[-1].lower() if before else ""
    return word in _ABBREVIATIONS or "." in word or (len(word) == 1 and word.isalpha())
