"""Fenced blocks with their lines, for `failures.py`; see `markdown.py` for all else."""

from typing import NamedTuple

from rubrica.judges.fitness.detectors.markdown import READ, _parser


class Block(NamedTuple):
    """A fenced block: the lines from its fence to behind its end."""

    first: int
    last: int


def may_have_blocks(output: str) -> bool:
    return "```" in output or "~~~" in output


def blocks(output: str) -> list[Block]:
    """The fenced blocks in order."""
    if not may_have_blocks(output):
        return []
    found = _parser().parse(output[:READ])
    return [Block(*token.map) for token in found if token.type == "fence" and token.map]


def outside(output: str) -> str:
    """The output without its fenced blocks."""
    inside = {number for block in blocks(output) for number in range(block.first, block.last)}
    lines = enumerate(output.splitlines())
    return "\n".join(line for number, line in lines if number not in inside)
