"""The parts of a question: its numbered items, its questions, what it lists after `compare`."""

import re
from functools import lru_cache
from typing import Any, NamedTuple

from rubrica.judges.dimensions.coverage import chinese
from rubrica.judges.text.sentences import full_stop

#: Characters of a question that are looked at, and parts that are kept.
LONGEST, MOST = 8_000, 30


class Part(NamedTuple):
    """One thing that is asked, with the number or letter it was given."""

    text: str
    mark: str = ""


_MARK = re.compile(
    r"(?:^|(?<=[\s，,;；：:。.？?]))[(（]?(?:(\d{1,2})|([a-hA-H])"
    r"|([一二三四五六七八九十]))(?:[.)）](?=\s|[^\d\s])|、)\s*"
    r"|([①-⑨])\s*",
    re.MULTILINE,
)
#: What the first of them looks like. Most questions have none, which is soon seen.
_FIRST = re.compile("[1aA一][.)）、]|①")
_BULLET = re.compile(r"^[ \t]*[-*•][ \t]+(\S.*)$", re.MULTILINE)
_NUMERALS = "一二三四五六七八九十"
_SENTENCE = re.compile(r"[^\n?？!！。.;；]*(?:[.;；](?!\s)[^\n?？!！。.;；]*)*[?？!！。.;；]?")
_AUX = r"(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|must|may|am)"
_NEXT = re.compile(
    r"(?:\s*[,;]\s*(?:and\s+|or\s+|then\s+)?|\s+and\s+(?:also\s+)?)(?:please\s+)?"
    r"(?:(?:tell|show) (?:me|us)\s+|(?:explain|say|describe|suggest|advise|recommend|add)\s+)?"
    rf"(?=(?:(?:in|for|by|at|to|from|on|with|since|of) )?(?:how|what|whom|which|whose)\b"
    rf"|(?:why|whether|who)\b|(?:when|where)\s+(?:{_AUX}|to)\b"
    rf"|{_AUX}\s+(?:it|they|i|we|you|the|there|this|that|an?|my|your|its)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:and |so |but |then |also |please )*(?:how|what|why|whether|who|whose|which|when|where|"
    rf"{_AUX})\b",
    re.IGNORECASE,
)
_VERBS = (
    "describe|list|compare|contrast|explain|discuss|outline|summarise|summarize|cover|analyse"
    "|analyze|give|tell|introduce|review|evaluate|assess|present|state|identify|provide|write|name"
    "|examine|report|draft|prepare|research|investigate|detail|show"
)
_TELL = re.compile(rf"\b({_VERBS})\b(?: me| us)?(?: about| on)?\s+", re.IGNORECASE)
_TELLS = frozenset(_VERBS.split("|"))
_WORD = re.compile(r"[a-z0-9_]+")
_ON = re.compile(
    r"\b(?:on|in terms of|with respect to|regarding|with regard to|by|based on|according to|across|"
    r"for)\s+",
    re.IGNORECASE,
)
_WITH = re.compile(
    r"(?:\b(?:including|covering|namely|focusing on|with a focus on|as well as|cover|include|"
    r"address)\b:?|:)\s+",
    re.IGNORECASE,
)
#: Words of which a text has one where the last pattern, or the next but one, finds something.
_WITHS = frozenset(
    ("including", "covering", "namely", "focusing", "focus", "well", "cover", "include", "address")
)
_SECONDS = frozenset(("cons", "disadvantages", "weaknesses", "against"))
#: A list behind a colon whose items end in semicolons.
_SEMICOLONS = re.compile(r"[:：][^.。?？!！\n:：]{0,200}[;；]")
_AND = re.compile(
    r"\s*,\s*(?:and|or|as well as)\s+|\s*[,;]\s*|\s+(?:and|as well as)\s+", re.IGNORECASE
)
#: Something to be done with a text that follows, which is not cut: `Translate into French: ...`.
_WORK = re.compile(
    r"(?:please |can you |could you )?(?:(?:translate|sort|rewrite|rephrase|paraphrase|proofread"
    r"|correct|fix|convert|reverse|shorten)\b[^:：\n\"“”'‘]{0,60}"
    r"|summari[sz]e(?: (?:this|these|the following|text|article|passage|paragraph)){0,2} ?)"
    r"[:：\"“'‘\n]"
    r"|(?:请|帮我|请帮我)?(?:把|将)?[^，。？]{0,4}(?:翻译|改写|润色|排序|缩写|纠正)[^：:，。？]{0,12}[：:“\"]"
    r"|[^，。？：:]{0,8}(?:总结|概括)(?:以下|下面|这[段篇])?[^：:，。？的]{0,4}[：:“\"]"
    r"|请?[把将][“\"「]",
    re.IGNORECASE,
)
_PAIRS = re.compile(
    r"\b(?:pros and cons|advantages and disadvantages|strengths and weaknesses|for and against)\b",
    re.IGNORECASE,
)


def question_of(value: Any) -> str:
    """The question as text: `input` itself, or the last message of the user in a list of them."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        for key in ("question", "query", "prompt", "text", "input", "content", "messages"):
            if value.get(key):
                return question_of(value[key])
        return ""
    if not isinstance(value, list):
        return ""
    for message in reversed(value):
        if isinstance(message, dict) and message.get("role", "user") == "user":
            return _content(message.get("content"))
    return ""


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(text for text in texts if isinstance(text, str)).strip()
    return ""


@lru_cache(maxsize=1024)
def parts(question: str) -> tuple[Part, ...]:
    """What is asked, one part for each thing; one part where there is nothing to cut."""
    question = question[:LONGEST]
    if is_work(question):
        return (Part(question),)
    if (";" in question or "；" in question) and _SEMICOLONS.search(question):
        question = question.replace(";", ",").replace("；", "，")
    for read in (_marked, _bullets, _spoken):
        found = read(question)
        if len(found) > 1:
            return tuple(found[:MOST])
    return tuple(found) if found else ((Part(question),) if question else ())


def is_work(question: str) -> bool:
    """Whether a text is given that something is to be done with."""
    return _WORK.match(question) is not None


def _marked(question: str) -> list[Part]:
    """Items with numbers or letters that count up from the first."""
    if not _FIRST.search(question):
        return []
    found: list[tuple[str, int, int]] = []
    for mark in _MARK.finditer(question):
        label = mark[1] or (mark[2] or "").lower() or _number(mark[3]) or _number(mark[4])
        if _follows(found[-1][0] if found else "", label):
            found.append((label, mark.start(), mark.end()))
    ends = [*(start for _, start, _ in found[1:]), len(question)][: len(found)]
    return [
        Part(_trim(question[begin:end].split("\n\n")[0]), label)
        for (label, _, begin), end in zip(found, ends, strict=True)
    ]


def _number(sign: str | None) -> str:
    if not sign:
        return ""
    return str(_NUMERALS.index(sign) + 1) if sign in _NUMERALS else str(ord(sign) - 0x245F)


def _follows(last: str, label: str) -> bool:
    if not last:
        return label in ("1", "a")
    if last.isdigit() != label.isdigit():
        return False
    return int(label) == int(last) + 1 if label.isdigit() else ord(label) == ord(last) + 1


def _bullets(question: str) -> list[Part]:
    if not ("-" in question or "*" in question or "•" in question):
        return []
    return [Part(_trim(bullet[1])) for bullet in _BULLET.finditer(question)]


def _trim(text: str) -> str:
    text = text.strip()
    if text.endswith(("and", "or")):
        text = re.sub(r"\s+(?:and|or)$", "", text)
    return text.strip(" \t\n.,;，；。?？")


def _spoken(question: str) -> list[Part]:
    """Parts of sentences. Where something is asked, what only sets the scene is no part."""
    pieces = _sentences(question)
    asking = [piece for piece in pieces if _is_asking(piece)] or pieces[-1:]
    cut = [_trim(text) for piece in asking for text in _cut(piece)]
    return [Part(text) for text in cut if text]


def _sentences(question: str) -> list[str]:
    """Its sentences; the point of `Mr. Smith` or `Roe v. Wade` ends none."""
    pieces: list[str] = []
    begin = 0
    for found in _SENTENCE.finditer(question):
        end = found.end()
        point = question[end - 1 : end + 1] == ". "
        if point and not full_stop(question, begin, end - 1, end):
            continue
        if piece := question[begin:end].strip():
            pieces.append(piece)
        begin = end
    return pieces


def _is_asking(piece: str) -> bool:
    if piece.endswith(("?", "？")) or _ASKS.match(piece) or _told(piece):
        return True
    return not piece.isascii() and chinese.is_asking(piece)


def _told(piece: str) -> re.Match[str] | None:
    """Where somebody is told to tell something."""
    return None if _TELLS.isdisjoint(_words(piece)) else _TELL.search(piece)


def _words(piece: str) -> list[str]:
    """Its English words: most patterns need one of a few, which is soon looked up."""
    return _WORD.findall(piece.lower())


def _cut(piece: str) -> list[str]:
    piece = piece.strip().rstrip("?？.。!！ ")
    han = not piece.isascii() and re.search("[\u4e00-\u9fff]", piece) is not None
    asked = chinese.cut(piece) if han else _cut_plain(piece)
    if len(asked) > 1:
        # `Give me the pros and cons of X and tell me which to buy`: the first lists two.
        listed = [] if han or not _TELL.match(asked[0]) else _listed(asked[0])
        return [*listed, *asked[1:]] if len(listed) > 1 else asked
    listed = chinese.listed(piece) if han else _listed(piece)
    return listed if len(listed) > 1 else [piece]


def _cut_plain(piece: str) -> list[str]:
    joined = "," in piece or ";" in piece or "and" in piece.lower()
    return _NEXT.split(piece) if joined else [piece]


def _listed(piece: str) -> list[str]:
    """The items of `describe the A, B and C of X`, `compare X and Y on A and B`."""
    words = frozenset(_words(piece))
    tell = None if _TELLS.isdisjoint(words) else _TELL.search(piece)
    thing = piece[tell.end() :] if tell else piece
    verb = tell[1].lower() if tell else ""
    if verb in ("compare", "contrast", "evaluate", "assess", "review") and (
        on := _ON.search(thing)
    ):
        return _items(re.sub(r"(?i)(?<=[, ])(?:on|by|for) ", "", thing[on.end() :]))
    named = ":" in thing or not _WITHS.isdisjoint(words)
    if named and (with_ := _WITH.search(thing)):
        return _items(thing[with_.end() :])
    head, _, tail = thing.partition(" of ")
    if tail and (" and " in head or "," in head):
        return _items(head)
    if "'s " in thing or "’s " in thing:
        return _items(re.split("['’]s ", thing, maxsplit=1)[1])
    if verb in ("compare", "contrast") or (verb and "," in thing):
        return _items(thing)
    pairs = None if _SECONDS.isdisjoint(words) else _PAIRS.search(thing)
    return _items(pairs[0]) if pairs else []


def _items(text: str) -> list[str]:
    items = [
        re.sub(
            r"(?i)^(?:what are |what is )?(?:the|its|their|an?|both|his|her|on|with|between) ",
            "",
            item,
        )
        for item in _AND.split(text)
    ]
    kept = [item.strip() for item in items if item and item.strip()]
    return kept if all(len(item.split()) <= 9 for item in kept) else []
