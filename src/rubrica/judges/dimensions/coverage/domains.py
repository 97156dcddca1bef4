"""Which fields of life a text is about: a coarse view for answers that share no word with it."""

from collections import Counter
from collections.abc import Mapping
from functools import cache

from rubrica.judges.dimensions.coverage.concepts import table
from rubrica.judges.dimensions.coverage.scanning import HAN, Scanner, key_of, keys_in

#: What a word of a field counts, and a single Chinese character, often part of another word.
_WORD, _CHARACTER = 2, 1
#: How much shows that an answer is about a field, and that a question is.
_SAME, _OTHER, _ASKED = 2, 4, 4


@cache
def _fields() -> tuple[Scanner, Mapping[str, tuple[str, ...]]]:
    """A scanner of all words, and the fields of each."""
    fields: dict[str, tuple[str, ...]] = {}
    for name, words in table("domains.toml").items():
        for word in {key_of(word) for word in words.split(",")}:
            fields[word] = (*fields.get(word, ()), name)
    return Scanner(fields), fields


def words_by_field(text: str) -> Counter[str]:
    """How much a text says of each field."""
    scanner, fields = _fields()
    lower = text.lower()
    found = Counter[str]()
    for word in scanner.find(lower, keys_in(lower)):
        weight = _CHARACTER if len(word) == 1 and HAN.match(word) else _WORD
        for name in fields[word]:
            found[name] += weight
    return found


def asked_fields(question: str, aspects: str) -> Counter[str]:
    """The fields that are asked about; a word of the question counts as two of the aspects."""
    asked = words_by_field(question)
    return asked + asked + words_by_field(aspects)


def is_same_field(asked: Counter[str], said: Counter[str]) -> bool:
    """Whether an answer is mostly about a field that was asked about."""
    most = max(said.values(), default=0)
    return any(
        count >= _ASKED and said[name] >= _SAME and 2 * said[name] > most
        for name, count in asked.items()
    )


def is_other_field(asked: Counter[str], said: Counter[str]) -> bool:
    """Whether it is clear what was asked about, and that the answer is about something else."""
    most = max(asked.values(), default=0)
    if most < _ASKED or max(said.values(), default=0) < _OTHER:
        return False
    return not any(said[name] for name, count in asked.items() if 2 * count > most)


def shares_field(asked: Counter[str], text: str) -> bool:
    """Whether a text has a word of a field that was plainly asked about."""
    said = words_by_field(text)
    return any(said[name] >= _WORD for name, count in asked.items() if count >= _ASKED)
