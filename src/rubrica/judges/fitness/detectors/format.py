"""Whether an output keeps the form that its request asks for, and does not break off.

Read are requests for JSON, a table, a list and the number of its items, amounts of
words, sentences, paragraphs or lines, code, yes or no, English or Chinese. A demand that is not
among these is not seen and counts as kept.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rubrica.judges.fitness.detectors.answer import WORD
from rubrica.judges.fitness.detectors.markdown import READ, Document, read_markdown
from rubrica.judges.fitness.detectors.syntax import NotJudged, parse_data
from rubrica.judges.reader.text import read_text

#: Characters of a request that are read.
REQUEST = 4_000

_NUMBERS = {
    name: value
    for names in (
        "one two three four five six seven eight nine ten",
        "一 二 三 四 五 六 七 八 九 十",
    )
    for value, name in enumerate(names.split(), 1)
} | {"single": 1, "两": 2}
_N = r"\d{1,5}|" + "|".join(_NUMBERS)
_QUOTED = re.compile(r"\"[^\"\n]{0,80}\"|“[^”\n]{0,80}”|`[^`\n]{0,80}`|「[^」\n]{0,80}」")
_ONLY = re.compile(r"(?i)\b(?:only|just|nothing (?:else|but)|no other text)\b|[只仅]")
#: A question about a format, or a request for a program that writes it.
_ABOUT = re.compile(
    r"(?i)^(?:how|what|why|when|which|explain)\b|\b(?:function|script|program|code|endpoint|api"
    r"|class|database|sql)\b|函数|脚本|程序|如何|怎么|数据库"
)
_JSON = re.compile(
    r"(?i)(?:\b(?:as|in|into|to|only|valid|return|output|with)\s(?:(?:an?|the|raw|only|valid|single)"
    r"\s){0,3}|(?:输出|返回|写成|给出|转换?[为成]|[用以])\s?)json(?![a-z])"
)
_TABLE = re.compile(
    r"(?i)\b(?:as|in|into|make|create|draw|use|give|present|output|format)\b[^.?!\n]{0,40}\btable\b"
    r"|表格"
)
_LIST = re.compile(r"(?i)\bbullet(?:s|ed|[- ]?points?)\b|\b(numbered list)\b|项目符号|(编号)")
_CODE = re.compile(r"(?i)\b(?:code|fenced)[- ](?:block|fence)\b|代码块")
_ONLY_CODE = re.compile(
    r"(?i)\b(?:only|just) (?:the )?code\b|\bcode only\b|只(?:给|要|输出|写)?代码"
)
_YES_OR_NO = re.compile(r"(?i)\byes or no\b|是或否|是还是否")
_LANGUAGE = re.compile(
    r"(?i)\b(?:answer|reply|respond|write|explain|translate|summari[sz]e|describe)\b[^.?!\n]{0,60}"
    r"\b(?:in|into|to) (english|chinese)\b|(?:用|以|译成|译为)\s?(?:简体)?(中文|英文|英语|汉语)"
)
_MOST = "at most|no more than|up to|maximum|within|under|fewer than|less than|不超过|最多|以内|之内"
_LEAST = "at least|no fewer than|no less than|minimum|more than|over|至少|不少于|以上"
_NEARLY = "about|around|approximately|roughly|大约|约|左右"
_BOUND = f"{_MOST}|{_LEAST}|{_NEARLY}"
#: "at most 20 words", "in one word", "three-sentence", "3 bullet points".
_AMOUNT = re.compile(
    rf"(?i)(?:\b(?P<bound>{_BOUND}|exactly|in|only|just|with|write) (?:of )?(?:a )?"
    rf"|\b(?=(?:{_N})(?:-| bullet)))(?P<n>{_N})(?:(?: to |-|–)(?P<m>{_N}))?[ -]"
    r"(?P<unit>word|sentence|paragraph|line|bullet)(?P<after>)"
)
#: "用三句话", "50字以内"; "三行代码" asks for nothing.
_AMOUNT_ZH = re.compile(
    rf"(?P<bound>{_BOUND}|[用写分])?(?P<n>{_N})(?P<m>)个?(?P<unit>字|句话|段|行)"
    rf"(?(bound)|(?P<after>{_BOUND}))"
)
_ITEMS = re.compile(
    rf"(?i)\b(?:list(?: of)?|name|give(?: me)?|suggest) (?:exactly |only )?({_N}) (?!(?:word|line"
    rf"|sentence|paragraph|bullet)s?\b)[^\W\d_]|列出(?:恰好)?({_N})[个种条项]"
)
_UNITS = {"字": "word", "句话": "sentence", "段": "paragraph", "行": "line"}
_LETTER = re.compile(r"[^\W\d_]")


class Form(NamedTuple):
    """`kept` is None where the request names no form; `reason` says what was asked."""

    kept: bool | None
    reason: str


def follows_format(output: str, request: str = "") -> bool:
    """Whether the form that the request names is kept, and the output is not cut off."""
    return form(output, request).kept is not False


def form(output: str, request: str = "") -> Form:
    """Say which demand on the form is broken, if any."""
    text = output[:READ].strip()
    if not text:
        return Form(False, "the output is empty")
    if text.endswith((",", "，", "...", "…", "(", "[", "{")) and len(output) <= READ:
        return Form(False, "the output breaks off")
    if sum(line.lstrip().startswith("```") for line in text.split("\n")) % 2:
        return Form(False, "a fenced block is not closed")
    names = []
    for name, is_kept in _check_demands(_QUOTED.sub(" _ ", request.lstrip()[:REQUEST]), output):
        if not is_kept:
            return Form(False, f"asked for: {name}")
        names.append(name)
    return Form(True, "; ".join(names)) if names else Form(None, "the request names no form")


def _check_demands(request: str, output: str) -> Iterator[tuple[str, bool]]:
    """What the request asks of the form, and whether the output has it."""
    document = read_markdown(output)
    letters = _LETTER.findall(document.prose)
    only = _ONLY.search(request) is not None
    about = _ABOUT.search(request) is not None
    if not about and _JSON.search(request):
        yield "JSON", _is_json(only, output)
    if not about and _TABLE.search(request):
        yield "a table", document.tables > 0
    if hit := _LIST.search(request):
        yield hit[0], bool(document.numbers if hit[1] or hit[2] else document.lists)
    if hit := _ITEMS.search(request):  # what is no list cannot be counted and passes
        n = _read_number(hit[1] or hit[2])
        yield hit[0], document.bullets + document.numbers in (0, 1, n)
    if hit := _ONLY_CODE.search(request):
        yield hit[0], not (document.fences and letters)
    elif hit := _CODE.search(request):
        yield hit[0], bool(document.fences)
    if hit := _YES_OR_NO.search(request):
        yield hit[0], _is_yes_or_no(only, output)
    if hit := _LANGUAGE.search(request):
        name = hit[1] or hit[2]
        chinese = sum("\u3400" <= letter <= "\u9fff" for letter in letters) > 0.25 * len(letters)
        yield name, chinese is (name.lower() in ("chinese", "中文", "汉语"))
    for hit in [*_AMOUNT.finditer(request), *_AMOUNT_ZH.finditer(request)]:
        unit = _UNITS.get(hit["unit"], hit["unit"].lower())
        low, high = _read_bounds(hit, unit)
        yield hit[0].strip(), low <= _count(unit, document) <= high


def _read_bounds(hit: re.Match[str], unit: str) -> tuple[int, int]:
    bound = (hit["bound"] or hit["after"] or "").lower()
    low, high = _read_number(hit["n"]), _read_number(hit["m"] or hit["n"])
    if bound in _MOST.split("|"):
        return 0, high
    if bound in _LEAST.split("|"):
        return low, READ
    if bound in _NEARLY.split("|") or (unit == "word" and high >= 30):
        return round(low * 0.75), round(high * 1.25)
    return low, high


def _read_number(text: str) -> int:
    return _NUMBERS.get(text.lower()) or int(text)


def _count(unit: str, document: Document) -> int:
    prose = document.prose.strip()
    if unit == "word":
        return len(WORD.findall(prose))
    if unit == "sentence":
        return len(read_text(prose).sentences)
    if unit == "bullet":
        return document.bullets or document.numbers
    pieces = prose.split("\n\n" if unit == "paragraph" else "\n")
    return sum(bool(piece.strip()) for piece in pieces)


def _is_json(only: bool, output: str) -> bool:
    """Whether the output, or a block of it, is JSON; "only" allows nothing around it."""
    fences = () if only else read_markdown(output).fences
    for text in (output[:READ], *(code for name, code in fences if name in ("", "json"))):
        try:
            if isinstance(parse_data("json", text), dict | list):
                return True
        except NotJudged:
            return True
        except ValueError:
            continue
    return False


def _is_yes_or_no(only: bool, output: str) -> bool:
    text = output[:READ].strip(" \t\n.。!！\"'*`").lower()
    begins = re.match(r"(?:yes|no)\b|[是否不]", text)
    return begins is not None and (begins.end() == len(text) or not only)
