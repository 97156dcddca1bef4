"""Fenced blocks of code, as CommonMark sees them."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

#: Characters that are looked at: markdown is read in linear time, but slowly.
_LONGEST = 400_000


class Block(NamedTuple):
    """A fenced block: its language, its text, and the lines from its fence to behind its end."""

    language: str
    text: str
    first: int
    last: int


def has_code_block(output: str) -> bool:
    """Whether there is a fenced block, closed or not, in a list or a quotation too."""
    return may_have_blocks(output) and bool(blocks(output))


def may_have_blocks(output: str) -> bool:
    return "```" in output or "~~~" in output


def blocks(output: str) -> list[Block]:
    """The fenced blocks in order."""
    return list(_blocks(output[:_LONGEST])) if may_have_blocks(output) else []


def outside(output: str) -> str:
    """The output without its fenced blocks."""
    inside = {number for block in blocks(output) for number in range(block.first, block.last)}
    if not inside:
        return output
    lines = output.splitlines()
    return "\n".join(line for number, line in enumerate(lines) if number not in inside)


@lru_cache(maxsize=64)  # several detectors read the same output, one after the other
def _blocks(output: str) -> tuple[Block, ...]:
    found = []
    for token in _markdown().parse(output):
        if token.type == "fence" and token.map is not None:
            words = token.info.strip().split(None, 1)
            language = words[0].strip("{}.").lower() if words else ""
            found.append(Block(language, token.content, token.map[0], token.map[1]))
    return tuple(found)


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark")
    reader.core.ruler.enableOnly(["normalize", "block"])
    return reader
