"""Names that go on with a number: Boeing 747 is another than Boeing 777."""

import re

from rubrica.judges.text.reading import Reading

_NUMBERED = re.compile(r"\b([A-Z][A-Za-z]+)[ -](\d{1,4})(?![\d%:/-]|[.,]\d)\b")


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
        at = name.start(2)
        if not any(amount.start <= at < amount.end for amount in reading.quantities):
            found.setdefault(name[1].lower(), set()).add(name[2])
    return found
