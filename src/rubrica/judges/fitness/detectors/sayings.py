"""What an output says, sentence by sentence, outside of its code."""

import re
from typing import NamedTuple

from rubrica.judges.fitness.detectors.blocks import blocks
from rubrica.judges.text.sentences import sentences

_MARK = re.compile(r"^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+•]\s+|\[[ x]\]\s*)*")
_NUMBER = re.compile(r"^\s*\d{1,3}[.)、]\s*")
_TITLE = re.compile(r"^\s*(?:#{1,6}\s|\*\*[^*\n]+\*\*[:：]?\s*$)")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\[[ x]\])\s")
_CODE = re.compile(r"`[^`\n]*`")
_QUOTE = re.compile(r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|「[^」\n]{1,200}」")
_FIGURE = re.compile(r"\d[\d.,]*%?[.。]\s+(?=\D)")
#: Characters and sentences that are read: what comes later hardly changes what the text does.
_LONGEST = 40_000
_MOST = 1_000


class Saying(NamedTuple):
    """A sentence: `text` as it stands, `bare` with its code and quotations taken out."""

    text: str
    bare: str
    title: bool
    item: bool
    after_code: bool

    @property
    def question(self) -> bool:
        return self.text.rstrip("\"'”*) 」").endswith(("?", "？"))


def sayings(output: str) -> list[Saying]:
    """The sentences of the prose, with what is known of the line that each stands on."""
    output = output[:_LONGEST]
    fences = blocks(output)
    found: list[Saying] = []
    inside = {n for block in fences for n in range(block.first, block.last)}
    seen = False
    lines = output.splitlines()
    numbered = sum(1 for line in lines if _NUMBER.match(line)) > 1  # "36." alone is an answer
    for number, line in enumerate(lines):
        if number in inside:
            seen = True
            continue
        if not line.strip() or line.startswith(("    ", "\t")):
            continue
        if numbered and _NUMBER.match(line):
            line = "- " + _NUMBER.sub("", line, count=1)
        title, item = bool(_TITLE.match(line)), bool(_ITEM.match(line))
        text = _MARK.sub("", line, count=1).replace("**", "").strip()
        figure = _FIGURE.match(text)
        if figure and not numbered:  # "201. Feel free to ask": the answer is a sentence
            found.append(Saying(figure.group(), figure.group(), title, item, seen))
            text = text[figure.end() :]
        for sentence in sentences(text)[:_MOST]:
            bare = _QUOTE.sub("_", _CODE.sub("`", sentence.text))
            found.append(Saying(sentence.text, bare, title, item, seen))
        if len(found) > _MOST:
            break
    return found
