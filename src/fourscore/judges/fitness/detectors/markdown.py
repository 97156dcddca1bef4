"""Parse the markdown of an output: fenced blocks, headers, list items, tables."""

from collections import Counter
from functools import cache, lru_cache
from typing import Any

import msgspec

#: Number of characters of an output that are parsed; enough to see its form.
READ = 50_000


class MarkdownDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The blocks of an output.

    `fences`: the language (in lower case) and the code of each fenced block. `prose`: all text
    outside of fences. `items`: the number of items in outermost lists; `numbers`: in numbered ones.
    """

    fences: tuple[tuple[str, str], ...]
    prose: str
    headers: int
    items: int
    numbers: int
    tables: int


def has_code_block(output: str) -> bool:
    """Whether the output has a fenced block, also an unclosed one or one in a list or quotation."""
    return ("```" in output or "~~~" in output) and bool(read_markdown(output).fences)


def read_markdown(output: str) -> MarkdownDocument:
    """Parse the first `READ` characters of an output."""
    return _read(output[:READ])


@lru_cache(maxsize=16)  # several detectors read the same output in turn
def _read(text: str) -> MarkdownDocument:
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as the parser counts lines
    fences, lines = [], text.split("\n")
    counts: Counter[str] = Counter()
    for token in _parser().parse(text):
        counts[token.type] += 1
        if token.type == "fence" and token.map is not None:
            name = (token.info.split() or [""])[0].strip("{}.").lower()
            fences.append((name, token.content))
            first, end = token.map
            lines[first:end] = [""] * (end - first)
        elif token.type == "list_item_open" and token.level == 1:
            counts["item"] += 1
            counts["number"] += token.info != ""
    return MarkdownDocument(
        fences=tuple(fences),
        prose="\n".join(lines),
        headers=counts["heading_open"],
        items=counts["item"],
        numbers=counts["number"],
        tables=counts["table_open"],
    )


@cache
def _parser() -> Any:
    """Return a parser of blocks only: parsing inside of lines is not needed, and slowest."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser
