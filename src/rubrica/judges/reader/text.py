"""Sentences and words of a text, in English and Chinese, read once and kept for every judge."""

import re
from typing import NamedTuple

_WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")
_END = re.compile(r"[.!?](?=\s)|[。！？\n]")


class Sentence(NamedTuple):
    """A sentence and its place in the text."""

    text: str
    start: int
    end: int


class Text(NamedTuple):
    """A text that was read: `raw` as it stands, and its sentences."""

    raw: str
    sentences: tuple[Sentence, ...]


def read_text(raw: str) -> Text:
    """Split a text into sentences."""
    found, start = [], 0
    for end in [*(one.end() for one in _END.finditer(raw)), len(raw)]:
        piece = raw[start:end]
        if piece.strip():
            at = start + len(piece) - len(piece.lstrip())
            found.append(Sentence(piece.strip(), at, at + len(piece.strip())))
        start = end
    return Text(raw, tuple(found))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case; of Chinese, its characters."""
    return _WORD.findall(text.lower())
