"""How many words, sentences, lines or items a request wants, and how many a text has."""

import re
from functools import cache
from typing import NamedTuple

from rubrica.judges.fitness.detectors.lists import sections
from rubrica.judges.text.sentences import sentences

BULLET = re.compile(r"^ {0,3}(?:[-*+•▪‣·–—]|\[[ x]\])\s+\S", re.MULTILINE)
NUMBERED = re.compile(
    r"^ {0,3}(?:\d{1,3}[.)、．）:：]\s*\S|[(（]\d{1,3}[)）]\s*\S"
    r"|[一二三四五六七八九十]{1,3}、\s*\S|[①-⑳])",
    re.MULTILINE,
)
EMOJI = re.compile(
    "[\U0001f300-\U0001faff\U00002600-\U000027bf\U0001f1e6-\U0001f1ff\u2b50\u2b55\u231a\u231b]"
)
_WORD = re.compile(r"[^\W_]+(?:['’.\-/][^\W_]+)*")
_SIGN = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff_]+")
_POEM = re.compile(r"行诗|câu thơ|dòng thơ")
_UNITS = ("words", "characters", "signs", "sentences", "lines", "paragraphs", "bullets", "rows",
          "columns", "emojis")  # fmt: skip
_BEFORE = ("at_most", "below", "at_least", "above", "about", "exactly")


class Amount(NamedTuple):
    """A wanted number of a unit: both ends count."""

    unit: str
    low: int
    high: int
    asked: str

    def holds(self, count: int) -> bool:
        return self.low <= count <= self.high


@cache
def _numbers() -> dict[str, int]:
    found: dict[str, int] = {}
    for line in sections("amounts")["numbers"]:
        value, _, words = line.partition(":")
        found.update(dict.fromkeys((w.replace("_", " ") for w in words.split()), int(value)))
    return found


@cache
def number_pattern() -> str:
    """A number in digits or words, as text of an expression."""
    words = sorted(_numbers(), key=len, reverse=True)
    plain = [w for w in words if w.isascii() or w[0] < "\u3400"]
    signs = [w for w in words if w not in plain]
    return r"(?:\d{1,5}|(?:" + "|".join(plain) + r")(?![^\W_])|" + "|".join(signs) + ")"


def number_of(text: str) -> int:
    text = text.lower()
    return int(text) if text.isdecimal() else _numbers()[text]


@cache
def _asked() -> re.Pattern[str]:
    def either(*names: str) -> str:
        return "|".join(line for name in names for line in sections("amounts")[name])

    before = "|".join(f"(?P<{name}>{either(name)})" for name in _BEFORE)
    units = "|".join(f"(?P<{name}>{either(name)})" for name in _UNITS)
    n = number_pattern()
    return re.compile(
        rf"(?<![a-zA-Z0-9À-ỹ])(?<!第)(?:(?:{before})\s*(?:a |the )?)?(?:between |từ |in )?"
        rf"(?<![\d.])(?P<n>{n})(?:\s*(?:-|–|to|and|到|至|~|đến)\s*(?P<m>{n}))?"
        rf"(?P<short> (?:or (?:fewer|less)|max(?:imum)?))?(?:{units})"
        rf"\s*(?:(?P<or_less>{either('or_less')})|(?P<or_more>{either('or_more')})"
        rf"|(?P<roughly>{either('roughly')}))?",
        re.IGNORECASE,
    )


def amounts(request: str) -> list[Amount]:
    """The amounts that a request names."""
    found = []
    for hit in _asked().finditer(request):
        unit = next(name for name in _UNITS if hit.group(name))
        n = number_of(hit.group("n"))
        low = high = n
        if hit.group("m"):
            high = max(n, number_of(hit.group("m")))
        elif hit.group("at_most") or hit.group("or_less") or hit.group("short"):
            low = 0
        elif hit.group("below"):
            low, high = 0, n - 1
        elif hit.group("at_least") or hit.group("or_more"):
            high = 10**9
        elif hit.group("above"):
            low, high = n + 1, 10**9
        elif hit.group("about") or hit.group("roughly"):
            low, high = round(n * 0.75), round(n * 1.25 + 0.5)
        elif not hit.group("exactly") and _idle(unit, hit.group(), request):
            continue
        elif unit == "signs" and n > 20:
            low, high = 0, round(n * 1.1)
        elif unit == "words" and n >= 30:
            low, high = round(n * 0.8), round(n * 1.2)
        found.append(Amount(unit, low, high, hit.group().strip()))
    return found


def _idle(unit: str, asked: str, request: str) -> bool:
    """Whether a bare number asks for nothing: "the 3 lines above", "the top three words"."""
    if unit in ("lines", "rows", "characters", "columns"):
        return "-" not in asked and not _POEM.search(request)
    return unit == "words" and not asked.isascii()


def count(unit: str, text: str) -> int:
    """How many of a unit a text has."""
    text = text.strip()
    if unit == "words":
        return len((_SIGN if _mostly_signs(text) else _WORD).findall(text))
    if unit == "signs":
        return len(_SIGN.findall(text))
    if unit == "characters":
        return len(text)
    if unit == "sentences":
        return sum(1 for s in sentences(text) if not s.text.endswith("；"))
    if unit == "lines":
        return sum(1 for line in text.splitlines() if line.strip())
    if unit == "paragraphs":
        pieces = re.split(r"\n[ \t]*\n", text)
        return sum(1 for piece in pieces if piece.strip() and not piece.strip().startswith("#"))
    if unit == "bullets":
        return len(BULLET.findall(text)) or len(NUMBERED.findall(text))
    if unit == "emojis":
        return len(EMOJI.findall(text))
    rows = [line.strip().strip("|") for line in text.splitlines() if "|" in line]
    if unit == "columns":
        return rows[0].count("|") + 1 if rows else 0
    return max(0, len(rows) - 2)


def _mostly_signs(text: str) -> bool:
    return len(re.findall(r"[\u3400-\u9fff]", text)) * 2 > len(text)
