"""Whether what a tool gave back is an error. The one place where such patterns stand.

A first version: lines that begin as errors do, and the marks that structured results bear. Every
expression is anchored at the start of a line and bounded, so the time is linear in the text; few
texts hold one of the stems, and the others are not searched at all.
"""

import re
from collections.abc import Mapping
from typing import Any

#: Characters of an output that are looked at: its beginning and its end, where errors stand.
HEAD, TAIL = 8000, 8000

#: Without one of these no pattern below can match.
_STEMS = (
    "rror",
    "RROR",
    "raceback",
    "xception",
    "atal",
    "anic",
    "not found",
    "o such file",
    "ermission denied",
    "egmentation",
    "npm ERR",
)
_ERROR = re.compile(
    r"^[ \t]{0,8}(?:<tool_use_error>"
    r"|Traceback \(most recent call last\)"
    r"|[\w.$]{0,80}(?:Error|Exception)(?:\[\w{1,20}\])?[ ]?[:(]"
    r"|(?:fatal|error|ERROR|FATAL|panic)(?:\[\w{1,20}\])?:"
    r"|thread '[^'\n]{1,80}' panicked|Exception in thread|npm ERR!"
    r"|(?:An )?[Ee]rror (?:executing|calling|occurred|while)\b"
    r"|(?:bash|sh|zsh|ls|cat|cp|mv|rm|cd|find|grep|python3?): [^\n]{0,200}"
    r"(?:not found|[Nn]o such file|[Pp]ermission denied)"
    r"|Segmentation fault)",
    re.MULTILINE,
)
_TEXTS = ("stderr", "stdout", "output", "content", "message")
_MARKED = ("is_error", "isError", "interrupted")


def error_in(output: Any) -> str | None:
    """The line with the error, or None where there is none."""
    if output is None:
        return None
    if isinstance(output, str):
        return _in_text(output)
    if isinstance(output, Mapping):
        return _in_fields(output)
    if isinstance(output, list | tuple):
        parts = (part.get("text") for part in output[:50] if isinstance(part, Mapping))
        found = (_in_text(text) for text in parts if isinstance(text, str))
        return next((line for line in found if line), None)
    return None


def _in_text(text: str) -> str | None:
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    for stem in _STEMS:
        if stem in text:
            break
    else:
        return None
    found = _ERROR.search(text)
    if found is None:
        return None
    end = text.find("\n", found.end())
    return text[found.start() : end if end >= 0 else len(text)].strip()[:200]


def _in_fields(fields: Mapping[str, Any]) -> str | None:
    said = fields.get("error")
    if said and said != "none":
        return said[:200] if isinstance(said, str) else "the result has an error"
    for mark in _MARKED:
        if fields.get(mark) is True:
            return f"the result says {mark}"
    for mark in ("success", "ok"):
        if fields.get(mark) is False:
            return f"the result says that {mark} is false"
    texts = (fields.get(key) for key in _TEXTS)
    found = (_in_text(text) for text in texts if isinstance(text, str))
    return next((line for line in found if line), None)
