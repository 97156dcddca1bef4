"""Names that go on with a number: Boeing 747 is another than Boeing 777, an A100 than an A10."""

import re

from rubrica.judges.text.lists import words_of
from rubrica.judges.text.reading import Reading

_NUMBERED = re.compile(
    r"(?<![A-Za-z])([a-z]?[A-Z][A-Za-z]+)[ -]([A-Z]{0,4}-?\d{1,4}[A-Za-z]{0,2})"
    r"(?![\dA-Za-z%:/-]|[.,]\d)"
)


def renumbered(claim: Reading, sentence: Reading) -> bool:
    """Whether a sentence has a name of the claim only with other numbers."""
    mine = numbered(claim)
    if not mine:
        return False
    theirs = numbered(sentence)
    return any(numbers.isdisjoint(theirs.get(name, numbers)) for name, numbers in mine.items())


def numbered(reading: Reading) -> dict[str, set[str]]:
    """The numbers of each name; what is read as a quantity is none."""
    found: dict[str, set[str]] = {}
    for name in _NUMBERED.finditer(reading.text):
        at, word = name.start(2), name[1].lower()
        if word in words_of("stop.txt"):
            continue
        if not any(amount.start <= at < amount.end for amount in reading.quantities):
            found.setdefault(word, set()).add(name[2])
    return found
