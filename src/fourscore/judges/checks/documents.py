"""The document in an answer: the whole answer, or one of its fenced blocks."""

from typing import Literal

from fourscore.core import Trace
from fourscore.judges.checks.check import read_answer

#: Most characters that are parsed; a longer document fails.
MAX_DOCUMENT = 1_000_000
#: Where the document is looked for.
Found = Literal["whole", "fenced", "any"]


class DocumentError(ValueError):
    """The answer is not a document of the expected kind; the text says why."""


def read_document(trace: Trace, kind: str, find: Found, most: int = MAX_DOCUMENT) -> str:
    """Return the document in the answer: the whole answer, or its last fenced block.

    `any` takes the last fenced block where there is one, else the whole answer. One of more than
    `most` characters is refused.
    """
    answer = read_answer(trace)
    block = None if find == "whole" else find_last_fence(answer[-2 * MAX_DOCUMENT :], kind)
    if block is None and find == "fenced":
        raise DocumentError("the answer has no fenced block")
    document = answer if block is None else block
    if len(document) > most:
        raise DocumentError(f"the document is longer than {most:,} characters")
    if not document:
        raise DocumentError("the answer is empty")
    return document


def find_last_fence(text: str, kind: str) -> str | None:
    """Return the last fenced block, one named `kind` first; None if there is none."""
    last: dict[bool, str] = {}
    fence, named, lines = "", "", list[str]()
    for line in text.splitlines():
        stripped = line.strip()
        if not fence:
            mark = stripped[:3]
            if mark in ("```", "~~~"):
                fence, named, lines = mark, stripped.lstrip(mark[0]).strip().lower(), []
        elif stripped.startswith(fence) and not stripped.strip(fence[0]):
            last[named.startswith(kind)] = "\n".join(lines).strip()
            fence = ""
        else:
            lines.append(line)
    return last.get(True, last.get(False))
