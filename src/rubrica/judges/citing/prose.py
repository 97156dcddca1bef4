"""The part of an output that is prose: code, images, comments and task boxes cite nothing."""

import re
from functools import lru_cache

from rubrica.judges.visible import shown

#: Outputs that are remembered: two judges read each of them, one after the other.
SHARED = 8

_CODE = re.compile(r"(?m)^[ \t]{0,3}(```|~~~)[^\n]*(?:\n|\Z)|(`+)(?=[^`\n])")
_NO_CITATION = re.compile(
    r"!\[[^\[\]\n]{0,300}\]\([^()\n]{0,2000}\)"  # an image
    r"|(?m:^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[ xX✓√]?\](?=\s))"  # a task box
)
_BOX = re.compile(r"\[[ xX✓√]?\]")


def blank(text: str, start: int, end: int) -> str:
    """As many characters, of which only the line breaks are left."""
    piece = text[start:end]
    if "\n" not in piece:
        return " " * len(piece)
    return "\n".join(" " * len(line) for line in piece.split("\n"))


@lru_cache(maxsize=SHARED)
def prose(text: str) -> str:
    """The text with code, images and what is not shown blanked out; offsets stay what they are."""
    text = shown(text)
    if "`" in text or "~~~" in text:
        text = _without_code(text)
    if "![" in text or _BOX.search(text):
        text = _NO_CITATION.sub(lambda found: " " * len(found[0]), text)
    return text


def _without_code(text: str) -> str:
    """An open fence hides the rest of the text, as it does where markdown is shown."""
    pieces: list[str] = []
    at = 0
    while found := _CODE.search(text, at):
        fence, ticks = found[1], found[2]
        if fence:
            close = text.find(f"\n{fence}", found.end() - 1)
            end = len(text) if close < 0 else close + 4
        else:
            line = text.find("\n", found.end())
            close = text.find(ticks, found.end(), len(text) if line < 0 else line)
            end = found.end() if close < 0 else close + len(ticks)
        pieces += (text[at : found.start()], blank(text, found.start(), end))
        at = end
    return "".join(pieces) + text[at:] if pieces else text
