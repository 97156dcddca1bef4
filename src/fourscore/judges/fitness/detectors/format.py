"""Detect whether an output has the form that its request asks for, and is not cut off.

Known are requests for JSON, a table, a list, a block of code, and for numbers of words, sentences,
paragraphs or bullet points. Any other demand is not recognized and counts as met.
"""

import re
from collections.abc import Iterator
from contextlib import suppress

from fourscore.judges.fitness.detectors.markdown import READ, MarkdownDocument, read_markdown
from fourscore.judges.fitness.detectors.syntax import NotJudged, parse
from fourscore.judges.reader.numbers import find_numbers
from fourscore.judges.reader.text import read_text, split_words

_QUOTED = re.compile(r"\"[^\"\n]{0,80}\"|“[^”\n]{0,80}”|`[^`\n]{0,80}`|「[^」\n]{0,80}」")
#: A question about a format, or a request for a program that writes it.
_ABOUT = re.compile(
    r"(?i)^(?:how|what|why|when|which|explain)\b|\b(?:function|script|program|code|api|class"
    r"|database|sql)\b|函数|脚本|程序|如何|怎么|数据库"
)
_JSON = re.compile(
    r"(?i)\b(?:as|in|into|to|only|valid|return|output|with) (?:(?:an?|the|raw|only|valid) ){0,3}"
    r"json\b|(?:输出|返回|写成|给出|转换?[为成]|[用以]) ?json(?![a-z])"
)
_ONLY = re.compile(r"(?i)\b(?:only|just|nothing (?:else|but)|no other text)\b|[只仅]")
_TABLE = re.compile(r"(?i)\b(?:as|in|into|make|create|draw|use|give)\b[^.?!\n]{0,40}\btable\b|表格")
_LIST = re.compile(r"(?i)\bbullet(?:s|ed|[- ]?points?)\b|\b(numbered list)\b|项目符号|(编号)")
_CODE = re.compile(r"(?i)\b(?:code|fenced)[- ](?:block|fence)\b|代码块")
_N = r"[0-9]{1,5}|one|two|three|four|five|six|seven|eight|nine|ten|[一二两三四五六七八九十]"
_MOST = "at most|no more than|up to|within|under|less than|不超过|最多|以内"
_LEAST = "at least|no fewer than|no less than|more than|over|至少|不少于|以上"
#: "at most 20 words", "in one word"; "用三句话", "50字以内".
_AMOUNT = re.compile(
    rf"(?i)(?:(?<![a-z])(?P<bound>exactly|in|only|with|write|give|{_MOST}|{_LEAST}|[用写分]) ?)?"
    rf"(?P<n>{_N})[ 个]?(?P<unit>word|sentence|paragraph|bullet|字|句话|段)"
    rf"(?(bound)|(?P<after>{_MOST}|{_LEAST}))"
)


def follows_format(output: str, request: str = "") -> bool:
    """Whether the output has the form that the request asks for, and is not cut off."""
    return find_broken_form(output, request) is None


def find_broken_form(output: str, request: str = "") -> str | None:
    """Return what is wrong with the form of the output; None if nothing is."""
    text = output[:READ].strip()
    if not text:
        return "the output is empty"
    if text.endswith((",", "，", "...", "…", "(", "[", "{")) and len(output) <= READ:
        return "the output is cut off"
    if sum(line.lstrip().startswith("```") for line in text.split("\n")) % 2:
        return "a fenced block is not closed"
    demands = _check_demands(_QUOTED.sub(" _ ", request.lstrip()[:READ]), output)
    return next((f"asked for: {name}" for name, is_kept in demands if not is_kept), None)


def _check_demands(request: str, output: str) -> Iterator[tuple[str, bool]]:
    """Yield each form that the request asks for, and whether the output has it."""
    document = read_markdown(output)
    is_about = _ABOUT.search(request) is not None
    if not is_about and _JSON.search(request):
        yield "JSON", _is_json(output, () if _ONLY.search(request) else document.fences)
    if not is_about and _TABLE.search(request):
        yield "a table", document.tables > 0
    if hit := _LIST.search(request):
        yield hit[0], document.numbers > 0 if hit[1] or hit[2] else document.items > 0
    if hit := _CODE.search(request):
        yield hit[0], bool(document.fences)
    if hit := _AMOUNT.search(request):
        low, high = _read_bounds((hit["bound"] or hit["after"]).lower(), hit["n"].lower())
        yield hit[0], low <= _count(hit["unit"].lower(), document) <= high


def _read_bounds(bound: str, number: str) -> tuple[int, int]:
    n = int(find_numbers([number])[0])
    if bound in _MOST.split("|"):
        return 0, n
    slack = n // 4 if n > 10 else 0  # large numbers are meant roughly
    return (n, READ) if bound in _LEAST.split("|") else (n - slack, n + slack)


def _count(unit: str, document: MarkdownDocument) -> int:
    if unit in ("word", "字"):
        return len(split_words(document.prose))
    if unit in ("sentence", "句话"):
        return len(read_text(document.prose).sentences)
    if unit == "bullet":
        return document.items
    return sum(bool(piece.strip()) for piece in document.prose.split("\n\n"))


def _is_json(output: str, fences: tuple[tuple[str, str], ...]) -> bool:
    """Whether the output or one of its blocks is JSON, or too long to check."""
    for text in (output, *(code for name, code in fences if name in ("", "json"))):
        with suppress(ValueError, NotJudged):
            if len(text) > READ or isinstance(parse("json", text), dict | list):
                return True
    return False
