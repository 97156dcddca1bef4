"""The word lists in the folder beside this module: plain text, `#` begins a remark."""

from functools import cache
from pathlib import Path

_ROOM = Path(__file__).parent / "lexicon"


def lines_of(name: str) -> list[str]:
    """The lines of a list without remarks."""
    text = (_ROOM / name).read_text(encoding="utf-8")
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


@cache
def words_of(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(word for line in lines_of(name) for word in line.split())
