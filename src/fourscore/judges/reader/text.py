"""Split a text in English or Chinese into sentences, words and stems, once for all judges.

Every step is one pass over the text, so time is linear in its length, whatever it contains. Words
are stemmed by PyStemmer (Snowball). A Chinese character counts as a word: on public data that was
as good as segmenting words with a dictionary.
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
#: Most characters of an output that rules read. Text beyond them cannot earn anything.
MAX_READ = 100_000
#: Most characters of a sentence.
_MAX_SENTENCE = 400
#: The least words of a sentence that may be mere keywords (more if it is a list with commas, or
#: Chinese), and the least share of stop words that prose has.
_MIN_KEYWORDS, _MIN_LISTED, _STOP_SHARE, _STOP_SHARE_CHINESE = 6, 15, 0.08, 0.02

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
#: A run of marks that can end a sentence, and closing quotes and brackets. A run is always matched
#: whole: trying again from each of its characters would take quadratic time.
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
#: A lower-case sentence that calls something false. One expression for each language, without
#: capitals, is six times faster.
_DENIAL = re.compile(
    r"\b(?:(?:is|are|was|were|be|that's|it's) (?:all |both |simply |completely |entirely )?"
    r"(?:false|untrue|incorrect|wrong|not true|not correct|a myth|myths|not the case)"
    r"|none of|(?:false|incorrect|wrong|untrue) (?:claims?|statements?|answers?)|myths?:)"
)
_CHINESE_DENIAL = re.compile("是错|是假|错误的|不正确|不属实|不成立|谣言")
#: Only a sentence with one of these words can be a denial.
_DENIAL_WORDS = frozenset(
    "false untrue incorrect wrong myth myths none true correct case 错 假 确 属 成 谣".split()
)
#: A sentence that announces what follows it.
_ANNOUNCES = re.compile(r"\b(?:following|below|these)\b")
_CHINESE_ANNOUNCES = re.compile("以下|下列|下面")


class _Stems(dict[str, str]):
    """A cache of stems by word; it is emptied when it has too many."""

    _max_size = 100_000
    _stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord

    def __missing__(self, word: str) -> str:
        if len(self) >= self._max_size:
            self.clear()
        stem = _Stems._stem(word.removesuffix("'s"))
        self[word] = stem
        return stem


_STEMS = _Stems()
_DENIAL_STEMS = frozenset(map(_STEMS.__getitem__, _DENIAL_WORDS))
_NUMBER_STEMS = frozenset(map(_STEMS.__getitem__, NUMBER_WORDS))


class lazy(Generic[S, T]):  # noqa: N801 - used like `property`
    """An attribute that is computed when it is first used.

    Like `functools.cached_property`, without its lock, which costs more than most values here.
    """

    def __init__(self, compute: Callable[[S], T]) -> None:
        self.compute, self.name, self.__doc__ = compute, compute.__name__, compute.__doc__

    def __get__(self, owner: S, _kind: object = None) -> T:
        value = self.compute(owner)
        setattr(owner, self.name, value)
        return value


class Sentence:
    """A sentence, its offsets in the text, and its words and their stems in order."""

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
        """Whether it is a question."""
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
    def announces(self) -> bool:
        """Whether it announces what follows it: "the following", or a colon at the end."""
        text = self.text
        return text.endswith((":", "：")) or bool(
            _ANNOUNCES.search(text.lower()) or _CHINESE_ANNOUNCES.search(text)
        )

    @property
    def is_keywords(self) -> bool:
        """Whether it is a row of keywords without grammar, not a statement."""
        count = len(self.words)
        if count < _MIN_KEYWORDS:
            return False
        chinese = is_chinese(self.text)
        if count < _MIN_LISTED and (chinese or self.text.count(",") * 3 >= count):
            return False
        needed = count * (_STOP_SHARE_CHINESE if chinese else _STOP_SHARE)
        for word in self.words:  # most sentences have enough stop words among the first few
            if word in STOP_WORDS:
                needed -= 1
                if needed <= 0:
                    return False
        return True


class Text:
    """A text split into sentences, with an index of their words. `raw` is the text as given."""

    def __init__(self, raw: str, *, keep_thinking: bool = False) -> None:
        self.raw = raw
        text = raw[:MAX_READ]
        if not keep_thinking:
            text = blank_thinking(text)
        self.sentences = tuple(_split_sentences(blank_hidden_markdown(text)))
        self._repeats: tuple[frozenset[str] | None, frozenset[int]] = (None, frozenset())

    @lazy
    def statements(self) -> tuple[int, ...]:
        """The indices of the sentences that state something: no questions, no keywords."""
        return tuple(
            [
                number
                for number, sentence in enumerate(self.sentences)
                if not sentence.is_question and not sentence.is_keywords
            ]
        )

    @lazy
    def index(self) -> dict[str, list[int]]:
        """The indices of the statements that contain each stem."""
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
        """The index without stop words."""
        return {stem: found for stem, found in self.index.items() if stem not in STOP_WORDS}

    @lazy
    def numbers(self) -> dict[float, list[int]]:
        """The indices of the statements that contain each number, however it is written."""
        places: dict[float, list[int]] = {}
        stems = [stem for stem in self.index if stem[0] in SIGNS or stem in _NUMBER_STEMS]
        for number in sorted(self._with_any(stems)):
            for value in self.sentences[number].numbers:
                places.setdefault(value, []).append(number)
        return places

    def _with_any(self, stems: Iterable[str]) -> set[int]:
        """Return the indices of the statements that have one of the stems."""
        index = self.index
        return {number for stem in stems for number in index[stem]}

    @lazy
    def denials(self) -> frozenset[int]:
        """The indices of the sentences that call something false."""
        may_deny = self._with_any(_DENIAL_STEMS & self.index.keys())
        if len(self.statements) < len(self.sentences):
            may_deny |= set(range(len(self.sentences))).difference(self.statements)
        return frozenset([number for number in may_deny if self.sentences[number].is_denial])

    @lazy
    def listed_as_false(self) -> frozenset[int]:
        """The indices of the sentences under one that calls what follows it false.

        "None of the following is true:" and then all claims of a case must not earn anything.
        """
        heads = {one for one in self.denials if self.sentences[one].announces}
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
        """The index of the first statement that is not listed as false, or -1."""
        return next((one for one in self.statements if one not in self.listed_as_false), -1)

    def repeats(self, question: frozenset[str]) -> frozenset[int]:
        """Return the indices of the sentences that only repeat at least half of the question."""
        last = self._repeats  # read once: another thread may replace it for another question
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
    """Return the text split and indexed; the last ones are cached for other judges."""
    return _read_text(raw, keep_thinking)


@lru_cache(maxsize=16)  # about as many outputs are judged at the same time
def _read_text(raw: str, keep_thinking: bool) -> Text:
    return Text(raw, keep_thinking=keep_thinking)


def split_words(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case; Chinese characters one by one."""
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
    """Whether a text has any Chinese characters."""
    return not text.isascii() and _HAS_CJK.search(text) is not None


def stem_word(word: str) -> str:
    """Return the stem of a word: `served` and `serves` become `serv`."""
    return _STEMS[word]


def _split_sentences(text: str) -> list[Sentence]:
    ends = find_sentence_ends(text)
    starts = chain((0,), ends)
    found: list[Sentence] = []
    for start, end in zip(starts, ends, strict=False):
        while end - start > _MAX_SENTENCE:  # a longer one is cut, or it would match any claim
            stop = text.rfind(" ", start + 1, start + _MAX_SENTENCE) + 1 or start + _MAX_SENTENCE
            _add_sentence(found, text, start, stop)
            start = stop
        _add_sentence(found, text, start, end)
    return found


def _add_sentence(found: list[Sentence], text: str, start: int, end: int) -> None:
    bare = text[start:end].strip()
    if bare:
        at = text.index(bare[0], start)
        found.append(Sentence(bare, at, at + len(bare)))


def find_sentence_ends(text: str) -> list[int]:
    """Return the offsets where sentences end, and the end of the text."""
    ends: list[int] = []
    length = len(text)
    for mark in (_ASCII_END if text.isascii() else _END).finditer(text):
        start, end = mark.span()
        if end < length:
            first = text[start]
            if first == ".":
                if not text[end - 1].isspace() or _is_abbreviation(text, start):
                    continue  # inside a number, a name or a URL
            elif first == "\n":
                if text[end].islower() and text.count("\n", start, end) == 1:
                    continue  # a line break inside a sentence
            elif end - start == 1 and first in "!?":
                continue  # inside a URL
        ends.append(end)
    if not ends or ends[-1] < length:
        ends.append(length)
    return ends


def _is_abbreviation(text: str, start: int) -> bool:
    """Whether the full stop at `start` belongs to a word such as `Dr.` or `e.g.`"""
    before = text[max(0, start - 12) : start].rsplit(None, 1)
    word = before[-1].lower() if before else ""
    return word in _ABBREVIATIONS or "." in word or (len(word) == 1 and word.isalpha())
